import { present } from '@mcp-saga/core/program';
import type { Json } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import { toJson } from '../../wire/step-answers.ts';
import type { Caller } from '../../model/caller.ts';
import { reportCannotContinue, type OpenSaga } from '../../token/resolve-program.ts';
import { SagaHostError } from '../../wire/errors.ts';
import type { HostParts, Observer } from '../../settings/host-parts.ts';
import type { WireRequest } from '../../model/client-call.ts';
import { drive, isDue } from './drive-task.ts';
import { elapse } from './elapse-task.ts';
import type { TaskSettings } from '../../settings/task-settings.ts';
import {
  changeRecord,
  isOpen,
  isOver,
  readRecord,
  type StoredTaskRef,
  type TaskRecord,
} from './task-record.ts';
import { detailsOf, endOf, failure, toWireTask } from './task-status.ts';
import { ended } from './task-turn.ts';
import { openTaskId, type OpenTaskId } from './task-id.ts';

/** A request about a task. */
export interface TaskRequest {
  readonly host: HostParts;
  readonly tasks: TaskSettings;
  readonly taskId: string;
  readonly caller: Caller;
  readonly inputResponses: unknown;
  notify(notification: WireRequest): Promise<void>;
  waitUntil(work: Promise<unknown>): void;
}

/** `tasks/get`: how far a task is. What is due in it is run beside the answer, never for it. (W7) */
export async function getTask(request: TaskRequest): Promise<object> {
  const { host, tasks, taskId } = request;
  const opened = await openedBy(request);
  const now = host.timing.clock();
  const facts = { pollInterval: tasks.pollInterval, now };
  if (opened.saga !== undefined) {
    const record = await recordOf(host, opened.saga, now);
    return { ...toWireTask(taskId, record, facts), ...detailsOf(record) };
  }
  const task = stored(request, opened);
  const record = await readRecord(task);
  if (record === undefined) throw new TokenRefused('used');
  if (isDue(record, now)) request.waitUntil(drive(task, request.caller));
  await tellProgress(request, task, record);
  return { ...toWireTask(taskId, record, facts), ...detailsOf(record) };
}

/** `tasks/update`: answers to questions of a task. Answers to what it does not ask are ignored, as MCP has it. */
export async function updateTask(request: TaskRequest): Promise<object> {
  const { host, inputResponses } = request;
  const opened = await openedBy(request);
  const sent = toResponses(inputResponses, host.limits.maxAnswers);
  // Without a store a task asks nothing.
  if (opened.saga !== undefined) {
    reportUnknown(host.observer, opened, [...sent.keys()]);
    return {};
  }
  const task = stored(request, opened);
  const unknown = new Set<string>();
  const changed = await changeRecord(task, (record) => {
    const open = record.isCancelled === true ? [] : record.questions.filter(isOpen).map(({ key }) => key);
    unknown.clear();
    for (const key of sent.keys()) if (!open.includes(key)) unknown.add(key);
    if (isOver(record) || unknown.size === sent.size) return undefined;
    const questions = record.questions.map((question) => {
      const result = open.includes(question.key) ? sent.get(question.key) : undefined;
      return result === undefined ? question : { ...question, answer: { result } };
    });
    return { ...record, questions, due: host.timing.clock() };
  });
  reportUnknown(host.observer, opened, [...unknown]);
  if (changed !== undefined) request.waitUntil(drive(task, request.caller));
  return {};
}

/** `tasks/cancel`: asks a task to end. What it did is undone where its author said that this may be. (E7) */
export async function cancelTask(request: TaskRequest): Promise<object> {
  const { host } = request;
  const opened = await openedBy(request);
  // Without a store there is nowhere to note it. MCP obliges nobody to stop: it only waits, and does nothing.
  if (opened.saga !== undefined) return {};
  const task = stored(request, opened);
  const looked = await readRecord(task);
  const undoes = await mayUndo(host, looked);
  const changed = await changeRecord(task, (record) => {
    if (isOver(record) || record.isCancelled === true) return undefined;
    // Nothing is to be undone: what runs is aborted when its lease is found to be gone.
    if (!undoes && record.undoes !== true && record.token === looked?.token)
      return ended({ status: 'cancelled' })(record);
    return { ...record, isCancelled: true, due: host.timing.clock() };
  });
  if (changed !== undefined && !isOver(changed)) request.waitUntil(drive(task, request.caller));
  return {};
}

/** Whether a task may have something to undo: as the saga that it is now, which may be another one than was called. */
async function mayUndo(host: HostParts, record: TaskRecord | undefined): Promise<boolean> {
  if (record?.token === undefined) return false;
  const { claims } = await host.keys.sealer.open(record.token, {
    purpose: 'token',
    ignoreExpiry: true,
    allowFuture: true,
  });
  const { name, version } = claims.saga;
  const program = host.registry.version(name, version, host.timing.clock());
  // What a version that is gone had declared, nobody knows.
  return program === undefined || program.forks !== undefined;
}

async function openedBy({ host, tasks, taskId, caller }: TaskRequest): Promise<OpenTaskId> {
  return await openTaskId(host, tasks, taskId, caller);
}

function stored({ host, tasks }: TaskRequest, { sagaId, claims }: OpenTaskId): StoredTaskRef {
  // The store was taken away since.
  if (tasks.store === undefined) throw new TokenRefused('used');
  return { host, store: tasks.store, sagaId, claims };
}

/** A task that its id is all there is of, as if it had been kept. */
async function recordOf(host: HostParts, opened: OpenSaga, now: number): Promise<TaskRecord> {
  const { claims } = opened.saga;
  const elapsed = await elapse(host, opened, now);
  const record: TaskRecord = {
    createdAt: claims.iat,
    lastUpdatedAt: elapsed.status === 'over' ? Math.ceil(elapsed.at) : claims.iat,
    expiresAt: claims.exp,
    status: 'working',
    origin: '',
    client: { asks: [] },
    questions: [],
    keys: [],
  };
  if (elapsed.status === 'waits') return { ...record, due: elapsed.due };
  if (elapsed.status === 'over') return { ...record, ...endOf(claims.saga.name, elapsed.turn) };
  if (elapsed.status === 'left') {
    reportCannotContinue(host.observer, opened.saga, elapsed.error);
    return record;
  }
  // When it was made, it only had to wait: its code is another one now.
  host.observer.hooks.onWarning(
    `A task of saga '${claims.saga.name}' that was made without a store has something to run or to ask now. Give ` +
      'the host tasks: { store } for tasks that do more than wait.',
  );
  return { ...record, ...failure(`'${claims.saga.name}' cannot go on.`) };
}

/** Tells progress that rose since it was told last, under the token of the call. (W5) */
async function tellProgress(request: TaskRequest, task: StoredTaskRef, record: TaskRecord): Promise<void> {
  const { progress } = record;
  if (progress?.value === undefined || progress.value <= (progress.told ?? Number.NEGATIVE_INFINITY)) return;
  const { token, value, total, message } = progress;
  // Of two that ask at once, one tells.
  const told = await changeRecord(task, (now) =>
    now.progress?.value === value && now.progress.told === progress.told
      ? { ...now, progress: { ...now.progress, told: value } }
      : undefined,
  );
  if (told === undefined) return;
  const params = {
    progressToken: token,
    progress: value,
    ...present({ total, message }),
  };
  await request
    .notify({ method: 'notifications/progress', params })
    .catch(request.host.observer.hooks.onError);
}

function toResponses(inputResponses: unknown, maxAnswers: number): ReadonlyMap<string, Json> {
  if (typeof inputResponses !== 'object' || inputResponses === null || Array.isArray(inputResponses))
    throw new SagaHostError('invalid_params', 'Invalid params: inputResponses: expected an object');
  const entries = Object.entries(inputResponses as { readonly [key: string]: unknown });
  if (entries.length > maxAnswers)
    throw new SagaHostError('invalid_params', `Invalid params: inputResponses: more than ${maxAnswers}`);
  return new Map(entries.map(([key, value]) => [key, toJson(value, 'inputResponses')]));
}

function reportUnknown({ hooks }: Observer, { claims, sagaId }: OpenTaskId, keys: readonly string[]): void {
  for (const stepId of keys)
    hooks.onIgnoredAnswer({ stepId, why: 'unknown', saga: claims.saga.name, sagaId });
}
