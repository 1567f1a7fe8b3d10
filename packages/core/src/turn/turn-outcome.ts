import { othersOf } from '../replay/replay-mismatch.ts';
import type { ClientStep } from '../model/client-step.ts';
import { isAskedOfClient, toClientStep } from '../effects/effect-of.ts';
import type { IgnoredAnswer, SuspendedOutcome } from '../model/outcome.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime, RuntimeQuestions } from '../model/runtime.ts';
import type { Task } from '../replay/fiber.ts';
import { encodeHead, type Head, type Wait } from '../journal/head.ts';
import { waitsForClient } from '../effects/end-task.ts';
import { reservesOf } from './room.ts';
import {
  deadlineOf,
  dueAt,
  lastsUntil,
  reportOf,
  startClock,
  toWait,
  warnOfLifetime,
} from './time/waits.ts';
import { encode } from '../values/codec.ts';
import { identityOfForm, type FormSchema } from '../values/form.ts';
import type { Json } from '../values/json.ts';

/** A turn in which every task waits. */
export interface WaitingTurn {
  readonly runtime: Runtime;
  readonly pending: readonly Task[];
  readonly reasons: ReadonlyMap<string, string>;
  readonly texts: Pick<ProgramState, 'structure' | 'client' | 'server'>;
  /** Questions asked before this turn. */
  readonly before: Head['asked'];
  /** Waits that began before this turn. */
  readonly waited: Head['waits'];
  readonly head: Omit<Head, 'asked' | 'waits'>;
  readonly accepted: number;
  readonly ignored: readonly IgnoredAnswer[];
  /** `false` for a commit: new questions are asked when the turn ends. */
  readonly asks: boolean;
  /** `true` if the saga is being undone. */
  readonly undoes: boolean;
}

/** Outcome of a waiting turn: the questions for the client, and the state to continue from. */
export async function outcomeOfTurn(turn: WaitingTurn): Promise<SuspendedOutcome> {
  const { runtime, pending, reasons, before } = turn;
  const now = runtime.time.now();
  const steps: ClientStep[] = [];
  // Without a prototype: `__proto__` is a valid ID.
  const asked = Object.create(null) as Record<string, string>;
  const waits = Object.create(null) as Record<string, Wait>;
  // The questions before the mismatch stay known while the saga is undone.
  if (turn.head.mismatch !== undefined) Object.assign(asked, before);
  const content: string[] = [];
  let hasPage = false;
  let due = Number.POSITIVE_INFINITY;
  let deadline = 0;
  for (const task of pending) {
    const isQuestion = waitsForClient(task, runtime.questions);
    const isKnown = Object.hasOwn(before, task.path);
    // The time for an answer begins when the question is asked.
    if (!isQuestion || isKnown || turn.asks) startClock(task, { waits: {} }, now);
    if (!Object.hasOwn(turn.waited, task.path)) warnOfLifetime(task, runtime);
    const wait = toWait(task);
    if (wait !== undefined) waits[task.path] = wait;
    const report = reportOf(task, now);
    if (report !== undefined) content.push(report);
    hasPage ||= report !== undefined && task.spec.kind === 'checkpoint';
    deadline = Math.max(deadline, lastsUntil(task));
    const step = isQuestion && turn.asks ? toClientStep(task.spec, task.path) : undefined;
    due = Math.min(due, step === undefined ? dueAt(task) : (deadlineOf(task) ?? due));
    if (step === undefined) {
      // The server answers in another turn. Until then, the client may answer the earlier question.
      if (isKnown && isAskedOfClient(task.spec.kind))
        asked[task.path] = before[task.path] as string;
      deadline = Math.max(deadline, dueAt(task));
      continue;
    }
    asked[task.path] = await digestOfStep(runtime.questions, step);
    const reason = reasons.get(task.path);
    runtime.observer.observe({ type: 'asked', kind: task.spec.kind, path: task.path });
    steps.push(reason === undefined ? step : { ...step, reason });
  }
  // After a mismatch, the changed code decides which tasks are pending.
  const others =
    turn.head.mismatch === undefined ? othersOf(pending, { asked, waits }) : turn.head.others;
  return waitingOutcome({
    state: { head: encodeHead({ ...turn.head, asked, waits, others }), ...turn.texts },
    steps,
    due,
    now,
    deadline,
    content,
    hasPage,
    // An undo asks nobody, and must not fail for room that it does not use.
    ...(turn.undoes ? { undoes: true } : { reserves: reservesOf(pending, runtime) }),
    accepted: turn.accepted,
    ignored: turn.ignored,
  });
}

/** Facts of a turn that waits, as a turn collects them. */
export interface Waiting extends Pick<
  SuspendedOutcome,
  'state' | 'steps' | 'undoes' | 'reserves' | 'accepted' | 'ignored'
> {
  /** Time at which the saga continues without an answer (ms since the epoch). Infinity: never. */
  readonly due: number;
  /** Time of this turn (ms since the epoch). */
  readonly now: number;
  /** Latest time that the saga waits for (ms since the epoch). 0 without one. */
  readonly deadline: number;
  readonly content: readonly string[];
  /** `true` if the content holds a page of `checkpoint(text)`. @default false */
  readonly hasPage?: boolean;
}

/**
 * Outcome of a turn that waits, the same for generators and machines. A client that is asked
 * answers when it can; any other client comes back when the saga is due.
 */
export function waitingOutcome(waiting: Waiting): SuspendedOutcome {
  const { due, now, deadline, content, hasPage = false, ...outcome } = waiting;
  const isAsked = outcome.steps.length > 0;
  const mayBeDue = Number.isFinite(due);
  const retryAfterMs = mayBeDue ? Math.max(0, Math.ceil(due - now)) : 0;
  return {
    status: 'suspended',
    ...outcome,
    ...(isAsked ? {} : { retryAfterMs }),
    ...(isAsked && mayBeDue ? { due: Math.ceil(due) } : {}),
    ...(deadline > 0 ? { deadline: Math.ceil(deadline) } : {}),
    ...(content.length > 0 ? { content } : {}),
    ...(hasPage ? { hasPage } : {}),
  };
}

/**
 * Digest that identifies a question, to detect an answer to another question with the same ID.
 *
 * Of a form, the message and the identity of its fields count. Two releases that serve a saga at
 * the same time may differ in the rest. If that counted, each would ask its own question instead of
 * the other's, for ever.
 */
export async function digestOfStep(
  { digest }: Pick<RuntimeQuestions, 'digest'>,
  step: ClientStep,
): Promise<string> {
  return await digest(identityOfParams(step.params));
}

export function endedState(
  { turn, input, progress }: Head,
  texts: Pick<ProgramState, 'structure' | 'client' | 'server'>,
): ProgramState {
  return {
    head: encodeHead({ turn, input, progress, mismatch: undefined, asked: {}, waits: {} }),
    ...texts,
  };
}

/** Identities of forms, which are made once for each schema and never change. */
const identities = new WeakMap<object, string>();

function identityOfParams(params: { readonly [name: string]: Json }): string {
  const { message, requestedSchema: form, ...others } = params;
  if (typeof form !== 'object' || form === null) return encode(params);
  let identity = identities.get(form);
  // To write a form takes longer than the rest of a question.
  if (identity === undefined)
    identities.set(form, (identity = encode(identityOfForm(form as FormSchema))));
  return `${encode({ message: message ?? null, ...others })}${identity}`;
}
