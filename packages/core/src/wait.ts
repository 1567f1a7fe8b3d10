import type { CheckedResult } from './checked-result.ts';
import { command, type Command } from './command.ts';
import { assertStepId } from './path.ts';
import type { StepContext } from './step.ts';

/**
 * Goes on no earlier than `ms` milliseconds from when it is first reached. Short waits are held in the request; for a
 * longer one the client gets a token and when to come again. (W6)
 *
 * @throws ClientCannot (in the body) where the client cannot be kept waiting that long
 */
export function sleep(ms: number): Command<void> {
  if (!(ms >= 0 && Number.isFinite(ms))) throw new RangeError('sleep() needs milliseconds, 0 or more.');
  return command<void>({ kind: 'sleep', id: 'sleep', ms, until: undefined });
}

/** Goes on no earlier than `date`. */
export function sleepUntil(date: Date): Command<void> {
  const until = date.getTime();
  if (!Number.isFinite(until)) throw new RangeError('sleepUntil() needs a valid date.');
  return command<void>({ kind: 'sleep', id: 'sleep', ms: 0, until });
}

/** How an outside system is polled. */
export interface PollOptions {
  /** Milliseconds from one question to the next. */
  readonly every: number;
  /** Milliseconds after which it is given up, counted from the first question. */
  readonly timeout: number;
  /** What the user reads meanwhile, where the client shows it. */
  readonly report?: string | ((facts: { readonly asked: number; readonly elapsed: number }) => string);
}

/**
 * Asks an outside system until it answers: `ask` returns undefined for "not yet". It must not change anything, since
 * it may be asked any number of times; only its last answer is journalled.
 *
 * @throws StepTimedOut (in the body) when the timeout has passed
 * @throws ClientCannot (in the body) where the client cannot be kept waiting until it is asked again
 * @throws StepError (in the body) when `ask` throws
 */
export function poll<R>(
  id: string,
  ask: ((step: Omit<StepContext<undefined>, 'input' | 'idempotencyKey'>) => R | PromiseLike<R>) &
    CheckedResult<R, 'A poll'>,
  options: PollOptions,
): Command<Exclude<R, undefined>> {
  assertStepId(id);
  const { every, timeout, report } = options;
  if (!(every > 0 && timeout > 0))
    throw new RangeError(`poll('${id}') needs every and timeout, more than 0 milliseconds.`);
  return command<Exclude<R, undefined>>({ kind: 'poll', id, ask, every, timeout, report });
}
