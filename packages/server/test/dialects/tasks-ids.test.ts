import { memoryStore, saga, step, type SagaStore } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { start } from '../fixtures/clock.ts';
import { hostOf } from '../fixtures/host.ts';
import { taskClient } from '../fixtures/task-client.ts';

const quick = saga({ name: 'quick', version: '1', task: 'prefer' }, function* () {
  return yield* step('go', () => 'Went');
});
const unknown = { code: -32602, data: { reason: 'invalid_task_id' } };

const flip = (id: string, at: number): string =>
  `${id.slice(0, at)}${id[at] === 'A' ? 'B' : 'A'}${id.slice(at + 1)}`;

test('[W1] the ID of a task is at most 128 printable characters, which Claude Code accepts', async () => {
  const store = memoryStore({ clock: () => start });
  const client = taskClient(hostOf(quick, { anonymous: { tasks: 'accept' }, store }).host);
  const taskId = await client.start('quick');
  expect(taskId).toMatch(/^[\x21-\x7e]{1,128}$/);
  await client.idle();
  expect(await client.get(taskId)).toMatchObject({ taskId, status: 'completed' });
});

test('[W1] [T14] an ID with another saga or another secret opens no task', async () => {
  const store = memoryStore({ clock: () => start });
  const client = taskClient(hostOf(quick, { anonymous: { tasks: 'accept' }, store }).host);
  const taskId = await client.start('quick');
  const other = await client.start('quick');
  await client.idle();
  const [sagaId = '', secret = ''] = taskId.split('.');
  const [, foreign = ''] = other.split('.');
  const forged = [
    flip(taskId, 0),
    flip(taskId, 30),
    `${sagaId}.${foreign}`,
    `${sagaId}.`,
    sagaId,
    secret,
  ];
  for (const id of forged) {
    await expect(client.get(id)).rejects.toMatchObject(unknown);
  }
});

test('[T6] an ID opens no task for another user', async () => {
  const store = memoryStore({ clock: () => start });
  const options = { store, auth: { principal: 'client-only' } } as const;
  const { host } = hostOf(quick, options);
  const alice = taskClient(host, { clientId: 'alice' });
  const taskId = await alice.start('quick');
  await alice.idle();
  expect(await alice.get(taskId)).toMatchObject({ status: 'completed' });
  const mallory = taskClient(host, { clientId: 'mallory' });
  await expect(mallory.get(taskId)).rejects.toMatchObject(unknown);
});

test('an unknown ID reaches the store only if it has the form of an ID', async () => {
  const reads: string[] = [];
  const store: SagaStore = { ...memoryStore(), read: ({ group }) => void reads.push(group) };
  const client = taskClient(hostOf(quick, { anonymous: { tasks: 'accept' }, store }).host);
  for (const id of [
    '',
    'x',
    '__proto__',
    `${'a'.repeat(22)}.${'b'.repeat(23)}`,
    'a'.repeat(5_000),
  ]) {
    await expect(client.get(id)).rejects.toMatchObject(unknown);
  }
  expect(reads).toEqual([]);
});
