import {
  continueAs,
  elicit,
  memoryStore,
  saga,
  sleep,
  step,
  uuid,
  type Program,
} from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import { taskClient } from '../fixtures/task-client.ts';
import { Target } from '../fixtures/task-sagas.ts';

function tasked(sagas: readonly Program[], options: Parameters<typeof hostOf>[1] = {}): TestHost {
  const clock = testClock();
  return hostOf(sagas, {
    clock,
    limits: { maxHold: 0 },
    anonymous: { tasks: 'accept' },
    store: memoryStore({ clock }),
    ...options,
  });
}

test('[E3] a task is undone as the saga that it continued as', async () => {
  const did: string[] = [];
  const ships = saga({ name: 'ships', version: '1', reuse: 'ok' }, function* () {
    yield* step('ship', () => void did.push('shipped'), {
      compensate: () => void did.push('recalled'),
    });
    yield* sleep(600_000);
    return 'shipped';
  });
  const begins = saga({ name: 'begins', version: '1', task: 'prefer' }, function* () {
    yield* step('begin', () => void did.push('begun'));
    return yield* continueAs(ships, {});
  });
  const client = taskClient(tasked([begins, ships]).host);
  const taskId = await client.start('begins');
  await client.idle();
  await client.cancel(taskId);
  await client.idle();
  expect(did).toEqual(['begun', 'shipped', 'recalled']);
  expect(await client.get(taskId)).toMatchObject({ status: 'cancelled' });
});

/**
 * Begins as a saga with nothing to undo, and continues as a saga with compensation, in one turn.
 */
function shipping(
  did: string[],
  held: () => Promise<void> | undefined,
): readonly [Program, Program] {
  const ships = saga({ name: 'ships', version: '1', reuse: 'ok' }, function* () {
    yield* step(
      'ship',
      async () => {
        did.push('shipped');
        await held();
      },
      { compensate: () => void did.push('recalled') },
    );
    yield* sleep(600_000);
    return 'shipped';
  });
  const begins = saga({ name: 'begins', version: '1', task: 'require' }, function* () {
    yield* sleep(1);
    return yield* continueAs(ships, {});
  });
  return [begins, ships];
}

test('[E3] a task that is cancelled during continueAs is undone as the other saga', async () => {
  const did: string[] = [];
  const begun = deferred<void>();
  const goOn = deferred<void>();
  const held = (): Promise<void> | undefined => {
    begun.resolve();
    return client.worksBehind ? goOn.promise : undefined;
  };
  const sagas = shipping(did, held);
  const { host, clock, told } = tasked(sagas);
  const client = taskClient(host);
  const taskId = await client.start('begins');
  await client.idle();
  clock.now += 1;
  await client.get(taskId);
  await begun.promise;
  await client.cancel(taskId);
  expect(await client.get(taskId)).toMatchObject({ status: 'working' });
  goOn.resolve();
  await client.idle();
  expect(await client.get(taskId)).toMatchObject({ status: 'cancelled' });
  expect(did).toEqual(['shipped', 'recalled']);
  expect(told.errors).toEqual([]);
});

test('[E3] a task cancelled before continueAs is undone as the other saga', async () => {
  const did: string[] = [];
  const asked = deferred<void>();
  const goOn = deferred<void>();
  const { host, clock, told } = tasked(
    shipping(did, () => undefined),
    {
      anonymous: { calls: 'accept', tasks: 'accept' },
      auth: {
        authorize: async (_, { name }) => {
          if (name === 'ships') asked.resolve();
          if (name === 'ships' && client.worksBehind) await goOn.promise;
          return true;
        },
      },
    },
  );
  const client = taskClient(host);
  const taskId = await client.start('begins');
  await client.idle();
  clock.now += 1;
  await client.get(taskId);
  await asked.promise;
  await client.cancel(taskId);
  goOn.resolve();
  await client.idle();
  expect(await client.get(taskId)).toMatchObject({ status: 'cancelled' });
  expect(did).toEqual(['shipped', 'recalled']);
  expect(told.errors).toEqual([]);
});

test('[T11] a call with a state too large for a task fails at once, and runs nothing', async () => {
  const did: string[] = [];
  const large = saga({ name: 'large', version: '1', task: 'prefer' }, function* () {
    const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
    for (let count = 0; count < 100; count += 1) yield* uuid();
    yield* step('go', () => void did.push('gone'));
    return target;
  });
  const client = taskClient(tasked([large], { limits: { maxTokenBytes: 2_500 } }).host);
  const { requestState } = await client.call('large');
  const inputResponses = { target: { action: 'accept', content: { target: 'here' } } };
  expect(await client.call('large', {}, { requestState, inputResponses })).toMatchObject({
    isError: true,
  });
  expect(did).toEqual([]);
});
