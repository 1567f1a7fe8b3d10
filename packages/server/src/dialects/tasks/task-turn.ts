import { present, CodecError } from '@mcp-saga/core/program';
import { AnswerConflict, TurnAborted, type Program } from '@mcp-saga/core';
import { SealError, TokenRefused } from '@mcp-saga/seal';
import type { StepAnswer } from '../../wire/step-answers.ts';
import { cancel } from '../../requests/cancel.ts';
import type { Caller } from '../../model/caller.ts';
import { SagaHostError } from '../../wire/errors.ts';
import { resume } from '../../requests/resume.ts';
import type { SagaTurn } from '../../model/turn.ts';
import { toToolResult } from '../../wire/tool-result.ts';
import { isNotNow } from '../../wire/wire-error.ts';
import { askedNow } from './task-questions.ts';
import {
  changeRecord,
  isOpen,
  type StoredTaskRef,
  type TaskProgress,
  type TaskRecord,
} from './task-record.ts';
import { endOf, failure } from './task-status.ts';

/** What a turn has made of a task. */
export type TaskChange = (record: TaskRecord) => TaskRecord;

/** Runs the turn that a task has begun, with the answers it was begun with, and says what becomes of the task. */
export async function takeTurn(task: StoredTaskRef, record: TaskRecord, caller: Caller): Promise<TaskChange> {
  const { token, turn } = record;
  if (token === undefined || turn === undefined) throw new TypeError('This task has no turn to run.');
  const { tasks } = task.host.offers;
  // The token never leaves the server: it is good as long as the task.
  const { limits } = task.host;
  const host = { ...task.host, limits: { ...limits, tokenTtlMs: tasks?.ttl ?? limits.tokenTtlMs } };
  let progress: Omit<TaskProgress, 'token' | 'told'> | undefined;
  const { signal, context, authInfo, principal } = caller;
  const own: Caller = {
    context,
    ...present({ authInfo, principal, signal, capabilities: record.client.capabilities }),
    progress: (told) => {
      progress = told;
    },
  };
  const methods = ['tools/call'];
  try {
    if (turn.action === 'cancel') {
      return cancelled(await cancel(host, token, own, { methods }));
    }
    const answers = record.questions
      .filter(({ key }) => turn.keys.includes(key))
      .map(({ stepId, answer }): StepAnswer => ({ stepId, result: answer?.result ?? null }));
    const traits = { asks: record.client.asks, maxHold: 0, checkpointAfterStep: true };
    const taken = await resume(host, token, answers, own, {
      methods,
      answersField: 'inputResponses',
      traits,
      goesOnAs: (program) => noteUndoes(task, record, program),
    });
    return gone(taken, turn.keys, progress, host.timing.clock);
  } catch (error) {
    if (error instanceof SagaHostError && error.code === 'cancel_not_offered') return cancelled(undefined);
    // Its own token, refused: it has expired, or was revoked, or the saga was gone on with by another way.
    if (error instanceof TokenRefused) return ended(failure(cannotGoOn));
    const fails = isLasting(error);
    // What may pass is tried again when the lease is out; for as long as nobody wants the task to end.
    if (!fails && (isPassing(error) || turn.action === 'cancel' || record.isCancelled !== true)) throw error;
    host.observer.hooks.onError(error);
    if (turn.action === 'cancel') return ended(failure(cannotGoOn));
    // It would come to the same for ever: what was done before this turn is undone.
    const undone = await takeTurn(task, { ...record, turn: { action: 'cancel', keys: [] } }, caller);
    return fails ? (now) => ({ ...undone(now), ...failure(cannotGoOn) }) : undone;
  }
}

const cannotGoOn = 'The task cannot go on.';

/** `true` if an error says nothing of the turn: the server cannot run it now, or its lease was lost. */
function isPassing(error: unknown): boolean {
  return error instanceof TurnAborted || isNotNow(error);
}

/** Whether a turn fails with this however often it is taken: what it was given, or came to, can be used or kept by nobody. */
function isLasting(error: unknown): boolean {
  if (isPassing(error)) return false;
  return [SagaHostError, AnswerConflict, SealError, CodecError].some((lasting) => error instanceof lasting);
}

/** Records that the next saga may have something to undo: who cancels the task from here on waits for the turn. */
async function noteUndoes(task: StoredTaskRef, { lease }: TaskRecord, { forks }: Program): Promise<void> {
  if (forks === undefined) return;
  const noted = await changeRecord(task, (now) =>
    now.lease?.id === lease?.id ? { ...now, undoes: true } : undefined,
  );
  if (noted === undefined) throw new TurnAborted(new Error('The lease of a task was lost.'));
}

/** A task after a turn of its saga. */
function gone(
  turn: SagaTurn,
  used: readonly string[],
  progress: Omit<TaskProgress, 'token' | 'told'> | undefined,
  clock: () => number,
): TaskChange {
  const told = (record: TaskRecord): Pick<TaskRecord, 'progress'> =>
    record.progress === undefined
      ? {}
      : { progress: { ...record.progress, ...progress, token: record.progress.token } };
  if (turn.status !== 'suspended') {
    const end = ended(endOf(turn.saga, turn));
    return (record) => ({ ...end(record), ...told(record) });
  }
  const { token, steps, retryAfterMs, content } = turn;
  return (record) => {
    const { lease: _lease, turn: _turn, due: _due, message: before, ...rest } = record;
    const asked = askedNow(record, used, steps);
    const now = clock();
    // What was answered, or cancelled, meanwhile is due at once.
    const hasNews = record.isCancelled === true || !asked.questions.every(isOpen);
    const due = hasNews ? now : steps.length > 0 ? turn.due : now + (retryAfterMs ?? 0);
    const message = content?.join('\n') ?? progress?.message ?? before;
    return {
      ...rest,
      ...asked,
      token,
      ...present({ due }),
      ...told(record),
      ...present({ message }),
    };
  };
}

/** A task after its saga was cancelled, and undone as far as that goes. */
function cancelled(turn: SagaTurn | undefined): TaskChange {
  const undone = turn?.status === 'failed' ? toToolResult(turn.saga, turn).content[0] : undefined;
  const text = undone?.type === 'text' ? (undone as { readonly text?: unknown }).text : undefined;
  return ended({ status: 'cancelled', ...(typeof text === 'string' ? { message: text } : {}) });
}

/** A task that is over keeps what clients ask for, and no more. */
export function ended(end: Pick<TaskRecord, 'status' | 'result' | 'error' | 'message'>): TaskChange {
  return ({ createdAt, lastUpdatedAt, expiresAt, origin, client, keys, progress }) => ({
    createdAt,
    lastUpdatedAt,
    expiresAt,
    origin,
    client,
    keys,
    questions: [],
    ...present({ progress }),
    ...end,
  });
}
