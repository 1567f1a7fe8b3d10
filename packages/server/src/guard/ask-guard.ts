import { outline } from '../settings/default-log.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { Observer } from '../settings/host-parts.ts';

/**
 * Asks the guard. Where that fails, `onError` is told that it was the guard, with what it threw as `cause`: the error of
 * a client of Redis does not say so.
 *
 * @throws SagaHostError `guard_down` where it cannot be asked
 */
export async function askGuard<T>({ hooks }: Pick<Observer, 'hooks'>, ask: () => T | Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    hooks.onError(
      new SagaHostError('guard_down', `The guard cannot be asked: ${outline(error)}`, {
        cause: error,
        public: false,
      }),
    );
    throw new SagaHostError(
      'guard_down',
      'The server cannot go on with this call now. Send it again later.',
      { cause: error },
    );
  }
}
