import { elicit, generateKey, saga } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { info, Input, Target, told, tool, when, where, Window } from '../tool.ts';
import { serveMeasured } from './serve-measured.ts';

// The tool as a saga.
const deploy = saga({ ...tool, version: '1', input: Input }, function* ({ service }) {
  const { target } = yield* elicit('target', { message: where, schema: Target });
  const { from } = yield* elicit('window', { message: when, schema: Window });
  return told(service, target, from);
});

const server = serveSagas({ ...info, sagas: [deploy], keys: generateKey() });
await serveMeasured((request) => server.fetch(request));
