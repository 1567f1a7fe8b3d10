import { maxAnswers } from '../../model/host-limits.ts';
import { isRecord, present } from '@mcp-saga/core/program';
import type { Json } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import { toJson } from '../../wire/step-answers.ts';
import type { Caller } from '../../model/caller.ts';
import { invalidField } from '../../wire/errors.ts';
import type { HostParts, Observer } from '../../settings/host-parts.ts';
import type { WireRequest } from '../../model/call-types.ts';
import { drive, isDue } from './drive-task.ts';
import type { TaskSettings } from '../../settings/task-settings.ts';
import {
  changeRecord,
  isOpen,
  isOver,
  readRecord,
  type StoredTaskRef,
  type TaskRecord,
} from './task-record.ts';
import { detailsOf, toWireTask } from './task-status.ts';
import { openTaskId, type TaskIdentity } from './task-id.ts';

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
  const task = { host, store: tasks.store, ...opened };
  const record = await readRecord(task);
  if (record === undefined) throw new TokenRefused('used');
  if (isDue(record, now)) request.waitUntil(drive(task, request.caller));
  await tellProgress(request, task, record);
  return { ...toWireTask(taskId, record, now), ...detailsOf(record) };
}

/**
 * `tasks/update`: takes answers to questions of a task. Other answers are ignored, as MCP requires.
 */
export async function updateTask(request: TaskRequest): Promise<object> {
  const { host, tasks, inputResponses } = request;
  const opened = await openTaskId(host, request);
  const sent = toResponses(inputResponses);
  const task = { host, store: tasks.store, ...opened };
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
  const { host, tasks } = request;
  const task = { host, store: tasks.store, ...(await openTaskId(host, request)) };
  const changed = await changeRecord(task, (record) =>
    isOver(record) || record.isCancelled === true
      ? undefined
      : { ...record, isCancelled: true, due: host.timing.clock() },
  );
  if (changed !== undefined) request.waitUntil(drive(task, request.caller));
  return {};
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
  { claims, sagaId }: TaskIdentity,
  keys: readonly string[],
): void {
  for (const stepId of keys)
    hooks.onIgnoredAnswer({ stepId, why: 'unknown', saga: claims.saga.name, sagaId });
}
