import { present } from '@mcp-saga/core/program';
import type { Program, ResourceResult } from '@mcp-saga/core';
import type { SagaHostCore } from '../requests/host.ts';
import { hasList } from '../wire/saga-result.ts';
import type { CompletedTurn, FailedTurn } from '../model/turn.ts';
import { answerCall } from './answer-call.ts';
import { failureError } from '../wire/tool-result.ts';
import { type McpServerLike, intercept } from './sdk.ts';

type ResourceProgram = Program & { readonly resource: NonNullable<Program['resource']> };

/**
 * Registers resource sagas: `resources/templates/list` lists them, and `resources/read` is answered
 * in the dialect of the client.
 */
export function attachResources(host: SagaHostCore, server: McpServerLike): void {
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
    const toResult = (_: string, turn: CompletedTurn | FailedTurn): ResourceResult =>
      toResource(saga, uri, turn);
    return await answerCall(host, server, {
      saga,
      request,
      args: { uri },
      context,
      toResult,
    });
  });
}

/**
 * `true` if a server has its own resource at a URI. As in the SDKs, such a resource takes
 * precedence over templates.
 */
function isFixed(server: McpServerLike, uri: string): boolean {
  const { _registeredResources: resources } = server as { readonly _registeredResources?: object };
  return resources !== undefined && Object.hasOwn(resources, uri);
}

function registerResource(
  server: McpServerLike,
  { name, title, description, resource }: ResourceProgram,
): void {
  const { template, mimeType, complete } = resource;
  const config = present({ title, description, mimeType });
  // The used members of the SDKs' ResourceTemplate. It matches nothing, because reads are
  // intercepted.
  const listed = {
    uriTemplate: {
      toString: () => template.text,
      match: () => null,
      variableNames: [...template.variables],
    },
    listCallback: undefined,
    completeCallback: (variable: string) => complete?.[variable],
  };
  const resources = server as {
    registerResource?(name: string, template: object, config: object, callback: unknown): unknown;
  };
  resources.registerResource?.(name, listed, config, () => {
    throw new TypeError(`The request to saga '${name}' was not intercepted.`);
  });
}

function toResource(
  { name, resource: { mimeType } }: ResourceProgram,
  uri: string,
  turn: CompletedTurn | FailedTurn,
): ResourceResult {
  if (turn.status === 'failed') throw failureError(name, turn);
  const { result } = turn;
  if (hasList(result, 'contents')) return result;
  // The result was checked when the body returned: it is a string.
  return { contents: [{ uri, ...present({ mimeType }), text: String(result) }] };
}
