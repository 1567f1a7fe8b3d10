import { setTimeout } from 'node:timers/promises';
import type { CallToolResult } from '@mcp-saga/client';
import { type Client, ProtocolError } from '@modelcontextprotocol/client';
import * as z from 'zod';
import type { CommandIo } from '../model/command.ts';
import type { Answering } from '../terminal/person.ts';
import { answeringRequests } from './answer-requests.ts';

/** ID of the extension. */
export const tasksExtension = 'io.modelcontextprotocol/tasks';

const taskSchema = z.looseObject({
  taskId: z.string(),
  status: z.string(),
  statusMessage: z.string().optional(),
  pollIntervalMs: z.number().optional(),
  inputRequests: z.record(z.string(), z.looseObject({ method: z.string() })).optional(),
  result: z.custom<CallToolResult>().optional(),
  error: z.object({ code: z.number(), message: z.string() }).optional(),
});
/** Options of a request that may run for long: a tool decides how long it works. */
export const unhurried = { timeout: 86_400_000, resetTimeoutOnProgress: true } as const;

const anyResult = z.looseObject({});
const shortestWaitMs = 250;

/** Lets tasks through the client of the SDK, which accepts only complete results of a call. */
export function acceptTasks({ transport }: Client): void {
  const receive = transport?.onmessage;
  if (transport === undefined || receive === undefined) return;
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- an MCP transport is not an event target
  transport.onmessage = (message, extra) => {
    const { result } = { result: undefined, ...message } as {
      result?: Readonly<Record<string, unknown>>;
    };
    // With `isError`, the client does not check the output schema.
    const lifted = { content: [], isError: true, ...result, resultType: 'complete' };
    receive(
      result?.['resultType'] === 'task' ? ({ ...message, result: lifted } as never) : message,
      extra,
    );
  };
}

/**
 * Follows a task to the result of its call. Cancels the task after Ctrl-C, or without an answer.
 * Returns a result without a task unchanged.
 */
export async function followTask(
  client: Client,
  called: CallToolResult,
  answer: Answering,
  { note, signal }: CommandIo,
): Promise<CallToolResult> {
  let { data: task } = taskSchema.safeParse(called);
  if (task === undefined) {
    note('The server answered without a task.');
    return called;
  }
  const { taskId } = task;
  const answered = answeringRequests(answer);
  const known = new Set<string>();
  let shown = '';
  let isAsking = false;
  try {
    while (!['completed', 'failed', 'cancelled'].includes(task.status)) {
      const { status, statusMessage, inputRequests = {} } = task;
      const line = `task: ${status}${statusMessage === undefined ? '' : `, ${statusMessage}`}`;
      if (line !== shown) note((shown = line));
      const open = Object.entries(inputRequests).filter(([key]) => !known.has(key));
      const inputResponses: Record<string, object> = {};
      isAsking = true;
      for (const [key, { method, params }] of open) {
        // A repeated question has another key: `confirm~2`.
        inputResponses[key] = await answered(method, params, key.replace(/~\d+$/, ''));
        known.add(key);
      }
      isAsking = false;
      const update = { method: 'tasks/update', params: { taskId, inputResponses } };
      if (open.length > 0) await client.request(update, anyResult, { signal });
      else await waited(task.pollIntervalMs, signal);
      task = await client.request({ method: 'tasks/get', params: { taskId } }, taskSchema, {
        signal,
      });
    }
  } catch (error) {
    // A task outlives a lost connection.
    const cancel = { method: 'tasks/cancel', params: { taskId } };
    const isOver = isAsking || signal.aborted;
    const sent = isOver && client.request(cancel, anyResult, { timeout: 5_000 }).catch(() => false);
    note(
      (await sent)
        ? 'Asked the server to cancel the task.'
        : 'The task may continue: it was not cancelled.',
    );
    throw error;
  }
  const { statusMessage = `The task is ${task.status}.`, result, error } = task;
  if (result !== undefined) return result;
  throw new ProtocolError(error?.code ?? -32_603, error?.message ?? statusMessage);
}

/** Waits before the next request: never for zero, and no longer than a timer can. */
export async function waited(ms: number | undefined, signal: AbortSignal): Promise<void> {
  await setTimeout(Math.min(Math.max(ms ?? 0, shortestWaitMs), unhurried.timeout), undefined, {
    signal,
  });
}
