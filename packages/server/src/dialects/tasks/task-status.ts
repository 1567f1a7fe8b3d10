import { present } from '@mcp-saga/core/program';
import { isOpen, type TaskRecord, type TaskStatus } from './task-record.ts';
import { SagaHostError, publicMessageOf } from '../../wire/errors.ts';
import type { CompletedTurn, FailedTurn } from '../../model/turn.ts';
import { toToolResult } from '../../wire/tool-result.ts';
import type { Json } from '@mcp-saga/core';

const internalError = -32603;

// No client is told to come back later than this: it may want to show that something goes on.
const longestPoll = 30_000;

/** What every answer about a task has. */
export interface TaskFacts {
  readonly status: TaskStatus;
  readonly createdAt: number;
  readonly lastUpdatedAt: number;
  readonly expiresAt: number;
  /** When it goes on by itself, where it waits for that. */
  readonly due?: number | undefined;
  readonly message?: string | undefined;
}

/** A task as every answer about it has it. */
export function toWireTask(
  taskId: string,
  { status, createdAt, lastUpdatedAt, expiresAt, due, message }: TaskFacts,
  { pollInterval, now }: { readonly pollInterval: number; readonly now: number },
): { readonly [key: string]: unknown } {
  const wait = status === 'working' && due !== undefined ? Math.min(due - now, longestPoll) : 0;
  return {
    taskId,
    status,
    ...present({ statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(lastUpdatedAt).toISOString(),
    ttlMs: expiresAt - createdAt,
    pollIntervalMs: Math.max(pollInterval, Math.ceil(wait)),
  };
}

/** What `tasks/get` says beside that. */
export function detailsOf({ status, questions, result, error }: TaskRecord): {
  readonly [key: string]: unknown;
} {
  switch (status) {
    case 'input_required':
      return {
        inputRequests: Object.fromEntries(questions.filter(isOpen).map(({ key, request }) => [key, request])),
      };
    case 'completed':
      return { result };
    case 'failed':
      return { error };
    case 'working':
    case 'cancelled':
      return {};
  }
}

/** Ends a task with its last turn. A tool that fails has a result; `failed` is for errors of the server. */
export function endOf(
  saga: string,
  turn: CompletedTurn | FailedTurn,
): Pick<TaskRecord, 'status' | 'result' | 'error' | 'message'> {
  if (turn.status === 'failed' && turn.error instanceof SagaHostError && !turn.error.public)
    return failure(publicMessageOf(saga, turn.error));
  return {
    status: 'completed',
    // What a call would have got; a result inside a result is stamped by nobody else.
    result: { resultType: 'complete', ...toToolResult(saga, turn) },
  };
}

/** A task that the server fails. */
export function failure(message: string): Pick<TaskRecord, 'status' | 'error' | 'message'> {
  return { status: 'failed', error: { code: internalError, message }, message };
}

/** The identifier of the extension. */
export const tasksKey = 'io.modelcontextprotocol/tasks';

/** Whether a client that declared these capabilities knows tasks. */
export function declaresTasks(capabilities: Json | undefined): boolean {
  const { extensions } = Object(capabilities) as { readonly extensions?: unknown };
  const declared = (Object(extensions) as { readonly [key: string]: unknown })[tasksKey];
  return typeof declared === 'object' && declared !== null;
}

/** What `-32021` names where a client has to know tasks and does not. */
export const requiredCapabilities: { readonly extensions: { readonly [key: string]: object } } = {
  extensions: { [tasksKey]: {} },
};
