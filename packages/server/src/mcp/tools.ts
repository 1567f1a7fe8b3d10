import { present } from '@mcp-saga/core/program';
import { InvalidInput, type Program, type Schema, type ToolResult } from '@mcp-saga/core';
import type { ClientCall, ListedTool } from '../model/client-call.ts';
import { toResumable } from '../dialects/resumable-tool.ts';
import { NeedsMissing, SagaHostError } from '../wire/errors.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { acceptsModel } from '../turn/answer-routes.ts';
import { answerCall, withCaller } from './answer-call.ts';
import { toClientCall } from './to-client-call.ts';
import { intercept, type RequestLike } from './intercept.ts';
import { methodsOf, toolsOf } from './attach-saga-methods.ts';
import { isVersion2, type ClientSource, type McpServerLike, type RequestContextLike } from './sdk.ts';
import { extensionKey, toToolResult } from '../wire/tool-result.ts';

/** Registers sagas as the tools they are: `tools/list` shows them, `tools/call` is answered in the client's dialect. */
export function attachTools(
  host: SagaHostCore,
  server: McpServerLike,
  stepContext: unknown,
  waitUntil?: (work: Promise<unknown>) => void,
): void {
  const sagas = new Map(toolsOf(host.sagas).map((saga) => [saga.name, saga]));
  if (sagas.size === 0) return;
  for (const saga of sagas.values()) registerTool(server, saga);
  intercept(server, 'tools/list', async (request, context, next) => {
    const listed = (await next(request, context)) as { readonly tools: readonly ListedTool[] };
    return {
      ...listed,
      tools: listed.tools.map((tool) => {
        const saga = sagas.get(tool.name);
        if (saga === undefined) return tool;
        const { icons } = saga;
        // Version 1 drops them when a tool is registered.
        const shown = icons === undefined ? tool : { ...tool, icons };
        // Any call may end before its saga, except a call that runs only as a task.
        if (saga.task === 'require') return shown;
        return toResumable(shown, acceptsModel({ host, program: saga }));
      }),
    };
  });
  intercept(server, 'tools/call', async (request, context, next) => {
    const name = request.params?.['name'];
    const saga = typeof name === 'string' ? sagas.get(name) : undefined;
    if (saga === undefined) return await next(request, context);
    return await callTool(host, server, { saga, request, context, stepContext, waitUntil });
  });
}

/** A `tools/call` of a saga. */
export interface ToolCall {
  readonly saga: Program;
  readonly request: RequestLike;
  readonly context: RequestContextLike;
  readonly stepContext: unknown;
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined;
}

/** Answers a `tools/call` of a saga in the dialect of its client. */
export async function callTool(host: SagaHostCore, client: ClientSource, call: ToolCall): Promise<object> {
  const { saga, request, context, stepContext, waitUntil } = call;
  const { clock } = host.timing;
  const args = request.params?.['arguments'];
  return await withCaller(client, context, { stepContext, clock }, (caller) =>
    answerCall(
      host,
      toClientCall(client, saga, { request, args, context, caller, toResult: toToolResult, waitUntil }),
      toErrorResult,
    ),
  );
}

/** Converts errors that the model can fix or must know to results, since clients do not show it JSON-RPC errors. */
function toErrorResult(error: unknown, { client }: ClientCall): ToolResult | undefined {
  const isModels =
    (error instanceof SagaHostError && error.cause instanceof InvalidInput) ||
    // Before 2026-07-28 there is no error for a capability that is missing.
    (error instanceof NeedsMissing && client.era === 'legacy');
  return isModels ? { isError: true, content: [{ type: 'text', text: error.message }] } : undefined;
}

function registerTool(server: McpServerLike, saga: Program): void {
  const { name, title, description, input, output, annotations, expectedDurationMs, _meta: meta } = saga;
  // Version 1 takes the schema apart; version 2 asks it for its JSON Schema, again for each server.
  const listed = (schema: Schema): Schema => (isVersion2(server) ? memoised(schema) : schema);
  const config = {
    ...present({ title, description }),
    ...(input === undefined ? {} : { inputSchema: listed(input) }),
    ...(output === undefined ? {} : { outputSchema: listed(output) }),
    ...present({ annotations }),
    _meta: {
      ...meta,
      [extensionKey]: {
        methods: methodsOf([saga]),
        ...present({ expectedDurationMs }),
      },
    },
  };
  const tools = server as { registerTool(name: string, config: object, callback: unknown): unknown };
  tools.registerTool(name, config, () => {
    throw new TypeError(`'${name}' is a saga: its calls are answered before they come here.`);
  });
}

const memoisedSchemas = new WeakMap<Schema, Schema>();

/** Derives the JSON Schema once. The SDK asks each new server for it, which would take half of a small call. */
function memoised(schema: Schema): Schema {
  const known = memoisedSchemas.get(schema);
  if (known !== undefined) return known;
  const standard = schema['~standard'];
  const { jsonSchema } = standard;
  if (jsonSchema === undefined) return schema;
  const made: Schema = {
    '~standard': {
      ...standard,
      jsonSchema: { input: once(jsonSchema.input), output: once(jsonSchema.output) },
    },
  };
  memoisedSchemas.set(schema, made);
  return made;
}

function once<O extends { readonly target: string }, R>(derive: (options: O) => R): (options: O) => R {
  const made = new Map<string, R>();
  return (options) => {
    const key = JSON.stringify(options);
    let schema = made.get(key);
    if (schema === undefined) {
      schema = derive(options);
      made.set(key, schema);
    }
    return schema;
  };
}
