import { othersOf } from '../replay/replay-mismatch.ts';
import type { ClientStep } from '../model/client-step.ts';
import { isAskedOfClient, toClientStep } from '../effects/effect-of.ts';
import type { IgnoredAnswer, SuspendedOutcome } from '../model/outcome.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime } from '../model/runtime.ts';
import { encode } from '../values/codec.ts';
import type { Task } from '../replay/fiber.ts';
import { encodeHead, type Head, type Wait } from '../journal/head.ts';
import { waitsForClient } from '../effects/accept-answer.ts';
import { warnOfLifetime } from './time/warn-of-lifetime.ts';
import { deadlineOf, dueAt, reportOf, startClock, toWait } from './time/waits.ts';

/** A turn at its end, where everything waits. */
export interface WaitingTurn {
  readonly runtime: Runtime;
  readonly pending: readonly Task[];
  readonly reasons: ReadonlyMap<string, string>;
  readonly texts: Pick<ProgramState, 'structure' | 'client' | 'server'>;
  /** What the client was asked before this turn. */
  readonly before: Head['asked'];
  /** What waited for a time before this turn. */
  readonly waited: Head['waits'];
  readonly head: Omit<Head, 'asked' | 'waits'>;
  readonly accepted: number;
  readonly ignored: readonly IgnoredAnswer[];
  /** `false` for a commit: new questions are asked when the turn ends. */
  readonly asks: boolean;
  /** Whether the body is being ended for an error, or has been. */
  readonly undoes: boolean;
}

/** The outcome of a turn that waits: what the client is asked, and the state to go on from. */
export async function outcomeOfTurn(turn: WaitingTurn): Promise<SuspendedOutcome> {
  const { runtime, pending, reasons, before } = turn;
  const now = runtime.now();
  const steps: ClientStep[] = [];
  // Without a prototype, since `__proto__` is an id like any other.
  const asked = Object.create(null) as Record<string, string>;
  const waits = Object.create(null) as Record<string, Wait>;
  // The questions that led to the mismatch stay known while the saga is undone.
  if (turn.head.mismatch !== undefined) Object.assign(asked, before);
  const content: string[] = [];
  let hasPage = false;
  let due = Number.POSITIVE_INFINITY;
  let deadline = 0;
  for (const task of pending) {
    const isQuestion = waitsForClient(task, runtime);
    const isKnown = Object.hasOwn(before, task.path);
    // The time for an answer begins when the question is asked.
    if (!isQuestion || isKnown || turn.asks) startClock(task, { waits: {} }, now);
    if (!Object.hasOwn(turn.waited, task.path)) warnOfLifetime(task, runtime);
    const wait = toWait(task);
    if (wait !== undefined) waits[task.path] = wait;
    const report = reportOf(task, now);
    if (report !== undefined) content.push(report);
    hasPage ||= report !== undefined && task.spec.kind === 'checkpoint';
    deadline = Math.max(deadline, deadlineOf(task) ?? 0);
    const step = isQuestion && turn.asks ? toClientStep(task.spec, task.path) : undefined;
    due = Math.min(due, step === undefined ? dueAt(task) : (deadlineOf(task) ?? due));
    if (step === undefined) {
      // It is answered here, in another turn; what was asked before may be answered until then.
      if (isKnown && isAskedOfClient(task.spec.kind)) asked[task.path] = before[task.path] as string;
      deadline = Math.max(deadline, dueAt(task));
      continue;
    }
    // oxlint-disable-next-line no-await-in-loop -- a few questions at the most
    asked[task.path] = await digestOfStep(runtime, step);
    const reason = reasons.get(task.path);
    runtime.observe({ type: 'asked', kind: task.spec.kind, path: task.path });
    steps.push(reason === undefined ? step : { ...step, reason });
  }
  // After a mismatch, the changed code decides which tasks are pending.
  const others = turn.head.mismatch === undefined ? othersOf(pending, { asked, waits }) : turn.head.others;
  return {
    status: 'suspended',
    state: { ...turn.texts, head: encodeHead({ ...turn.head, asked, waits, others }) },
    steps,
    ...(steps.length === 0 ? { retryAfterMs: Number.isFinite(due) ? Math.max(0, due - now) : 0 } : {}),
    ...(steps.length > 0 && Number.isFinite(due) ? { due } : {}),
    ...(turn.undoes ? { undoes: true } : {}),
    ...(deadline > 0 ? { deadline } : {}),
    ...(content.length > 0 ? { content } : {}),
    ...(hasPage ? { hasPage } : {}),
    accepted: turn.accepted,
    ignored: turn.ignored,
  };
}

/** A digest of the exact parameters of a question, by which an answer to another one is known. (T6) */
export async function digestOfStep(runtime: Runtime, step: ClientStep): Promise<string> {
  return await runtime.digest(encode(step.params));
}

/** The state with which a saga ends. */
export function endedState(
  { turn, input, progress }: Head,
  texts: Pick<ProgramState, 'structure' | 'client' | 'server'>,
): ProgramState {
  return { ...texts, head: encodeHead({ turn, input, progress, mismatch: undefined, asked: {}, waits: {} }) };
}
