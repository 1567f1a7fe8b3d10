import { expect, test } from 'vitest';
import { callSaga, SAGA_EXTENSION, SagaCallAborted, startSaga } from '../src/index.ts';
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

test.for(connections)('a key in the metadata counts as well: $name', async ({ connect }) => {
  const server = new ScriptedServer([done('ok')]);
  const { client, close } = await connect(server);
  await callSaga(client, { name: 'ship', _meta: { [field]: 'order-7' } });
  expect(server.received[0]?.meta[field]).toBe('order-7');
  await close();
});

/** A client whose connection breaks in each call, to a server that keeps keys. */
function cutOff() {
  const sent: object[] = [];
  const client = {
    getServerCapabilities: () => ({ extensions: { [SAGA_EXTENSION]: { idempotencyKeys: true } } }),
    request: (request: object) => {
      sent.push(request);
      JSON.stringify(request);
      return Promise.reject(new TypeError('fetch failed'));
    },
  };
  return { client, sent };
}

const clock = { now: () => 0, sleep: () => Promise.resolve() };

test('a call whose connection breaks is sent four times, with one key', async () => {
  const { client, sent } = cutOff();
  await expect(startSaga(client, { name: 'ship' }, { clock })).rejects.toMatchObject({
    code: 'saga_request_failed',
  });
  expect(sent).toHaveLength(4);
  expect(new Set(sent.map((request) => JSON.stringify(request))).size).toBe(1);
});

test('a call that is no JSON is not sent again', async () => {
  const { client, sent } = cutOff();
  const call = { name: 'ship', arguments: { order: 7n } };
  await expect(startSaga(client, call, { clock })).rejects.toThrow();
  expect(sent).toHaveLength(1);
});

test('a call that is stopped while it waits to be sent again is aborted', async () => {
  const { client, sent } = cutOff();
  const stopped = { ...clock, sleep: () => Promise.reject(new Error('stopped')) };
  await expect(startSaga(client, { name: 'ship' }, { clock: stopped })).rejects.toBeInstanceOf(
    SagaCallAborted,
  );
  expect(sent).toHaveLength(1);
});
