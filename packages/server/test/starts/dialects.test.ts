import { memoryStore } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { taskClient } from '../fixtures/task-client.ts';
import { hostForAll } from '../fixtures/ways.ts';
import { callShop, keyField, ordering, shopOf } from './shop.ts';

const meta = { [keyField]: 'call-1' };

test.each([
  ['multi round-trip', { elicitation: {} }],
  ['resume token', {}],
  ['resumable requests', { elicitation: {}, resumableRequests: {} }],
  ['resumable requests and resume token', { resumableRequests: {} }],
])('a repeated call acts once: %s', async (_, capabilities) => {
  const { order, acted } = ordering();
  const server = shopOf({ order });
  for (let calls = 0; calls < 3; calls += 1) {
    const { last, text } = await callShop(server, { meta, capabilities });
    expect(last.error).toBeUndefined();
    expect(text).toContain('size?');
  }
  expect(acted).toHaveLength(1);
});

test('a repeated call that became a task gets the same task, also when that asks', async () => {
  const { order, acted } = ordering({ task: 'prefer' });
  const { host } = hostForAll([order], { store: memoryStore() });
  const client = taskClient(host, { clientId: 'ada' });
  const call = () => client.call('order', {}, { _meta: meta });
  const first = await call();
  const beside = await call();
  await client.idle();
  expect(await client.get(String(first['taskId']))).toMatchObject({ status: 'input_required' });
  const later = await call();
  expect(first).toMatchObject({ resultType: 'task' });
  expect([beside['taskId'], later['taskId']]).toEqual([first['taskId'], first['taskId']]);
  expect(acted).toHaveLength(1);
});
