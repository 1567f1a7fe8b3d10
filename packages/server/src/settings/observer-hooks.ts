import type { DefaultLog } from './default-log.ts';
import { SagaHostError } from '../wire/errors.ts';
import { sleep } from './clock.ts';
import type { HostHooks } from '../model/hooks.ts';

const rejectionsPerSecond = 10;

/** Limits reports of rejections to ten a second, so that an attacker cannot fill the log. */
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

/**
 * Wraps hooks so that their errors go to `onError`, as effects of the turn have already happened.
 */
export function guardedHooks(
  hooks: HostHooks,
  log: DefaultLog,
  timeoutMs: number,
): Required<HostHooks> {
  const onError = (error: unknown): void =>
    quietly(() => (hooks.onError === undefined ? log.onError(error) : hooks.onError(error)));
  const reporter =
    (name: Exclude<keyof HostHooks, 'onSettled'>) =>
    (fact: unknown): void =>
      quietly(() => {
        const target: HostHooks = hooks[name] === undefined ? log : hooks;
        return target[name]?.(fact as never);
      }, onError);
  return {
    onReject: reporter('onReject'),
    onIgnoredAnswer: reporter('onIgnoredAnswer'),
    onStep: reporter('onStep'),
    onSettled: (saga) =>
      reportFailure('hooks.onSettled', () => hooks.onSettled?.(saga), timeoutMs, onError),
    onTurn: reporter('onTurn'),
    onWarning: reporter('onWarning'),
    onError,
  };
}

/**
 * Calls a function of the operator, and waits for at most `timeoutMs`. Reports an error, a timeout,
 * and a later failure. Resolves to `true` if the function succeeded in time.
 */
export async function reportFailure(
  name: string,
  call: () => unknown,
  timeoutMs: number,
  onError: (error: unknown) => void,
): Promise<boolean> {
  let ended: AbortController | undefined;
  try {
    const result = call();
    // A synchronous function needs no timer.
    if (typeof (Object(result) as { readonly then?: unknown }).then !== 'function') return true;
    ended = new AbortController();
    const work = Promise.resolve(result).then(
      () => true,
      (error: unknown) => {
        onError(error);
        return false;
      },
    );
    // A real timer, because the host's `sleep` may follow a simulated clock.
    const late = sleep(timeoutMs, ended.signal).then(() => undefined);
    const isDone = await Promise.race([work, late]);
    if (isDone === undefined) onError(timedOut(name, timeoutMs));
    return isDone === true;
  } catch (error) {
    onError(error);
    return false;
  } finally {
    ended?.abort();
  }
}

function timedOut(name: string, timeoutMs: number): SagaHostError {
  return new SagaHostError(
    'hook_timeout',
    `${name} did not settle within ${timeoutMs} ms, and the request continued without it. Make it faster, or raise ` +
      'limits.hookTimeout.',
    { public: false },
  );
}

/** Calls a function of the user. Reports thrown errors, and rejections of async functions. */
export function quietly(
  call: () => unknown,
  onError: (error: unknown) => void = () => undefined,
): void {
  try {
    const result = call();
    if (result instanceof Promise) result.catch(onError);
  } catch (error) {
    onError(error);
  }
}
