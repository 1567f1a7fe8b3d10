import { maxAnswers } from '../../model/host-limits.ts';
import { isRecord, present } from '@mcp-saga/core/program';
import type { Json } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import { toJson } from '../../wire/step-answers.ts';
import type { Caller } from '../../model/caller.ts';
import { reportCannotContinue, type OpenSaga } from '../../token/resolve-program.ts';
import { atAnyTime } from '../../token/sealed-saga.ts';
import { invalidField } from '../../wire/errors.ts';
import { type HostParts, type Observer, mayHaveUndos } from '../../settings/host-parts.ts';
import type { WireRequest } from '../../model/call-types.ts';
import { drive, isDue } from './drive-task.ts';
import { elapse } from '../../turn/elapse.ts';
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

/** Request for a task. */
export interface TaskRequest {
  readonly host: HostParts;
  readonly tasks: TaskSettings;
  readonly taskId: string;
  readonly caller: Caller;
  readonly inputResponses: unknown;
  notify(notification: WireRequest): Promise<void>;
  waitUntil(work: Promise<unknown>): void;
}

/** `tasks/get`: returns the state of a task. Due work runs after the response, never before it. */
export async function getTask(request: TaskRequest): Promise<object> {
  const { host, tasks, taskId } = request;
  const opened = await openTaskId(host, request);
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

/**
 * `tasks/update`: takes answers to questions of a task. Other answers are ignored, as MCP requires.
 */
export async function updateTask(request: TaskRequest): Promise<object> {
  const { host, inputResponses } = request;
  const opened = await openTaskId(host, request);
  const sent = toResponses(inputResponses);
  // A task without a store asks no questions.
  if (opened.saga !== undefined) {
    reportUnknown(host.observer, opened, [...sent.keys()]);
    return {};
  }
  const task = stored(request, opened);
  const unknown = new Set<string>();
  const changed = await changeRecord(task, (record) => {
    const open =
      record.isCancelled === true ? [] : record.questions.filter(isOpen).map(({ key }) => key);
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

/** `tasks/cancel`: ends a task, and undoes its saga. */
export async function cancelTask(request: TaskRequest): Promise<object> {
  const { host } = request;
  const opened = await openTaskId(host, request);
  // Without a store, a cancellation is ignored, as MCP allows: the task only waits.
  if (opened.saga !== undefined) return {};
  const task = stored(request, opened);
  const looked = await readRecord(task);
  const undoes = await mayUndo(host, looked);
  const changed = await changeRecord(task, (record) => {
    if (isOver(record) || record.isCancelled === true) return undefined;
    // Nothing has to be undone. A running turn aborts when its lease is gone.
    if (!undoes && record.undoes !== true && record.token === looked?.token)
      return ended({ status: 'cancelled' })(record);
    return { ...record, isCancelled: true, due: host.timing.clock() };
  });
  if (changed !== undefined && !isOver(changed)) request.waitUntil(drive(task, request.caller));
  return {};
}

/** `true` if a task may have steps to undo. The saga may have continued as another one. */
async function mayUndo(host: HostParts, record: TaskRecord | undefined): Promise<boolean> {
  if (record?.token === undefined) return false;
  const { claims } = await host.keys.sealer.open(record.token, { purpose: 'token', ...atAnyTime });
  const { name, version } = claims.saga;
  const program = host.registry.version(name, version, host.timing.clock());
  // The declaration of a removed version is unknown.
  return program === undefined || mayHaveUndos(host, program);
}

function stored({ host, tasks }: TaskRequest, { sagaId, claims }: OpenTaskId): StoredTaskRef {
  // The store was removed since.
  if (tasks.store === undefined) throw new TokenRefused('used');
  return { host, store: tasks.store, sagaId, claims };
}

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
  if (elapsed.status === 'unavailable') {
    reportCannotContinue(host.observer, opened.saga, elapsed.error);
    return record;
  }
  // At its creation, the task only waited. The code has changed since.
  host.observer.hooks.onWarning(
    `A task of saga '${claims.saga.name}' without a store needs a step or an answer since its code changed. Set ` +
      'tasks: { store }.',
  );
  return { ...record, ...failure(`'${claims.saga.name}' cannot continue.`) };
}

/** Reports progress since the last report, under the progress token of the call. */
async function tellProgress(
  request: TaskRequest,
  task: StoredTaskRef,
  record: TaskRecord,
): Promise<void> {
  const { progress } = record;
  if (
    progress?.value === undefined ||
    progress.value <= (progress.told ?? Number.NEGATIVE_INFINITY)
  )
    return;
  const { token, value, total, message } = progress;
  // Of two requests at once, one reports.
  const told = await changeRecord(task, (now) =>
    now.progress?.value === value && now.progress.told === progress.told
      ? { ...now, progress: { ...now.progress, told: value } }
      : undefined,
  );
  if (told === undefined) return;
  const params = { progressToken: token, progress: value, ...present({ total, message }) };
  await request
    .notify({ method: 'notifications/progress', params })
    .catch(request.host.observer.hooks.onError);
}

function toResponses(inputResponses: unknown): ReadonlyMap<string, Json> {
  if (!isRecord(inputResponses)) throw invalidField('inputResponses: expected an object');
  const entries = Object.entries(inputResponses);
  if (entries.length > maxAnswers)
    throw invalidField(`inputResponses: more than ${maxAnswers} step results`);
  return new Map(entries.map(([key, value]) => [key, toJson(value, 'inputResponses')]));
}

function reportUnknown(
  { hooks }: Observer,
  { claims, sagaId }: OpenTaskId,
  keys: readonly string[],
): void {
  for (const stepId of keys)
    hooks.onIgnoredAnswer({ stepId, why: 'unknown', saga: claims.saga.name, sagaId });
}
