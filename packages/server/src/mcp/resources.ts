import { present } from '@mcp-saga/core/program';
import type { Program, ResourceResult } from '@mcp-saga/core';
import type { SagaHostCore } from '../requests/host.ts';
import { isResourceResult } from '../wire/saga-result.ts';
import type { CompletedTurn, FailedTurn } from '../model/turn.ts';
import { answerCall, withCaller } from './answer-call.ts';
import { toClientCall } from './to-client-call.ts';
import { failureError } from '../wire/tool-result.ts';
import { intercept } from './intercept.ts';
import type { McpServerLike } from './sdk.ts';

type ResourceProgram = Program & { readonly resource: NonNullable<Program['resource']> };

/** Registers resource sagas: `resources/templates/list` lists them, and `resources/read` is answered in the dialect of the client. */
export function attachResources(host: SagaHostCore, server: McpServerLike, stepContext: unknown): void {
  const sagas = host.sagas.filter((saga): saga is ResourceProgram => saga.resource !== undefined);
  if (sagas.length === 0) return;
  for (const saga of sagas) registerResource(server, saga);
  intercept(server, 'resources/read', async (request, context, next) => {
    const uri = request.params?.['uri'];
    const saga =
      typeof uri !== 'string' || isFixed(server, uri)
        ? undefined
        : sagas.find(({ resource }) => resource.template.match(uri) !== undefined);
    if (typeof uri !== 'string' || saga === undefined) return await next(request, context);
    const { clock } = host.timing;
    const toResult = (_: string, turn: CompletedTurn | FailedTurn): ResourceResult =>
      toResource(saga, uri, turn);
    return await withCaller(server, context, { stepContext, clock }, (caller) =>
      answerCall(host, toClientCall(server, saga, { request, args: { uri }, context, caller, toResult })),
    );
  });
}

/** Whether a server has a resource of its own at a URI: it goes before any template, as in the SDKs. */
function isFixed(server: McpServerLike, uri: string): boolean {
  const { _registeredResources: resources } = server as { readonly _registeredResources?: object };
  return resources !== undefined && Object.hasOwn(resources, uri);
}

function registerResource(
  server: McpServerLike,
  { name, title, description, resource }: ResourceProgram,
): void {
  const { template, mimeType, complete } = resource;
  const config = {
    ...present({ title, description, mimeType }),
  };
  // As much of the SDKs' ResourceTemplate as they use. It matches nothing: reads are answered before they come to it.
  const listed = {
    uriTemplate: { toString: () => template.text, match: () => null, variableNames: [...template.variables] },
    listCallback: undefined,
    completeCallback: (variable: string) => complete?.[variable],
  };
  const resources = server as {
    registerResource?(name: string, template: object, config: object, callback: unknown): unknown;
  };
  resources.registerResource?.(name, listed, config, () => {
    throw new TypeError(`'${name}' is a saga: it is answered before it comes here.`);
  });
}

/** A turn that ended a saga, as MCP's `ReadResourceResult`. */
function toResource(
  { name, resource: { mimeType } }: ResourceProgram,
  uri: string,
  turn: CompletedTurn | FailedTurn,
): ResourceResult {
  if (turn.status === 'failed') throw failureError(name, turn);
  const { result } = turn;
  if (isResourceResult(result)) return result;
  // What a body may return was checked when it returned: the rest are texts.
  return { contents: [{ uri, ...present({ mimeType }), text: String(result) }] };
}
