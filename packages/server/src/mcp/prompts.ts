import { present, toJsonSchema } from '@mcp-saga/core/program';
import { type Program, type PromptResult } from '@mcp-saga/core';
import type { SagaHostCore } from '../requests/host.ts';
import { isPromptResult } from '../wire/saga-result.ts';
import type { CompletedTurn, FailedTurn } from '../model/turn.ts';
import { answerCall, withCaller } from './answer-call.ts';
import { toClientCall } from './to-client-call.ts';
import { completableArguments } from './completions.ts';
import { failureError } from '../wire/tool-result.ts';
import { intercept } from './intercept.ts';
import type { McpServerLike } from './sdk.ts';

/** Registers sagas as the prompts they are: `prompts/list` shows them, `prompts/get` is answered in the client's dialect. */
export function attachPrompts(host: SagaHostCore, server: McpServerLike, stepContext: unknown): void {
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
        // Version 1 can read arguments out of a zod schema only.
        return saga?.input === undefined ? prompt : { ...prompt, arguments: argumentsOf(saga) };
      }),
    };
  });
  intercept(server, 'prompts/get', async (request, context, next) => {
    const name = request.params?.['name'];
    const saga = typeof name === 'string' ? sagas.get(name) : undefined;
    if (saga === undefined) return await next(request, context);
    const { clock } = host.timing;
    const args = request.params?.['arguments'];
    const toResult = (_: string, turn: CompletedTurn | FailedTurn): PromptResult => toPrompt(saga, turn);
    return await withCaller(server, context, { stepContext, clock }, (caller) =>
      answerCall(host, toClientCall(server, saga, { request, args, context, caller, toResult })),
    );
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

// Stateless serving makes a server for each request.
const listedArguments = new WeakMap<Program, readonly PromptArgument[]>();

/** The arguments of a prompt as `prompts/list` has them. */
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
  const config = {
    ...present({ title, description, argsSchema }),
  };
  const prompts = server as { registerPrompt?(name: string, config: object, callback: unknown): unknown };
  prompts.registerPrompt?.(name, config, () => {
    throw new TypeError(`'${name}' is a saga: it is answered before it comes here.`);
  });
}

/** A turn that ended a saga, as MCP's `GetPromptResult`. */
function toPrompt({ name, description }: Program, turn: CompletedTurn | FailedTurn): PromptResult {
  if (turn.status === 'failed') throw failureError(name, turn);
  const { result } = turn;
  const described = present({ description });
  if (isPromptResult(result)) return { ...described, ...result };
  // What a body may return was checked when it returned: the rest are texts.
  return {
    ...described,
    messages: [{ role: 'user', content: { type: 'text', text: String(result) } }],
  };
}
