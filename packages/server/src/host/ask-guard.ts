import { SagaHostError } from './errors.ts';
import type { HostSettings } from './host-options.ts';

/**
 * Asks the guard.
 *
 * @throws SagaHostError `guard_down` where it cannot be asked
 */
export async function askGuard<T>(
  { hooks }: Pick<HostSettings, 'hooks'>,
  ask: () => T | Promise<T>,
): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    hooks.onError(error);
    throw new SagaHostError(
      'guard_down',
      'The server cannot go on with this call now. Send it again later.',
      { cause: error },
    );
  }
}
