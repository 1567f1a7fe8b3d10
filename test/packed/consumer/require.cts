import { callSaga } from '@mcp-saga/client';
import { durableObjectStore } from '@mcp-saga/cloudflare';
import { sample } from '@mcp-saga/core';
import { generatorEngine } from '@mcp-saga/core/program';
import eslintPlugin = require('@mcp-saga/eslint-plugin');
import { openTelemetry } from '@mcp-saga/opentelemetry';
import { qstashQueue } from '@mcp-saga/queues';
import { redisStore } from '@mcp-saga/redis';
import { generateKey } from '@mcp-saga/seal';
import { createSagaHost, saga, step, type SagaHost } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { sqliteStore } from '@mcp-saga/sql';
import { testSaga } from '@mcp-saga/testing';
import { sagaProperty } from '@mcp-saga/testing/fast-check';
import { replayRecordings } from '@mcp-saga/testing/node';
import { machineSaga } from '@mcp-saga/xstate';
import assert = require('node:assert/strict');

const hello = saga({ name: 'hello', version: '1' }, function* () {
  return yield* step('greet', async () => 'Hello');
});
const host: SagaHost = createSagaHost({
  sagas: [hello],
  keys: generateKey(),
  name: 'required',
});
const others = [
  callSaga,
  durableObjectStore,
  sample,
  generatorEngine,
  openTelemetry,
  qstashQueue,
  redisStore,
  serveSagas,
  sqliteStore,
  sagaProperty,
  replayRecordings,
  machineSaga,
];

void (async () => {
  const turn = await host.start('hello', {});
  assert(turn.status === 'completed');
  assert.equal(turn.result, (await testSaga(hello).run()).result);
  assert.equal(eslintPlugin.default.meta.name, '@mcp-saga/eslint-plugin');
  for (const other of others) assert.equal(typeof other, 'function');
  console.log('all is well');
})();
