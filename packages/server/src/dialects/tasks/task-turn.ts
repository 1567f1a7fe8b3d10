import { present, CodecError } from '@mcp-saga/core/program';
import { AnswerConflict, TurnAborted } from '@mcp-saga/core';
import { SealError, TokenRefused } from '@mcp-saga/seal';
import type { StepAnswer } from '../../wire/step-answers.ts';
import { cancel } from '../../requests/cancel.ts';
import type { Caller } from '../../model/caller.ts';
import { SagaHostError } from '../../wire/errors.ts';
import { resume } from '../../requests/resume.ts';
import type { SagaTurn } from '../../model/turn.ts';
import { toToolResult } from '../../wire/tool-result.ts';
import { isNotNow } from '../../wire/wire-error.ts';
import {
  isOpen,
  type StoredTaskRef,
  type TaskProgress,
  type TaskRecord,
  askedNow,
} from './task-record.ts';
import { awayMs } from '../../settings/task-settings.ts';
import { endOf, failure } from './task-status.ts';

/** Change of a task by a turn. */
export type TaskChange = (record: TaskRecord) => TaskRecord;

/** Runs the turn that a task began, and returns the change of the task. */
export async function takeTurn(
  task: StoredTaskRef,
  record: TaskRecord,
  caller: Caller,
): Promise<TaskChange> {
  const { token, turn } = record;
  if (token === undefined || turn === undefined)
    throw new TypeError('This task has no turn to run.');
  // The token never leaves the server. A question may wait longer than in the hands of a client.
  const { limits } = task.host;
  const tokenTtl = Math.max(limits.tokenTtl, awayMs);
  const host = { ...task.host, limits: { ...limits, tokenTtl } };
  let progress: Omit<TaskProgress, 'token' | 'told'> | undefined;
  const { signal, user, principal } = caller;
  const own: Caller = {
    ...present({ user, principal, signal, capabilities: record.client.capabilities }),
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
    const dialect = { asks: record.client.asks, maxHold: 0 };
    const taken = await resume(host, token, answers, own, {
      methods,
      answersField: 'inputResponses',
      dialect,
      holder: { kind: 'store' },
    });
    return gone(host, taken, turn.keys, progress);
  } catch (error) {
    // The token expired or was revoked, or another request continued the saga.
    if (error instanceof TokenRefused) return ended(failure(cannotContinue));
    const fails = isLasting(error);
    const ranNothing = error instanceof SagaHostError && error.code === 'guard_full';
    // Temporary errors are retried after the lease, unless the client cancelled the task. A turn for
    // which the store has no room has run nothing, and a cancellation needs no room.
    if (!fails && (record.isCancelled !== true || turn.action === 'cancel')) throw error;
    if (isPassing(error) && !ranNothing) throw error;
    host.observer.hooks.onError(error);
    if (turn.action === 'cancel') return ended(failure(cannotContinue));
    // A repeated turn would fail again. The steps before it are undone.
    const undone = await takeTurn(
      task,
      { ...record, turn: { action: 'cancel', keys: [] } },
      caller,
    );
    return fails ? (now) => ({ ...undone(now), ...failure(cannotContinue) }) : undone;
  }
}

const cannotContinue = 'The task cannot continue.';

/** `true` for a temporary error: the server cannot run the turn now, or the lease was lost. */
function isPassing(error: unknown): boolean {
  return error instanceof TurnAborted || isNotNow(error);
}

/** `true` for a lasting error: the input cannot be used, or the result cannot be stored. */
function isLasting(error: unknown): boolean {
  if (isPassing(error)) return false;
  return [SagaHostError, AnswerConflict, SealError, CodecError].some(
    (lasting) => error instanceof lasting,
  );
}

/** Returns the change of a task by a turn of its saga. */
function gone(
  host: StoredTaskRef['host'],
  turn: SagaTurn,
  used: readonly string[],
  progress: Omit<TaskProgress, 'token' | 'told'> | undefined,
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
    const { lease: _lease, turn: _turn, due: _due, message: before, isAnswered, ...rest } = record;
    const asked = askedNow(record, used, steps);
    const now = host.timing.clock();
    // Answers and cancellations that arrived meanwhile are due at once.
    const hasNews =
      record.isCancelled === true || isAnswered === true || !asked.questions.every(isOpen);
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

function cancelled(turn: SagaTurn): TaskChange {
  const undone = turn.status === 'failed' ? toToolResult(turn.saga, turn).content[0] : undefined;
  const text = undone?.type === 'text' ? (undone as { readonly text?: unknown }).text : undefined;
  return ended({ status: 'cancelled', ...(typeof text === 'string' ? { message: text } : {}) });
}

/** Ends a task. Keeps only the fields that clients read. */
export function ended(
  end: Pick<TaskRecord, 'status' | 'result' | 'error' | 'message'>,
): TaskChange {
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
