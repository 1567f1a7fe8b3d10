import { TokenRefused } from '@mcp-saga/seal';
import { SagaHostError } from './errors.ts';
import type { HostSettings } from './host-options.ts';

/**
 * Turns the refusal of a newer engine into a retryable error: a process with the newer release of this library can continue
 * the saga. The engine is checked last, so everything else about the token was right. Reports `engine` to `onReject`.
 *
 * @returns the error to throw: `version_gone`, or the given error for every other reason
 */
export function laterForNewerEngine({ reject }: Pick<HostSettings, 'reject'>, error: unknown): unknown {
  if (!(error instanceof TokenRefused) || error.reason !== 'engine') return error;
  reject('engine');
  return new SagaHostError('version_gone', 'The server cannot continue this call now. Send it again later.', {
    cause: new SagaHostError(
      'version_gone',
      'A newer release of this library sealed the token. Finish the deploy of that release.',
      { public: false },
    ),
  });
}
