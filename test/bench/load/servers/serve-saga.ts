import { elicit, generateKey, saga, type Program, type SagaHostOptions } from '@mcp-saga/server';
import { serveSagas, type SagaServer } from '@mcp-saga/server/serve';
import { info, Input, Target, told, tool, when, where, Window } from '../tool.ts';
import { serveMeasured } from './serve-measured.ts';

// The tool as a saga.
const deploy = saga({ ...tool, version: '1', input: Input }, function* ({ service }) {
  const { target } = yield* elicit('target', { message: where, schema: Target });
  const { from } = yield* elicit('window', { message: when, schema: Window });
  return told(service, target, from);
});

/** Creates a server of the saga and of other programs. */
export function createLoadServer(
  others: readonly Program[] = [],
  options: Pick<SagaHostOptions, 'store'> = {},
): SagaServer {
  // The bench prints figures only.
  const hooks = { onWarning: () => undefined };
  return serveSagas({
    ...info,
    sagas: [deploy, ...others],
    keys: generateKey(),
    hooks,
    ...options,
  });
}

/** Serves the saga and other programs. */
export async function serveLoadSaga(others: readonly Program[] = []): Promise<void> {
  const server = createLoadServer(others);
  await serveMeasured((request) => server.fetch(request));
}
