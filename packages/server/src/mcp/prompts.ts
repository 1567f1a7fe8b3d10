import { present, toJsonSchema } from '@mcp-saga/core/program';
import type { Program, PromptResult } from '@mcp-saga/core';
import type { SagaHostCore } from '../requests/host.ts';
import { hasList } from '../wire/saga-result.ts';
import type { CompletedTurn, FailedTurn } from '../model/turn.ts';
import { answerCall } from './answer-call.ts';
import { completableArguments } from './completions.ts';
import { failureError } from '../wire/tool-result.ts';
import { type McpServerLike, intercept } from './sdk.ts';

/**
 * Registers prompt sagas: `prompts/list` lists them, and `prompts/get` is answered in the dialect
 * of the client.
 */
export function attachPrompts(host: SagaHostCore, server: McpServerLike): void {
  const sagas = new Map(
    host.sagas.flatMap((saga) => (saga.serves === 'prompt' ? [[saga.name, saga] as const] : [])),
  );
  if (sagas.size === 0) return;
  for (const saga of sagas.values()) registerPrompt(server, saga);
  intercept(server, 'prompts/list', async (request, context, next) => {
    const listed = (await next(request, context)) as { readonly prompts: readonly ListedPrompt[] };
    return {
      ...listed,
      prompts: listed.prompts.map((prompt) => {
        const saga = sagas.get(prompt.name);
        // Version 1 reads arguments from zod schemas only.
        return saga?.input === undefined ? prompt : { ...prompt, arguments: argumentsOf(saga) };
      }),
    };
  });
  intercept(server, 'prompts/get', async (request, context, next) => {
    const name = request.params?.['name'];
    const saga = typeof name === 'string' ? sagas.get(name) : undefined;
    if (saga === undefined) return await next(request, context);
    const toResult = (_: string, turn: CompletedTurn | FailedTurn): PromptResult =>
      toPrompt(saga, turn);
    return await answerCall(host, server, { saga, request, context, toResult });
  });
}

interface ListedPrompt {
  readonly name: string;
  readonly [key: string]: unknown;
}

interface PromptArgument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
}

// Cached, since stateless serving creates a server per request.
const listedArguments = new WeakMap<Program, readonly PromptArgument[]>();

function argumentsOf(saga: Program): readonly PromptArgument[] {
  const known = listedArguments.get(saga);
  if (known !== undefined || saga.input === undefined) return known ?? [];
  const { properties, required = [] } = toJsonSchema(saga.input, 'input') as {
    readonly properties?: { readonly [name: string]: { readonly description?: string } };
    readonly required?: readonly string[];
  };
  const listed = Object.entries(properties ?? {}).map(([name, { description }]) => ({
    name,
    ...present({ description }),
    required: required.includes(name),
  }));
  listedArguments.set(saga, listed);
  return listed;
}

function registerPrompt(server: McpServerLike, saga: Program): void {
  const { name, title, description } = saga;
  const argsSchema = completableArguments(server, saga);
  const config = present({ title, description, argsSchema });
  const prompts = server as {
    registerPrompt?(name: string, config: object, callback: unknown): unknown;
  };
  prompts.registerPrompt?.(name, config, () => {
    throw new TypeError(`The request to saga '${name}' was not intercepted.`);
  });
}

function toPrompt({ name, description }: Program, turn: CompletedTurn | FailedTurn): PromptResult {
  if (turn.status === 'failed') throw failureError(name, turn);
  const { result } = turn;
  const described = present({ description });
  if (hasList(result, 'messages')) return { ...described, ...result };
  // The result was checked when the body returned: it is a string.
  return {
    ...described,
    messages: [{ role: 'user', content: { type: 'text', text: String(result) } }],
  };
}
