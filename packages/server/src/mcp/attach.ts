import { tasksKey } from '../dialects/tasks/task-status.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { attachCompletions } from './completions.ts';
import { attachMethods, methodsOf, toolsOf } from './attach-saga-methods.ts';
import { attachPrompts } from './prompts.ts';
import { attachResources } from './resources.ts';
import { type McpServerLike, setMethodHandler, type RequestContextLike } from './sdk.ts';
import { attachTaskMethods } from './attach-task-methods.ts';
import { extensionKey, toToolResult } from '../wire/tool-result.ts';
import { attachTools } from './tools.ts';
import { getStatus, resumableMethods, resumeRefused, resumeRequest } from '../dialects/resumable-requests.ts';
import type { Caller } from '../model/caller.ts';
import { toClientCall } from './to-client-call.ts';
import { withCaller } from './answer-call.ts';
import { toWireError } from '../wire/wire-error.ts';

/** How sagas are attached to one server. */
export interface AttachOptions {
  /** Handed to server steps as `context`: the bindings of this request, a database handle. Never journalled. */
  readonly context?: unknown;
  /** Keeps the runtime alive for tasks after the answer: `waitUntil` of Workers. Default: the work is only started. */
  readonly waitUntil?: (work: Promise<unknown>) => void;
}

const attached = new WeakSet<McpServerLike>();

/** Registers tools, prompts and resources, the saga methods, and the capability that announces them, on an `McpServer` of either version. */
export function attachSagas(host: SagaHostCore, server: McpServerLike, options: AttachOptions = {}): void {
  if (typeof server?.registerTool !== 'function' || typeof server.server?.setRequestHandler !== 'function') {
    throw new TypeError(
      'attach() needs an McpServer of @modelcontextprotocol/server or @modelcontextprotocol/sdk.',
    );
  }
  if (attached.has(server)) throw new TypeError('Sagas are attached to this server already.');
  if ((server as { isConnected?(): boolean }).isConnected?.() === true) {
    throw new TypeError('Attach sagas before the server is connected.');
  }
  attached.add(server);
  attachTools(host, server, options.context, options.waitUntil);
  attachPrompts(host, server, options.context);
  attachResources(host, server, options.context);
  attachCompletions(host, server, options.context);
  attachMethods(host, server, options.context);
  attachResumableRequests(host, server, options.context);
  const offersTasks = attachTaskMethods(host, server, options);
  const protocol = server.server as { registerCapabilities(capabilities: object): void };
  protocol.registerCapabilities({
    extensions: {
      [extensionKey]: { methods: methodsOf(toolsOf(host.sagas)) },
      ...(offersTasks ? { [tasksKey]: {} } : {}),
    },
  });
}

/** Registers `requests/resume` and `requests/getStatus`. */
function attachResumableRequests(host: SagaHostCore, server: McpServerLike, stepContext: unknown): void {
  const { clock } = host.timing;
  const { hooks } = host.observer;
  const register = (
    method: string,
    handle: (params: unknown, caller: Caller, context: RequestContextLike) => Promise<object>,
  ): void =>
    setMethodHandler(server, method, async (params, context) => {
      try {
        return await withCaller(server, context, { stepContext, clock }, (caller) =>
          handle(params, caller, context),
        );
      } catch (error) {
        throw toWireError(error, resumeRefused, hooks.onError);
      }
    });
  register(resumableMethods.resume, (params, caller, context) =>
    resumeRequest(host, params, caller, (saga, method) =>
      toClientCall(server, saga, {
        request: { method },
        args: undefined,
        context,
        caller,
        toResult: toToolResult,
      }),
    ),
  );
  register(resumableMethods.status, (params, caller) => getStatus(host, params, caller));
}
