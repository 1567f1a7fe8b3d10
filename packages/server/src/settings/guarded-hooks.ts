import type { DefaultLog } from './default-log.ts';
import { SagaHostError } from '../wire/errors.ts';
import { sleep } from './clock.ts';
import type { HostHooks } from '../model/hooks.ts';

const rejectionsPerSecond = 10;

/** Reports rejections, at most ten a second: an attacker shall not fill the logs. */
export function rejectionReporter(
  report: Required<HostHooks>['onReject'],
  clock: () => number,
): (reason: string) => void {
  let second = 0;
  let count = 0;
  let suppressed = 0;
  return (reason) => {
    const now = Math.floor(clock() / 1000);
    if (now !== second) {
      second = now;
      count = 0;
    }
    count += 1;
    if (count > rejectionsPerSecond) {
      suppressed += 1;
      return;
    }
    report({ reason, suppressed });
    suppressed = 0;
  };
}

/** Hooks that never fail a turn, since its effects have happened: their errors go to `onError`. `timeoutMs`: for awaited hooks. */
export function guardedHooks(hooks: HostHooks, log: DefaultLog, timeoutMs: number): Required<HostHooks> {
  const onError = (error: unknown): void =>
    quietly(() => (hooks.onError === undefined ? log.onError(error) : hooks.onError(error)));
  const told =
    (name: Exclude<keyof HostHooks, 'onSuspended' | 'onSettled'>) =>
    (fact: unknown): void =>
      quietly(() => {
        const teller: HostHooks = hooks[name] === undefined ? log : hooks;
        return teller[name]?.(fact as never);
      }, onError);
  return {
    onReject: told('onReject'),
    onIgnoredAnswer: told('onIgnoredAnswer'),
    onInstantRefusal: told('onInstantRefusal'),
    onStep: told('onStep'),
    onSuspended: (saga) => settled('onSuspended', () => hooks.onSuspended?.(saga), timeoutMs, onError),
    onSettled: (saga) => settled('onSettled', () => hooks.onSettled?.(saga), timeoutMs, onError),
    onTurn: told('onTurn'),
    onWarning: told('onWarning'),
    onError,
  };
}

/** Waits for a hook for at most `timeoutMs`. A later failure of the hook is reported as well. */
async function settled(
  name: string,
  call: () => unknown,
  timeoutMs: number,
  onError: (error: unknown) => void,
): Promise<void> {
  const ended = new AbortController();
  try {
    const result = call();
    // A synchronous hook needs no timer.
    if (typeof (Object(result) as { readonly then?: unknown }).then !== 'function') return;
    const work = Promise.resolve(result)
      .catch(onError)
      .then(() => true);
    // A real timer, because the host's `sleep` may follow a simulated clock.
    const inTime = await Promise.race([work, sleep(timeoutMs, ended.signal).then(() => false)]);
    if (!inTime) onError(hookTimeout(name, timeoutMs));
  } catch (error) {
    onError(error);
  } finally {
    ended.abort();
  }
}

function hookTimeout(name: string, timeoutMs: number): SagaHostError {
  return new SagaHostError(
    'hook_timeout',
    `hooks.${name} did not settle within ${timeoutMs} ms, and the request continued without it. Make the hook faster, ` +
      'or raise limits.hookTimeoutMs.',
    { public: false },
  );
}

/** Calls what is not to be relied upon; an asynchronous function that rejects is caught as well. */
export function quietly(call: () => unknown, onError: (error: unknown) => void = () => undefined): void {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(onError);
  } catch (error) {
    onError(error);
  }
}
