import { elicit, memoryStore, saga, sleep, step, type Program } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { hostForAll } from '../fixtures/ways.ts';
import { post, read, type RawAnswer } from '../fixtures/raw.ts';
import { taskClient } from '../fixtures/task-client.ts';

const named = { 'io.github.mcp-saga/idempotencyKey': 'call-1' };

/** A saga that charges, does more in a further turn, and asks. */
function orders(task?: 'prefer'): { readonly order: Program; readonly charged: readonly string[] } {
  const charged: string[] = [];
  const options = { name: 'order', version: '1', forks: 'refuse', ...(task && { task }) } as const;
  const order = saga(options, function* () {
    yield* step('charge', ({ idempotencyKey }) => void charged.push(idempotencyKey), {
      compensate: () => undefined,
    });
    yield* sleep(1);
    yield* elicit('size', { message: 'Size?', schema: z.object({ size: z.string() }) });
    return 'done';
  });
  return { order, charged };
}

const clients: readonly (readonly [string, object])[] = [
  ['multi round-trip', { elicitation: {} }],
  ['resume token', {}],
  ['resumable requests', { elicitation: {}, resumableRequests: {} }],
  ['resumable requests and resume token', { resumableRequests: {} }],
];

test.each(clients)('a repeated call acts once: %s', async (_, capabilities) => {
  const { order, charged } = orders();
  const server = serveSagas({
    name: 'shop',
    version: '1.0.0',
    sagas: [order],
    keys: 'ephemeral',
    store: memoryStore(),
    answers: { model: 'accept' },
    auth: { authenticate: () => ({ issuer: 'https://id.example', subject: 'ada', client: 'a' }) },
    http: { allowedHosts: ['localhost'] },
    hooks: { onWarning: () => undefined },
  });
  const call = async (): Promise<RawAnswer> => {
    const meta = { ...named, 'io.modelcontextprotocol/clientCapabilities': capabilities };
    const params = { name: 'order', arguments: {}, _meta: meta };
    const init = { headers: { 'mcp-name': 'order' } };
    return read(await server.fetch(post('modern', 'tools/call', params, 1, init)));
  };
  const answers = [await call(), await call(), await call()];
  for (const { last, text } of answers) {
    expect(last.error).toBeUndefined();
    expect(text).toContain('Size?');
  }
  expect(charged).toHaveLength(1);
});

test('a repeated call that became a task gets the same task', async () => {
  const { order, charged } = orders('prefer');
  const { host } = hostForAll([order], { store: memoryStore() });
  const client = taskClient(host, { clientId: 'ada' });
  const first = await client.call('order', {}, { _meta: named });
  const beside = await client.call('order', {}, { _meta: named });
  await client.idle();
  const later = await client.call('order', {}, { _meta: named });
  await client.idle();
  expect(first).toMatchObject({ resultType: 'task' });
  expect([beside['taskId'], later['taskId']]).toEqual([first['taskId'], first['taskId']]);
  expect(charged).toHaveLength(1);
});
