import type { IgnoredAnswer, StepEvent, UndoneStep } from '@mcp-saga/core';
import type { DefaultLog } from './default-log.ts';
import { SagaHostError } from './errors.ts';
import { sleep } from './sleep.ts';

/**
 * A token that was refused, and the true reason. The client got the one frozen answer, or, for `not-yet-valid`, the retryable
 * error `clock_behind` if everything else about the token was right.
 */
export interface Rejection {
  /** Why: `expired`, `principal`, `undecryptable`, … */
  readonly reason: string;
  /** How many rejections were not reported in the second before, because there were too many. */
  readonly suppressed: number;
}

/** Facts about one turn that ended. */
export interface TurnFacts {
  readonly saga: string;
  readonly sagaId: string;
  /** From 1. */
  readonly turn: number;
  readonly status: 'suspended' | 'completed' | 'failed';
  /**
   * What failed the saga, of a failed turn: for logs, never for the wire. The error of a step has what was thrown as its
   * `cause`, with its stack, where that was in this process.
   */
  readonly error?: unknown;
  /** What a failed turn could not undo, where there is any. */
  readonly residue?: readonly LeftStep[];
  /** Bytes of the token that was sealed; 0 when the saga ended. */
  readonly tokenBytes: number;
  /** Milliseconds. */
  readonly duration: number;
}

/** A step that was not undone. */
export interface LeftStep extends UndoneStep {
  /** What its undo has failed with, where that was in this process: for logs, never for the wire. */
  readonly error?: unknown;
}

/** A saga that waits for its client, and by which token it can be cancelled should the client never come. (E8) */
export interface SuspendedSagaFacts {
  readonly saga: string;
  readonly sagaId: string;
  readonly turn: number;
  /** Give it to `host.cancel`. It only cancels, opens only after `cancelAfter`, and needs no user. */
  readonly cancelToken: string;
  /**
   * Milliseconds since the epoch. A minute after the client's token expires; of a turn that the queue itself has brought forward past
   * a pivot, when that goes on.
   */
  readonly cancelAfter: number;
}

/** A saga that has ended. (E8) */
export interface SettledSagaFacts {
  readonly saga: string;
  readonly sagaId: string;
  /** What could not be undone: the client is told as well, but may not be there any more. */
  readonly residue: readonly UndoneStep[];
}

/** An answer that was not used, and why. */
export interface IgnoredAnswerFacts extends IgnoredAnswer {
  readonly saga: string;
  readonly sagaId: string;
}

/** A question that was refused sooner than a person can have read it. */
export interface InstantRefusal {
  readonly saga: string;
  readonly sagaId: string;
  readonly stepId: string;
  readonly action: 'decline' | 'cancel';
  /** Milliseconds from the question to the refusal. */
  readonly after: number;
}

/** What a host tells its operator. None of these gets a token, a key or an answer. */
export interface HostHooks {
  /**
   * A token was refused. At most ten a second. Default: `console.warn`, once a minute for each reason; in development with
   * what that comes of. (T5)
   */
  readonly onReject?: (rejection: Rejection) => void;
  /**
   * A client's answer was not used. Default: `console.warn`, once a minute for each saga, where a question is `asked
   * otherwise` than before; outside production `onWarning` tells of that. (W4)
   */
  readonly onIgnoredAnswer?: (answer: IgnoredAnswerFacts) => void;
  /**
   * A client with elicitation refused a question within `instantRefusals.withinMs`, faster than any person: it has no user to
   * ask. `instantRefusals.treatAs` decides about the answer.
   */
  readonly onInstantRefusal?: (refusal: InstantRefusal) => void;
  /** Something happened to a step. */
  readonly onStep?: (event: StepEvent & { readonly saga: string; readonly sagaId: string }) => void;
  /**
   * A saga waits for its client: replace the one message a delayed queue holds for this `sagaId`, unless that has a
   * higher `turn`, by one that calls `host.cancel(cancelToken)` at `cancelAfter`. Awaited, for `hookTimeoutMs` at most.
   * Called with a guard, for sagas with `forks: 'refuse'`; and again where the client repeats the request, or the queue
   * delivers an older message, should this have been lost. (E8)
   */
  readonly onSuspended?: (saga: SuspendedSagaFacts) => unknown;
  /**
   * A saga has ended: remove the message, and have somebody see to what could not be undone. Awaited, for `hookTimeoutMs`
   * at most. Called again where the client repeats the request. (E8)
   */
  readonly onSettled?: (saga: SettledSagaFacts) => unknown;
  /**
   * A turn has ended. Default: `console.error` for one that failed, and for each step that it could not undo; errors are
   * shown in development only.
   */
  readonly onTurn?: (turn: TurnFacts) => void;
  /**
   * Something failed that the client is told nothing about. Default: `console.error`, without the message of an error
   * that is not the host's own.
   */
  readonly onError?: (error: unknown) => void;
  /**
   * Advice: a token grows large, keys are ephemeral, `guardLease` is too short, a step outlives `turnBudget`. If `NODE_ENV` is
   * not `production`, also: a command was never yielded, a question is asked otherwise than before, a turn differs when it is
   * replayed at once. Default: `console.warn`.
   */
  readonly onWarning?: (message: string) => void;
}

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

/**
 * Hooks as the host calls them: what one throws, or rejects with, goes to `onError`, and what that one throws to
 * nobody. A hook never decides how a turn ends, for the effects of the turn have happened.
 *
 * @param timeoutMs - time limit of the awaited hooks
 */
export function guardedHooks(hooks: HostHooks, log: DefaultLog, timeoutMs: number): Required<HostHooks> {
  const onError = (error: unknown): void =>
    quietly(() => (hooks.onError === undefined ? log.error(error) : hooks.onError(error)));
  return {
    onReject: (rejection) =>
      quietly(
        () => (hooks.onReject === undefined ? log.rejection(rejection) : hooks.onReject(rejection)),
        onError,
      ),
    onIgnoredAnswer: (answer) =>
      quietly(
        () => (hooks.onIgnoredAnswer === undefined ? log.ignored(answer) : hooks.onIgnoredAnswer(answer)),
        onError,
      ),
    onInstantRefusal: (refusal) => quietly(() => hooks.onInstantRefusal?.(refusal), onError),
    onStep: (event) => quietly(() => hooks.onStep?.(event), onError),
    onSuspended: (saga) => settled('onSuspended', () => hooks.onSuspended?.(saga), timeoutMs, onError),
    onSettled: (saga) => settled('onSettled', () => hooks.onSettled?.(saga), timeoutMs, onError),
    onTurn: (turn) =>
      quietly(() => (hooks.onTurn === undefined ? log.turn(turn) : hooks.onTurn(turn)), onError),
    onWarning: (message) =>
      quietly(
        () => (hooks.onWarning === undefined ? log.warning(message) : hooks.onWarning(message)),
        onError,
      ),
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
      'or raise hookTimeoutMs.',
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
