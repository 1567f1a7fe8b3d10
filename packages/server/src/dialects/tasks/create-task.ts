import { present } from '@mcp-saga/core/program';
import { canonicalize, createTokenId, digestText, TokenRefused } from '@mcp-saga/seal';
import { toJson } from '../../wire/step-answers.ts';
import { type HostParts, isSingleUse } from '../../settings/host-parts.ts';
import { type OpenSaga } from '../../token/resolve-program.ts';
import { sendWake } from '../../turn/settle.ts';
import { sealSaga } from '../../token/sealed-saga.ts';
import type { SuspendedTurn } from '../../model/turn.ts';
import type { ClientCall } from '../../model/call-types.ts';
import { drive } from './drive-task.ts';
import { awayMs, type TaskSettings } from '../../settings/task-settings.ts';
import {
  createRecord,
  readTask,
  type StoredTaskRef,
  type TaskRecord,
  askedNow,
} from './task-record.ts';
import { toWireTask } from './task-status.ts';
import { toTaskId } from './task-id.ts';
import { openTurn } from '../../token/saga-of-turn.ts';

/**
 * Makes a task of a call without questions. The call must go on without a task if the store keeps
 * too much for the caller (`full`).
 */
export async function createTask(
  host: HostParts,
  { store }: TaskSettings,
  call: ClientCall,
  turn: SuspendedTurn,
): Promise<object | 'full'> {
  const opened = await openTurn(host, turn);
  const { saga } = opened;
  const { sagaId } = saga;
  const createdAt = host.timing.clock();
  // A task lives as long as its saga may.
  const expiresAt = saga.claims.born + host.limits.maxLifetime;
  const exp = Math.max(saga.claims.exp, Math.min(createdAt + awayMs, expiresAt));
  // The task continues under the method of the call.
  const kept = { ...saga, claims: { ...saga.claims, method: call.method, exp } };
  const claims = { ...kept.claims, jti: createTokenId(), iat: createdAt, exp: expiresAt };
  const { asks, capabilities } = call.client;
  const { progressToken } = call.meta;
  const message = turn.content?.join('\n');
  const asked = askedNow({ questions: [], keys: [] }, [], turn.steps);
  const record: TaskRecord = {
    ...asked,
    createdAt,
    lastUpdatedAt: createdAt,
    expiresAt,
    status: asked.questions.length > 0 ? 'input_required' : 'working',
    origin: await originOf(call),
    client: { asks, ...present({ capabilities }) },
    // The token stays on the server.
    token: await sealSaga(host.keys.sealer, kept),
    due: createdAt + (turn.retryAfterMs ?? 0),
    ...present({ message }),
    ...(typeof progressToken === 'string' || typeof progressToken === 'number'
      ? { progress: { token: progressToken } }
      : {}),
  };
  const task: StoredTaskRef = { host, store, sagaId, claims };
  const status = await createRecord(task, record);
  if (status === 'full') return 'full';
  if (status === 'written') {
    if (isSingleUse(host, opened.program)) {
      // The queue would not continue the first turn of a call, which may not have its token.
      const due = turn.steps.length > 0 ? turn.due : record.due;
      await sendWake(host, kept, { capabilities, dialect: { asks } }, { due, hasClient: true });
    }
    call.waitUntil(drive(task, call.caller));
    return toTaskResult(task, record);
  }
  // The response was lost, and the client repeats its call. Any other round is too late.
  const known = await readTask(task);
  if (known === undefined || !(await isTaskOf(host, opened, call, known.record))) {
    host.observer.reject('used');
    throw new TokenRefused('used');
  }
  return toTaskResult({ ...task, claims: known.claims }, known.record);
}

/** Returns the task that a repeated call has become. Undefined if it has become none. */
export async function findTask(
  host: HostParts,
  { store }: TaskSettings,
  call: ClientCall,
  turn: SuspendedTurn,
): Promise<object | undefined> {
  const opened = await openTurn(host, turn);
  const task = { host, store, sagaId: opened.saga.sagaId, claims: opened.saga.claims };
  const known = await readTask(task);
  if (known === undefined || !(await isTaskOf(host, opened, call, known.record))) return undefined;
  return toTaskResult({ ...task, claims: known.claims }, known.record);
}

function toTaskResult({ host, sagaId, claims }: StoredTaskRef, record: TaskRecord): object {
  const taskId = toTaskId(sagaId, claims);
  return { resultType: 'task', ...toWireTask(taskId, record, host.timing.clock()) };
}

/** `true` for a first call whose key finds the saga that an earlier copy has begun. */
export function isNamedStart({ requestState, caller }: ClientCall): boolean {
  return requestState === undefined && caller.clientKey?.() !== undefined;
}

/**
 * `true` if a call has led to the turn that has become a task, or to a later one. The guard has
 * refused all others; without one, the call must be the same.
 */
async function isTaskOf(
  host: HostParts,
  { program, current }: OpenSaga,
  call: ClientCall,
  { origin }: TaskRecord,
): Promise<boolean> {
  return (
    isSingleUse(host, program ?? current) || isNamedStart(call) || origin === (await originOf(call))
  );
}

async function originOf({ requestState, inputResponses }: ClientCall): Promise<string> {
  const round = [requestState ?? null, toJson(inputResponses ?? null, 'inputResponses')];
  return await digestText(canonicalize(toJson(round, 'inputResponses')));
}
