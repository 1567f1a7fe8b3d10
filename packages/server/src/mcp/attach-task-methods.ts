import { TokenRefused } from '@mcp-saga/seal';
import { declaresTasks, requiredCapabilities } from '../dialects/tasks/task-status.ts';
import {
  cancelTask,
  getTask,
  updateTask,
  type TaskRequest,
} from '../dialects/tasks/task-methods.ts';
import { hostFor, type SagaHostCore } from '../requests/host.ts';
import { clientFactsOf } from './answer-call.ts';
import { isVersion2, notifierOf, setMethodHandler, toCaller, type McpServerLike } from './sdk.ts';
import { toWireError, WireError, type FrozenAnswer } from '../wire/wire-error.ts';

const methodNotFound = -32601;

const missingCapability = -32021;

const taskRefused: FrozenAnswer = { message: 'Unknown or expired task', reason: 'invalid_task_id' };

/**
 * Registers the methods of tasks. Returns `false` if tasks are not offered: version 1 of the SDK
 * has other tasks.
 */
export function attachTaskMethods(
  host: SagaHostCore,
  server: McpServerLike,
  waitUntil: (work: Promise<unknown>) => void = () => undefined,
): boolean {
  const { tasks } = host.offers;
  if (tasks === undefined || !isVersion2(server)) return false;
  const register = (method: string, handle: (request: TaskRequest) => Promise<object>): void =>
    setMethodHandler(server, method, async (params, context) => {
      const client = clientFactsOf(server, context);
      if (client.era === 'legacy') throw new WireError(methodNotFound, 'Method not found');
      if (!declaresTasks(client.capabilities)) {
        const text = `${method} requires a client that declares the extension of tasks.`;
        throw new WireError(missingCapability, text, { requiredCapabilities });
      }
      try {
        const caller = toCaller(host, server, context);
        return await handle({
          host: await hostFor(host, caller),
          tasks,
          // Checked when the host opens it.
          taskId: (Object(params) as { readonly taskId?: unknown }).taskId as string,
          caller,
          inputResponses: context.mcpReq?.inputResponses,
          notify: notifierOf(context),
          waitUntil,
        });
      } catch (error) {
        if (error instanceof TokenRefused) host.observer.reject(error.reason);
        throw toWireError(error, taskRefused, host.observer.hooks.onError);
      }
    });
  register('tasks/get', getTask);
  register('tasks/update', updateTask);
  register('tasks/cancel', cancelTask);
  return true;
}
