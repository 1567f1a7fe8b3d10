import assert from 'node:assert/strict';
import sagaRules from '@mcp-saga/eslint-plugin';
import { alarmQueue, createSagaObject, durableObjectStore } from '@mcp-saga/cloudflare';
import { openTelemetry } from '@mcp-saga/opentelemetry';
import { postgresMigrations, sqliteMigrations } from '@mcp-saga/sql';
import * as core from '@mcp-saga/core';
import * as seal from '@mcp-saga/seal';
import * as main from '@mcp-saga/server';
import { createSagaHost, generateKey, type SagaHost, type SagaTelemetry } from '@mcp-saga/server';
import * as internal from '@mcp-saga/server/internal';
import * as served from '@mcp-saga/server/serve';
import * as stores from '@mcp-saga/server/stores';
import { pgBossQueue, qstashQueue, sqsQueue } from '@mcp-saga/queues';
import { bullmqQueue, redisStore } from '@mcp-saga/redis';
import { sagaProperty } from '@mcp-saga/testing/fast-check';
import { replayRecordings } from '@mcp-saga/testing/node';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { eraseAll } from './call.ts';
import eraser, { erase } from './erase.ts';
import { eraseByMachine } from './machine.ts';
import { testErase } from './tested.ts';
import { sealAndOpen } from './token.ts';
import { host as traced } from './traced.ts';

const erased = [{ type: 'text', text: 'Erased.' }];

/** By the second SDK over HTTP. */
async function overHttp(): Promise<void> {
  const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
    eraser.fetch(new Request(url, init));
  await client.connect(
    new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }),
  );
  assert.deepEqual((await eraseAll(client)).content, erased);
  await client.close();
}

/** By the first SDK in a session, where the server asks. */
async function inSession(): Promise<void> {
  const server = new McpServer({ name: 'disk', version: '1.0.0' });
  createSagaHost({ sagas: [erase], keys: generateKey(), name: 'disk' }).attach(server);
  const client = new Client1({ name: 'c', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({
    action: 'accept',
    content: { sure: true },
  }));
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  const { content } = await client.callTool({ name: 'erase', arguments: {} });
  assert.deepEqual(content, erased);
  await client.close();
}

/** Starts a saga on one host, and ends it on another. */
async function throughHosts(hostOf: () => SagaHost): Promise<void> {
  const turn = await hostOf().start('erase', {});
  assert(turn.status === 'suspended');
  const answer = { stepId: 'sure', result: { action: 'accept', content: { sure: true } } };
  const over = await hostOf().resume(turn.token, [answer]);
  assert(over.status === 'completed');
  assert.equal(over.result, 'Erased.');
}

/** A machine, on two hosts that share only the key. */
async function byMachine(telemetry?: SagaTelemetry): Promise<void> {
  const keys = generateKey();
  await throughHosts(() =>
    createSagaHost({
      sagas: [eraseByMachine],
      keys,
      name: 'disk',
      ...(telemetry === undefined ? {} : { telemetry }),
    }),
  );
}

async function seals(): Promise<void> {
  const now = Date.now();
  const claims = {
    method: 'tools/call',
    entry: { target: 'erase', argsDigest: '' },
    saga: { name: 'erase', version: '1' },
    principal: null,
    engine: 1,
    turn: 1,
    jti: 'one',
    born: now,
    iat: now,
    exp: now + 60_000,
  };
  assert.equal(await sealAndOpen(claims, 'state'), 'state');
}

/** A generator and a machine, each from start to end under a trace that no exporter receives. */
async function underTrace(): Promise<void> {
  await throughHosts(() => traced);
  await byMachine(openTelemetry());
}

/** Each class and each state exists once, by whichever entry it is imported. */
async function onceInAllEntries(): Promise<void> {
  const entries = [core, seal, main, internal, served, stores];
  for (const one of entries)
    for (const [name, value] of Object.entries(one))
      for (const other of entries) {
        const { [name]: same = value } = other as Readonly<Record<string, unknown>>;
        assert.equal(same, value, name);
      }
  const host = internal.hostOf({ sagas: [erase], keys: generateKey(), name: 'disk' });
  assert(
    internal.givenOptions.has(
      createSagaHost({ sagas: [erase], keys: generateKey(), name: 'disk' }),
    ),
  );
  await assert.rejects(host.start('unknown', {}), main.SagaHostError);
  await assert.rejects(host.resume('no token'), seal.TokenRefused);
  assert.throws(
    () => internal.hostOf({ sagas: [erase], keys: 'bad', name: 'disk' }),
    seal.SealError,
  );
}

await Promise.all([
  overHttp(),
  inSession(),
  byMachine(),
  seals(),
  underTrace(),
  onceInAllEntries(),
]);
assert.equal(typeof createSagaObject().prototype.alarm, 'function');
assert.equal(await testErase(), 'Erased.');
assert.equal(sagaRules.meta.name, '@mcp-saga/eslint-plugin');
for (const word of [redisStore, sagaProperty, replayRecordings]) assert(word.length > 0);
for (const migrations of [postgresMigrations(), sqliteMigrations()])
  assert.equal(migrations.length, 1);
for (const word of [
  alarmQueue,
  bullmqQueue,
  durableObjectStore,
  pgBossQueue,
  qstashQueue,
  redisStore,
  replayRecordings,
  sagaProperty,
  sqsQueue,
])
  assert(word.length > 0);
console.log('all is well');
