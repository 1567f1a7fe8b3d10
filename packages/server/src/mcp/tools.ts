import { present, toJsonSchema } from '@mcp-saga/core/program';
import { InvalidInput, type Program, type Schema, type ToolResult } from '@mcp-saga/core';
import type { ClientCall, ListedTool } from '../model/call-types.ts';
import { InvalidAnswers } from '../dialects/parts/model-arguments.ts';
import { NeedsMissing, SagaHostError } from '../wire/errors.ts';
import type { SagaHostCore } from '../requests/host.ts';
import { answerCall, type CallOfClient } from './answer-call.ts';
import { methodsOf, toolNamed } from './attach-saga-methods.ts';
import { isVersion2, type ClientSource, type McpServerLike, intercept } from './sdk.ts';
import { mayEndUnfinished, resultSchemaOf } from '../wire/result-schema.ts';
import { extensionKey, toToolResult } from '../wire/tool-result.ts';

/**
 * Registers tool sagas: `tools/list` lists them, and `tools/call` is answered in the dialect of the
 * client.
 * @param tools - sagas that the server may list, or is asked about
 */
export function attachTools(
  host: SagaHostCore,
  server: McpServerLike,
  tools: readonly Program[],
  waitUntil?: (work: Promise<unknown>) => void,
): void {
  if (tools.length === 0) return;
  for (const saga of tools) registerTool(host, server, saga);
  intercept(server, 'tools/list', async (request, context, next) => {
    const sagas = new Map(tools.map((saga) => [saga.name, saga]));
    const listed = (await next(request, context)) as { readonly tools: readonly ListedTool[] };
    return {
      ...listed,
      tools: listed.tools.map((tool) => {
        const saga = sagas.get(tool.name);
        if (saga === undefined) return tool;
        const { icons } = saga;
        // Version 1 drops icons when a tool is registered.
        const shown = withSchemas(icons === undefined ? tool : { ...tool, icons }, saga);
        if (!mayEndUnfinished(saga)) return shown;
        return toResumable(shown, host.answerers.model === 'accept');
      }),
    };
  });
  intercept(server, 'tools/call', async (request, context, next) => {
    const saga = toolNamed(host, request.params?.['name']);
    if (saga === undefined) return await next(request, context);
    return await callTool(host, server, { saga, request, context, waitUntil });
  });
}

/** Answers a `tools/call` of a saga in the dialect of its client. */
export async function callTool(
  host: SagaHostCore,
  client: ClientSource,
  call: Omit<CallOfClient, 'args' | 'toResult'>,
): Promise<object> {
  return await answerCall(host, client, { toResult: toToolResult, ...call }, toErrorResult);
}

/** Converts errors for the model to results. Clients do not show JSON-RPC errors to the model. */
function toErrorResult(error: unknown, { client }: ClientCall): ToolResult | undefined {
  const isModels =
    (error instanceof SagaHostError && error.cause instanceof InvalidInput) ||
    error instanceof InvalidAnswers ||
    // Versions before 2026-07-28 have no error for a missing capability.
    (error instanceof NeedsMissing && client.era === 'legacy');
  return isModels ? { isError: true, content: [{ type: 'text', text: error.message }] } : undefined;
}

function registerTool(host: SagaHostCore, server: McpServerLike, saga: Program): void {
  const { name, title, description, input, output, annotations, _meta: meta } = saga;
  // Version 1 takes the schema apart. Version 2 asks for its JSON Schema, once per server.
  const listed = (schema: Schema): Schema => (isVersion2(server) ? memoised(schema) : schema);
  const config = present({
    title,
    description,
    inputSchema: input && listed(input),
    outputSchema: output && listed(output),
    annotations,
    _meta: Object.assign({}, meta, {
      [extensionKey]: { methods: methodsOf(host, [saga]) },
    }),
  });
  const tools = server as {
    registerTool(name: string, config: object, callback: unknown): unknown;
  };
  tools.registerTool(name, config, () => {
    throw new TypeError(`The call of saga '${name}' was not intercepted.`);
  });
}

const memoisedSchemas = new WeakMap<Schema, Schema>();

/**
 * Derives the JSON Schema once. The SDK asks again for each server, which takes half of a small
 * call.
 */
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

function once<O extends { readonly target: string }, R>(
  derive: (options: O) => R,
): (options: O) => R {
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

/**
 * Lists a tool with the schemas that the host writes, of the JSON Schema that MCP expects. Each SDK
 * writes others: always with `$schema`, for which some clients, such as Genkit, drop all tools of a
 * server, and with the value of `.catch` as a default.
 */
function withSchemas(tool: ListedTool, saga: Program): ListedTool {
  const { outputSchema: _, ...listed } = tool;
  return {
    ...listed,
    inputSchema: written(saga.input),
    ...present({ outputSchema: resultSchemaOf(saga) }),
  };
}

const writtenInputs = new WeakMap<Schema, JsonSchema>();

/** Writes an input once. */
function written(schema: Schema | undefined): JsonSchema {
  if (schema === undefined) return { type: 'object', properties: {} };
  const known = writtenInputs.get(schema);
  if (known !== undefined) return known;
  // MCP demands the type also of a union.
  const made = { type: 'object', ...ownDialect(schema), ...toJsonSchema(schema, 'input') };
  writtenInputs.set(schema, made);
  return made;
}

/** Returns `$schema` if the author declared it by `.meta` of zod, and so wants clients to see it. */
function ownDialect(schema: Schema): { readonly $schema?: string } {
  const { meta } = schema as { readonly meta?: unknown };
  const declared: unknown = typeof meta === 'function' ? meta.call(schema) : undefined;
  const { $schema } = Object(declared) as { readonly $schema?: unknown };
  return typeof $schema === 'string' ? { $schema } : {};
}

// Each model pays for these descriptions in each conversation, and an unfinished result says the rest.
const resumeToken = {
  type: 'string',
  description: 'Omit unless a result asks for it: then repeat all arguments, with its exact token.',
};

// A string, because clients with strict schemas reject free-form objects. Objects are accepted,
// too.
const answers = {
  type: 'string',
  description: 'With resumeToken: the JSON string that the result asks for.',
};

/** Lists a tool with the arguments that continue an unfinished call. */
function toResumable(tool: ListedTool, takesAnswers: boolean): ListedTool {
  const more = takesAnswers ? { resumeToken, answers } : { resumeToken };
  return {
    ...tool,
    inputSchema: { ...closed(tool.inputSchema, more), ...added(tool.inputSchema, more) },
  };
}

type JsonSchema = { readonly [key: string]: unknown };

/** Only allows the fields. The root describes them. */
function undescribed(fields: object): object {
  return Object.fromEntries(Object.keys(fields).map((name) => [name, {}]));
}

function added({ properties }: JsonSchema, more: object): JsonSchema {
  return { properties: { ...(properties as object | undefined), ...more } };
}

/** Allows further fields in all parts of a schema. One closed part would reject them for all. */
function closed(schema: JsonSchema, more: object): JsonSchema {
  const parts = partsOf(schema).map(([key, branches]) => [
    key,
    branches.map((branch) => ({
      ...closed(branch, more),
      ...(branch['additionalProperties'] === false ? added(branch, undescribed(more)) : {}),
    })),
  ]);
  return { ...schema, ...(Object.fromEntries(parts) as JsonSchema) };
}

function partsOf(schema: JsonSchema): readonly (readonly [string, readonly JsonSchema[]])[] {
  return ['anyOf', 'oneOf', 'allOf'].flatMap((key) =>
    Array.isArray(schema[key]) ? [[key, schema[key] as readonly JsonSchema[]] as const] : [],
  );
}
