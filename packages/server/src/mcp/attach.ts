/**
 * Sagas on an `McpServer` of either SDK, which is known by its structure and never imported. Each
 * saga becomes a tool, a prompt, or a resource; the saga methods and the tasks get handlers of
 * their own. `answer-call.ts` makes a `ClientCall` of a request, in the terms of no SDK, and lets
 * its dialect answer.
 */
import type { Program } from '@mcp-saga/core';
import { optionError, type NamesOf } from '@mcp-saga/core/shared';
import { tasksKey } from '../dialects/tasks/task-status.ts';
import { forInvocation, hostFor, type SagaHostCore } from '../requests/host.ts';
import { attachCompletions } from './completions.ts';
import { countsAllKeys } from '../requests/start-name.ts';
import { attachMethods, methodsOf, toolsOf } from './attach-saga-methods.ts';
import { attachPrompts } from './prompts.ts';
import { attachResources } from './resources.ts';
import {
  type McpServerLike,
  readResumableRequests,
  setMethodHandler,
  type RequestContextLike,
} from './sdk.ts';
import { attachTaskMethods } from './attach-task-methods.ts';
import { extensionKey, toToolResult } from '../wire/tool-result.ts';
import { attachTools } from './tools.ts';
import {
  getStatus,
  resumableMethods,
  resumeRefused,
  resumeRequest,
} from '../dialects/resumable-requests.ts';
import type { Caller } from '../model/caller.ts';
import { withCaller, toClientCall } from './answer-call.ts';
import { assertKnown } from '../settings/known-options.ts';
import { toWireError } from '../wire/wire-error.ts';

/** Options of `host.attach`. */
export interface AttachOptions {
  /** Environment of the runtime, such as the bindings of a Worker, for `services` of the host. */
  readonly env?: unknown;
  /**
   * Keeps the runtime alive for tasks after the response, such as `waitUntil` of Workers. Default:
   * the work is only started.
   */
  readonly waitUntil?: (work: Promise<unknown>) => void;
}

const attachNames: NamesOf<AttachOptions> = { env: true, waitUntil: true };

const attached = new WeakSet<McpServerLike>();

/**
 * Registers tools, prompts, resources, the saga methods, and their capability on an `McpServer` of
 * version 1 or 2.
 * @param tools - sagas to register as tools, for a server that lives for one request. Default: all
 */
export function attachSagas(
  core: SagaHostCore,
  server: McpServerLike,
  options: AttachOptions = {},
  tools: readonly Program[] = toolsOf(core.sagas),
): void {
  assertKnown('', options, attachNames);
  if (
    typeof server?.registerTool !== 'function' ||
    typeof server.server?.setRequestHandler !== 'function'
  ) {
    throw optionError(
      'attach() needs an McpServer of @modelcontextprotocol/server or @modelcontextprotocol/sdk.',
    );
  }
  if (attached.has(server))
    throw optionError('The server already has sagas. Call attach() once per server.');
  if ((server as { isConnected?(): boolean }).isConnected?.() === true) {
    throw optionError('The server is already connected. Call attach() before connect().');
  }
  attached.add(server);
  const { env, waitUntil } = options;
  const host = forInvocation(core, { env, waitUntil });
  attachTools(host, server, tools, waitUntil);
  attachPrompts(host, server);
  attachResources(host, server);
  attachCompletions(host, server);
  attachMethods(host, server);
  attachResumableRequests(host, server);
  const offersTasks = attachTaskMethods(host, server, waitUntil);
  const protocol = server.server as { registerCapabilities(capabilities: object): void };
  protocol.registerCapabilities({
    extensions: {
      [extensionKey]: {
        methods: methodsOf(host, toolsOf(host.sagas)),
        ...(countsAllKeys(host) ? { idempotencyKeys: true } : {}),
      },
      ...(offersTasks ? { [tasksKey]: {} } : {}),
    },
  });
}

function attachResumableRequests(host: SagaHostCore, server: McpServerLike): void {
  readResumableRequests(server);
  const { hooks } = host.observer;
  const register = (
    method: string,
    handle: (
      keyed: SagaHostCore,
      params: unknown,
      caller: Caller,
      context: RequestContextLike,
    ) => Promise<object>,
  ): void =>
    setMethodHandler(server, method, async (params, context) => {
      try {
        return await withCaller(host, server, context, async (caller) =>
          handle(await hostFor(host, caller), params, caller, context),
        );
      } catch (error) {
        throw toWireError(error, resumeRefused, hooks.onError);
      }
    });
  register(resumableMethods.resume, (keyed, params, caller, context) =>
    resumeRequest(keyed, params, caller, (saga, method) =>
      toClientCall(server, { saga, request: { method }, context, toResult: toToolResult }, caller),
    ),
  );
  register(resumableMethods.status, (keyed, params, caller) => getStatus(keyed, params, caller));
}
