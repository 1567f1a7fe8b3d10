import { all, elicit, memoryStore, poll, saga, sleep, step } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { taskClient } from '../fixtures/task-client.ts';
import { hour, minute, Ok, queued, type Queued, type Sent } from './queued.ts';

const options = { version: '1', task: 'prefer' } as const;

/** Hosts with tasks, and a client of tasks. */
function withTasks(
  program: Parameters<typeof queued>[0],
): Queued & { client: ReturnType<typeof taskClient> } {
  const store = memoryStore({ clock: () => world.clock() });
  const world: Queued = queued(program, { anonymous: { tasks: 'accept' }, store });
  return { ...world, client: taskClient(world.host) };
}

describe('a task with a queue', () => {
  it('[W1] [E8] completes without polls of its client, and shows its result to a client that returns', async () => {
    const did: string[] = [];
    const { client, clock, drain, rejected } = withTasks(
      saga({ name: 'order', ...options }, function* () {
        yield* step('charge', () => void did.push('charge'));
        yield* sleep(2 * hour);
        yield* step('remind', () => void did.push('remind'));
        yield* sleep(2 * hour);
        yield* step('ship', () => void did.push('ship'));
        return 'shipped';
      }),
    );
    const taskId = await client.start('order');
    await client.idle();
    expect(await drain()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'remind', 'ship']);
    clock.now += 10 * hour;
    await client.get(taskId);
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'shipped' }] },
    });
    expect(did).toEqual(['charge', 'remind', 'ship']);
    expect(rejected).toEqual([]);
  });

  it('[W4] accepts an answer to a question whose turn the queue has used', async () => {
    let polls = 0;
    const { client, next, drain } = withTasks(
      saga({ name: 'order', ...options }, function* () {
        const { sure } = yield* all({
          sure: elicit('sure', { message: 'Sure?', schema: Ok }),
          packed: poll('packed', () => ((polls += 1) > 4 ? true : undefined), {
            every: hour,
            timeout: 20 * hour,
          }),
        });
        return sure.ok ? 'yes' : 'no';
      }),
    );
    const taskId = await client.start('order');
    await client.idle();
    await next();
    await next();
    await client.update(taskId, { sure: { action: 'accept', content: { ok: true } } });
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'working' });
    expect(await drain()).toMatchObject({ status: 'ended' });
    await client.get(taskId);
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'yes' }] },
    });
  });

  it('[W1] [E8] is cancelled at the newest turn', async () => {
    const did: string[] = [];
    const { client, next } = withTasks(
      saga({ name: 'order', ...options }, function* () {
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => void did.push('refund'),
        });
        yield* sleep(2 * hour);
        yield* step('pack', () => void did.push('pack'), {
          compensate: () => void did.push('unpack'),
        });
        yield* sleep(2 * hour);
        return 'shipped';
      }),
    );
    const taskId = await client.start('order');
    await client.idle();
    await next();
    await client.cancel(taskId);
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'cancelled' });
    expect(did).toEqual(['charge', 'pack', 'unpack', 'refund']);
  });

  it('[E8] is valid as long as its ID, also by the message of a turn before the task', async () => {
    const { client, queue, host, clock } = withTasks(
      saga({ name: 'order', ...options }, function* () {
        yield* sleep(2 * hour);
        const { ok } = yield* elicit('sure', { message: 'Sure?', schema: Ok });
        return ok ? 'yes' : 'no';
      }),
    );
    const began = clock.now;
    const taskId = await client.start('order');
    await client.idle();
    const { message, at } = queue.sent.find(({ message: { turn } }) => turn === 1) as Sent;
    clock.now = at;
    expect(await host.deliver(message)).toMatchObject({
      status: 'waiting',
      at: began + 24 * hour + minute,
    });
    clock.now = began + 20 * hour;
    await client.get(taskId);
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'input_required' });
    await client.update(taskId, { sure: { action: 'accept', content: { ok: true } } });
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({
      status: 'completed',
      result: { content: [{ text: 'yes' }] },
    });
  });

  it('[E7] is undone a day after its client was asked and left, although its ID is good for longer', async () => {
    const did: string[] = [];
    const { client, queue, host, clock } = withTasks(
      saga({ name: 'order', ...options }, function* () {
        yield* step('hold', () => void did.push('hold'), {
          compensate: () => void did.push('release'),
        });
        const { ok } = yield* elicit('sure', { message: 'Sure?', schema: Ok });
        return ok ? 'yes' : 'no';
      }),
    );
    const began = clock.now;
    await client.start('order');
    await client.idle();
    for (let count = 0; count < 5 && !did.includes('release'); count += 1) {
      const { message, at } = queue.sent.at(-1) as Sent;
      clock.now = at;
      await host.deliver(message);
    }
    expect(did).toEqual(['hold', 'release']);
    expect(clock.now - began).toBeLessThan(25 * hour);
  });

  it('keeps its result for a day', async () => {
    const { client, clock } = withTasks(
      saga({ name: 'order', ...options }, function* () {
        return yield* step('work', () => 'done');
      }),
    );
    const taskId = await client.start('order');
    await client.idle();
    clock.now += 23 * hour;
    expect(await client.get(taskId)).toMatchObject({ status: 'completed' });
    clock.now += 2 * hour;
    await expect(client.get(taskId)).rejects.toMatchObject({ code: -32602 });
  });
});
