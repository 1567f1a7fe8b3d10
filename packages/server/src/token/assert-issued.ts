import { hasBegun, type Claims } from '@mcp-saga/seal';
import { SagaHostError } from '../wire/errors.ts';
import type { HostParts } from '../settings/host-parts.ts';

/**
 * Checks that a token was not issued in the future. Call it after every other check: only the bearer of a good token may
 * learn that the clock of this host is behind. Reports `not_yet_valid` to `onReject`.
 *
 * @throws SagaHostError `clock_behind`: the token stays good
 */
export function assertBegun(
  { timing: { clock }, observer: { reject } }: Pick<HostParts, 'timing' | 'observer'>,
  claims: Pick<Claims, 'born' | 'iat'>,
): void {
  if (hasBegun(claims, clock())) return;
  reject('not_yet_valid');
  throw new SagaHostError('clock_behind', 'The server cannot continue this call now. Send it again later.', {
    cause: new SagaHostError(
      'clock_behind',
      'The clock of this host is behind the clock of the host that issued the token. Synchronize both clocks.',
      { public: false },
    ),
  });
}
