import type { Program, Schema } from '@mcp-saga/core';
import { callSaga, cancelSaga, resumeSaga, sagaMethods } from '../dialects/saga-methods.ts';
import type { Caller } from '../host/caller.ts';
import type { SagaHostCore } from '../host/host.ts';
import { memoised } from './memoised-schema.ts';
import { isVersion2, setMethodHandler, toCaller, type McpServerLike } from './sdk.ts';
import { extensionKey } from './tool-result.ts';
import { sagaTokenRefused, toWireError } from './wire-error.ts';

/** How sagas are attached to one server. */
export interface AttachOptions {
  /** Handed to server steps as `context`: the bindings of this request, a database handle. Never journalled. */
  readonly context?: unknown;
}

type Method = (host: SagaHostCore, params: unknown, caller: Caller) => Promise<object>;

const attached = new WeakSet<McpServerLike>();

/** Registers the tools, the saga methods, and the capability that announces them, on an `McpServer` of either version. */
export function attachSagas(host: SagaHostCore, server: McpServerLike, options: AttachOptions = {}): void {
  if (typeof server?.registerTool !== 'function' || typeof server.server?.setRequestHandler !== 'function') {
    throw new TypeError(
      'attach() needs an McpServer of @modelcontextprotocol/server or @modelcontextprotocol/sdk.',
    );
  }
  if (attached.has(server)) throw new TypeError('Sagas are attached to this server already.');
  if ((server as { isConnected?(): boolean }).isConnected?.() === true) {
    throw new TypeError('Attach sagas before the server is connected: clients are told once what it offers.');
  }
  attached.add(server);
  for (const saga of host.sagas) registerTool(server, saga);
  const register = (method: string, handle: Method): void =>
    setMethodHandler(server, method, async (params, context) => {
      try {
        return await handle(host, params, toCaller(server, context, options.context));
      } catch (error) {
        throw toWireError(error, sagaTokenRefused, host.settings.hooks.onError);
      }
    });
  register(sagaMethods.call, callSaga);
  register(sagaMethods.resume, resumeSaga);
  register(sagaMethods.cancel, cancelSaga);
  const protocol = server.server as { registerCapabilities(capabilities: object): void };
  protocol.registerCapabilities({
    extensions: { [extensionKey]: { methods: methodsOf(host.sagas) } },
  });
}

function registerTool(server: McpServerLike, saga: Program): void {
  const { name, title, description, input, output, annotations } = saga;
  // Version 1 takes the schema apart; version 2 asks it for its JSON Schema, again for each server.
  const listed = (schema: Schema): Schema => (isVersion2(server) ? memoised(schema) : schema);
  const config = {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(input === undefined ? {} : { inputSchema: listed(input) }),
    ...(output === undefined ? {} : { outputSchema: listed(output) }),
    ...(annotations === undefined ? {} : { annotations }),
    _meta: { [extensionKey]: { methods: methodsOf([saga]) } },
  };
  const tools = server as { registerTool(name: string, config: object, callback: unknown): unknown };
  const refuse = (): object => ({
    isError: true,
    content: [
      {
        type: 'text',
        text: `'${name}' asks questions on its way: it is called with ${sagaMethods.call} and ${sagaMethods.resume}.`,
      },
    ],
  });
  tools.registerTool(name, config, refuse);
}

/** The methods that some of these sagas offer: to cancel one, its author must have said what forks may do. (E7) */
function methodsOf(sagas: readonly Program[]): readonly string[] {
  const { call, resume, cancel } = sagaMethods;
  return sagas.some(({ forks }) => forks !== undefined) ? [call, resume, cancel] : [call, resume];
}
