import {
  elicit,
  generateKey,
  saga,
  step,
  type Program,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { info, Input, Target, told, tool, usual, when, where, Window } from '../tool.ts';
import { serveMeasured } from './serve-measured.ts';

/** The tool as a saga. */
export const deploy: Program = saga(
  { ...tool, version: '1', input: Input },
  function* ({ service }) {
    const { target } = yield* elicit('target', { message: where, schema: Target });
    const { from } = yield* elicit('window', { message: when, schema: Window });
    return told(service, target, from);
  },
);

/** The tool without its questions: a client of MCP 2025 without a session cannot be asked. */
export const deployAtOnce: Program = saga(
  { ...tool, version: '1', input: Input },
  function* ({ service }) {
    const { target, from } = yield* step('target', () => usual);
    return told(service, target, from);
  },
);

/** Creates a server of sagas. */
export function createLoadServer(
  sagas: readonly Program[],
  options: Pick<SagaHostOptions, 'store'> = {},
): SagaServer {
  // The bench prints figures only.
  const hooks = { onWarning: () => undefined };
  return serveSagas({ ...info, sagas, keys: generateKey(), hooks, ...options });
}

/** Serves sagas. */
export async function serveLoadSagas(sagas: readonly Program[]): Promise<void> {
  const server = createLoadServer(sagas);
  await serveMeasured((request) => server.fetch(request));
}
