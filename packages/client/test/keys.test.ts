import { expect, test } from 'vitest';
import { callSaga, startSaga } from '../src/index.ts';
import { connections } from './fixtures/connections.ts';
import { done, ScriptedServer } from './fixtures/scripted-server.ts';

const field = 'io.github.mcp-saga/idempotencyKey';

test.for(connections)('each first call has a key of its own: $name', async ({ connect }) => {
  const server = new ScriptedServer([done('ok'), done('ok')]);
  const { client, close } = await connect(server);
  await callSaga(client, { name: 'ship' });
  await startSaga(client, { name: 'ship' });
  const keys = server.received.map(({ meta }) => meta[field]);
  expect(new Set(keys).size).toBe(2);
  for (const key of keys) expect(key).toMatch(/^[\da-f]{32}$/);
  await close();
});

test.for(connections)(
  'a call with a key sends it, beside other metadata: $name',
  async ({ connect }) => {
    const server = new ScriptedServer([done('ok')]);
    const { client, close } = await connect(server);
    const call = { name: 'ship', idempotencyKey: 'order-7', _meta: { trace: 'x' } };
    await callSaga(client, call);
    expect(server.received[0]?.meta).toMatchObject({ [field]: 'order-7', trace: 'x' });
    await close();
  },
);
