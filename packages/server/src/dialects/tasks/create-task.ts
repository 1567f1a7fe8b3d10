import { present } from '@mcp-saga/core/program';
import { canonicalize, createTokenId, digestText, TokenRefused, type Claims } from '@mcp-saga/seal';
import { toJson } from '../../wire/step-answers.ts';
import type { ResolvedLimits } from '../../model/host-limits.ts';
import { type HostParts, isSingleUse } from '../../settings/host-parts.ts';
import { type OpenSaga } from '../../token/resolve-program.ts';
import { sendWake } from '../../turn/settle.ts';
import { sealSaga } from '../../token/sealed-saga.ts';
import type { SuspendedTurn } from '../../model/turn.ts';
import type { ClientCall } from '../../model/call-types.ts';
import { drive } from './drive-task.ts';
import { elapse } from '../../turn/elapse.ts';
import type { TaskSettings } from '../../settings/task-settings.ts';
import {
  createRecord,
  readTask,
  type StoredTaskRef,
  type TaskRecord,
  askedNow,
} from './task-record.ts';
import { toWireTask } from './task-status.ts';
import type { SagaStore } from '../../model/saga-store.ts';
import { sealedTaskId, storedTaskId } from './task-id.ts';
import { openTurn } from '../../token/saga-of-turn.ts';

/**
 * Makes a task of a call without questions. The call must go on without a task if the store keeps
 * too much for the caller (`full`); or if there is no store, and steps remain or the ID would be
 * too long (undefined).
 */
export async function createTask(
  host: HostParts,
  tasks: TaskSettings,
  call: ClientCall,
  turn: SuspendedTurn,
): Promise<object | 'full' | undefined> {
  const sealed = await openTurn(host, turn);
  // The task continues under the method of the call.
  const claims = { ...sealed.saga.claims, method: call.method };
  const opened = { ...sealed, saga: { ...sealed.saga, claims } };
  const { store } = tasks;
  const task =
    store === undefined
      ? await withoutStore(host, tasks, opened)
      : await withStore(host, tasks, store, call, { opened, turn });
  if (task === undefined || task === 'full') return task;
  return toTaskResult(host, tasks, task);
}

/** Returns the task that a repeated call has become. Undefined if it has become none. */
export async function findTask(
  host: HostParts,
  tasks: TaskSettings,
  call: ClientCall,
  turn: SuspendedTurn,
): Promise<object | undefined> {
  const { store } = tasks;
  if (store === undefined) return undefined;
  const opened = await openTurn(host, turn);
  const { sagaId, claims } = opened.saga;
  const known = await readTask({ host, store, sagaId, claims });
  if (known === undefined || !(await isTaskOf(host, opened, call, known.record))) return undefined;
  return toTaskResult(host, tasks, {
    ...known.record,
    taskId: storedTaskId(sagaId, known.claims),
  });
}

function toTaskResult(host: HostParts, tasks: TaskSettings, task: Created): object {
  const now = host.timing.clock();
  const wire = toWireTask(task.taskId, task, { pollInterval: tasks.pollInterval, now });
  return { resultType: 'task', ...wire };
}

type Created = Pick<
  TaskRecord,
  'status' | 'createdAt' | 'lastUpdatedAt' | 'expiresAt' | 'due' | 'message'
> & { readonly taskId: string };

async function withStore(
  host: HostParts,
  tasks: TaskSettings,
  store: SagaStore,
  call: ClientCall,
  { opened, turn }: { readonly opened: OpenSaga; readonly turn: SuspendedTurn },
): Promise<Created | 'full'> {
  const { saga } = opened;
  const { sagaId } = saga;
  const createdAt = host.timing.clock();
  const expiresAt = lifeOf(host.limits, tasks, saga.claims, createdAt);
  const claims = { ...saga.claims, jti: createTokenId(), iat: createdAt, exp: expiresAt };
  const { asks, capabilities } = call.client;
  const { progressToken } = call.meta;
  const message = turn.content?.join('\n');
  const asked = askedNow({ questions: [], keys: [] }, [], turn.steps);
  const kept = { ...saga, claims: { ...saga.claims, exp: expiresAt } };
  const record: TaskRecord = {
    ...asked,
    createdAt,
    lastUpdatedAt: createdAt,
    expiresAt,
    status: asked.questions.length > 0 ? 'input_required' : 'working',
    origin: await originOf(call),
    client: { asks, ...present({ capabilities }) },
    // The token stays on the server, and is good as long as the task.
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
    if (opened.program?.reuse !== 'ok') {
      // The queue would not continue the first turn of a call, which may not have its token.
      const due = turn.steps.length > 0 ? turn.due : record.due;
      await sendWake(host, kept, { capabilities, dialect: { asks } }, { due, hasClient: true });
    }
    call.waitUntil(drive(task, call.caller));
    return { ...record, taskId: storedTaskId(sagaId, claims) };
  }
  // The response was lost, and the client repeats its call. Any other round is too late.
  const known = await readTask(task);
  if (known === undefined || !(await isTaskOf(host, opened, call, known.record))) {
    host.observer.reject('used');
    throw new TokenRefused('used');
  }
  return { ...known.record, taskId: storedTaskId(sagaId, known.claims) };
}

async function withoutStore(
  host: HostParts,
  tasks: TaskSettings,
  opened: OpenSaga,
): Promise<Created | undefined> {
  const { saga, program } = opened;
  // The operator's queue would never learn that the saga ended.
  if (host.observer.notifiesSuspended && isSingleUse(host, program)) return undefined;
  const elapsed = await elapse(host, opened, Number.POSITIVE_INFINITY);
  if (elapsed.status !== 'over') return undefined;
  const createdAt = saga.claims.iat;
  const expiresAt = lifeOf(host.limits, tasks, saga.claims, createdAt, elapsed.at);
  // The ID would expire before the task ends.
  if (expiresAt <= elapsed.at) return undefined;
  const taskId = await sealedTaskId(host, tasks, {
    ...saga,
    claims: { ...saga.claims, exp: expiresAt },
  });
  if (taskId === undefined) return undefined;
  return {
    taskId,
    status: 'working',
    createdAt,
    lastUpdatedAt: createdAt,
    expiresAt,
    due: elapsed.at,
  };
}

/** Returns the expiry of a task: `ttl` after its creation, or after its end if known. */
function lifeOf(
  { maxLifetime }: ResolvedLimits,
  { ttl }: TaskSettings,
  { born }: Claims,
  createdAt: number,
  over: number = createdAt,
): number {
  return Math.min(Math.max(createdAt, Math.ceil(over)) + ttl, born + maxLifetime);
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
