import assert from 'node:assert/strict';
import sagaRules from '@mcp-saga/eslint-plugin';
import { openTelemetry } from '@mcp-saga/opentelemetry';
import { redisGuard, redisTaskStore } from '@mcp-saga/redis';
import { createSagaHost, generateKey } from '@mcp-saga/server';
import { sagaProperty } from '@mcp-saga/testing/fast-check';
import { replayRecordings } from '@mcp-saga/testing/node';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { eraseAll } from './call.ts';
import served, { erase } from './erase.ts';
import { eraseByMachine } from './machine.ts';
import { testErase } from './tested.ts';
import { sealAndOpen } from './token.ts';

const erased = [{ type: 'text', text: 'Erased.' }];

/** By the second SDK over HTTP. */
async function overHttp(): Promise<void> {
  const client = new Client({ name: 'c', version: '1' }, { versionNegotiation: { mode: 'auto' } });
  const fetch = (url: string | URL, init?: RequestInit): Promise<Response> =>
    served.fetch(new Request(url, init));
  await client.connect(new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), { fetch }));
  assert.deepEqual((await eraseAll(client)).content, erased);
  await client.close();
}

/** By the first SDK in a session, where the server asks. */
async function inSession(): Promise<void> {
  const server = new McpServer({ name: 'disk', version: '1.0.0' });
  createSagaHost({ sagas: [erase], keys: generateKey(), audience: 'disk' }).attach(server);
  const client = new Client1({ name: 'c', version: '1' }, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: 'accept', content: { sure: true } }));
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  const { content } = await client.callTool({ name: 'erase', arguments: {} });
  assert.deepEqual(content, erased);
  await client.close();
}

/** A machine, on two hosts that share only the key; they are traced, for nobody. */
async function byMachine(): Promise<void> {
  const keys = generateKey();
  const telemetry = openTelemetry();
  const host = () => createSagaHost({ sagas: [eraseByMachine], keys, audience: 'disk', telemetry });
  const turn = await host().start('erase', {});
  assert(turn.status === 'suspended');
  const answer = { stepId: 'sure', result: { action: 'accept', content: { sure: true } } };
  const over = await host().resume(turn.token, [answer]);
  assert(over.status === 'completed');
  assert.equal(over.result, 'Erased.');
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

await Promise.all([overHttp(), inSession(), byMachine(), seals()]);
assert.equal(await testErase(), 'Erased.');
assert.equal(sagaRules.meta.name, '@mcp-saga/eslint-plugin');
for (const word of [redisGuard, redisTaskStore, sagaProperty, replayRecordings]) assert(word.length > 0);
console.log('all is well');
