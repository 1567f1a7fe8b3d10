import { expect, test } from 'vitest';
import {
  callSaga,
  cancelSaga,
  resumeSaga,
  startSaga,
  SuspendedSaga,
  type McpClient,
} from '../src/index.ts';

const client: McpClient = {
  request: async () => Promise.reject(new Error('Nothing may be sent.')),
  getServerCapabilities: () => ({}),
};
const call = { name: 'deploy' };
const kept = SuspendedSaga.from(client, {
  format: 'mcp-saga/client@1',
  name: 'deploy',
  sagaToken: 't',
  turn: 1,
  steps: [],
  completedSteps: [],
});

/** Options as JavaScript gives them. */
const js = (options: object): never => options as never;

test.each([
  [() => callSaga(client, call, js({ maxRonds: 5 })), 'maxRonds', 'maxRounds'],
  [() => callSaga(client, js({ name: 'deploy', args: {} })), 'args', undefined],
  [() => callSaga(client, js({ name: 'deploy', argumnts: {} })), 'argumnts', 'arguments'],
  [() => callSaga(client, call, js({ handlers: { samplng: () => 1 } })), 'samplng', 'sampling'],
  [() => startSaga(client, call, js({ signals: 1 })), 'signals', 'signal'],
  [() => startSaga(client, call, js({ handlers: {} })), 'handlers', undefined],
  [() => resumeSaga(client, kept, js({ onturn: () => 1 })), 'onturn', 'onTurn'],
  [() => kept.resume([], js({ newz: 'only' })), 'newz', 'news'],
  [() => cancelSaga(client, kept, js({ resaon: 'x' })), 'resaon', 'reason'],
])('rejects an unknown option with a similar name: %s', async (make, option, meant) => {
  const hint =
    meant === undefined ? 'Its options are: ' : `Did you mean '${meant}'? Its options are: `;
  await expect(make()).rejects.toThrow(`has no option '${option}'. ${hint}`);
});

test('rejects options that are not an object', async () => {
  await expect(callSaga(client, call, js(null as never))).rejects.toThrow(TypeError);
});
