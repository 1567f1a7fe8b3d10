import { elicit, generateKey, saga, type Program } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { info, Input, Target, told, tool, when, where, Window } from '../tool.ts';
import { serveMeasured } from './serve-measured.ts';

// The tool as a saga.
const deploy = saga({ ...tool, version: '1', input: Input }, function* ({ service }) {
  const { target } = yield* elicit('target', { message: where, schema: Target });
  const { from } = yield* elicit('window', { message: when, schema: Window });
  return told(service, target, from);
});

/** Serves the saga, and others beside it. */
export async function serveLoadSaga(others: readonly Program[] = []): Promise<void> {
  const server = serveSagas({ ...info, sagas: [deploy, ...others], keys: generateKey() });
  await serveMeasured((request) => server.fetch(request));
}
