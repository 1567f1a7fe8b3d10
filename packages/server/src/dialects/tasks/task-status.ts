import { present } from '@mcp-saga/core/program';
import { isOpen, type TaskRecord, type TaskStatus } from './task-record.ts';
import { SagaHostError, publicMessageOf } from '../../wire/errors.ts';
import type { CompletedTurn, FailedTurn } from '../../model/turn.ts';
import { toToolResult } from '../../wire/tool-result.ts';
import type { Json } from '@mcp-saga/core';

const internalError = -32603;

// Intervals of polling, in milliseconds. Clients may want to show activity.
const shortestPoll = 250;
const longestPoll = 10_000;
const longestWait = 30_000;

/** Facts in every response about a task. */
export interface TaskFacts {
  readonly status: TaskStatus;
  readonly createdAt: number;
  readonly lastUpdatedAt: number;
  readonly expiresAt: number;
  /** Time at which a waiting task continues. */
  readonly due?: number | undefined;
  readonly message?: string | undefined;
}

/**
 * Formats a task for the wire.
 *
 * The interval of polling is a quarter of the time since the status has changed, so that the end of a
 * short task is seen soon, and a long one costs few requests. A task that waits for a time is not
 * polled before.
 */
export function toWireTask(
  taskId: string,
  { status, createdAt, lastUpdatedAt, expiresAt, due, message }: TaskFacts,
  now: number,
): { readonly [key: string]: unknown } {
  const wait = status === 'working' && due !== undefined ? Math.min(due - now, longestWait) : 0;
  const grown = Math.min((now - lastUpdatedAt) / 4, longestPoll);
  return {
    taskId,
    status,
    ...present({ statusMessage: message }),
    createdAt: new Date(createdAt).toISOString(),
    lastUpdatedAt: new Date(lastUpdatedAt).toISOString(),
    ttlMs: expiresAt - createdAt,
    pollIntervalMs: Math.ceil(Math.max(shortestPoll, grown, wait)),
  };
}

/** Returns the further fields of `tasks/get`. */
export function detailsOf({ status, questions, result, error }: TaskRecord): {
  readonly [key: string]: unknown;
} {
  switch (status) {
    case 'input_required':
      return {
        inputRequests: Object.fromEntries(
          questions.filter(isOpen).map(({ key, request }) => [key, request]),
        ),
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

/**
 * Ends a task with its last turn. A failed tool has a result; `failed` is for errors of the server.
 */
export function endOf(
  saga: string,
  turn: CompletedTurn | FailedTurn,
): Pick<TaskRecord, 'status' | 'result' | 'error' | 'message'> {
  if (turn.status === 'failed' && turn.error instanceof SagaHostError && !turn.error.public)
    return failure(publicMessageOf(saga, turn.error));
  return {
    status: 'completed',
    // The result of the call. No other code sets the type of a nested result.
    result: { resultType: 'complete', ...toToolResult(saga, turn) },
  };
}

/** Ends a task with an error of the server. */
export function failure(message: string): Pick<TaskRecord, 'status' | 'error' | 'message'> {
  return { status: 'failed', error: { code: internalError, message }, message };
}

/** ID of the extension. */
export const tasksKey = 'io.modelcontextprotocol/tasks';

/** `true` if a client with these capabilities supports tasks. */
export function declaresTasks(capabilities: Json | undefined): boolean {
  const { extensions } = Object(capabilities) as { readonly extensions?: unknown };
  const declared = (Object(extensions) as { readonly [key: string]: unknown })[tasksKey];
  return typeof declared === 'object' && declared !== null;
}

/** Data of the error -32021 for clients without tasks. */
export const requiredCapabilities: { readonly extensions: { readonly [key: string]: object } } = {
  extensions: { [tasksKey]: {} },
};
