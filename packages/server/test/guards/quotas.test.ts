import {
  elicit,
  memoryStore,
  saga,
  sleep,
  step,
  type RateLimitFacts,
  type SagaHostOptions,
  type SagaStore,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { called } from '../fixtures/calling.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';
import { testClock } from '../fixtures/clock.ts';
import { hooksInto, hostOf, nothingTold, oldKey, suspended } from '../fixtures/host.ts';
import { serveSagas } from '@mcp-saga/server/serve';
import { taskClient } from '../fixtures/task-client.ts';
import { writeSealed } from '../../src/store/sealed-values.ts';

/** A state of about 4 kB that does not compress. */
const load = () =>
  step('load', () => Buffer.from(crypto.getRandomValues(new Uint8Array(3_000))).toString('base64'));

const Note = z.object({ note: z.string() });
const Sure = z.object({ sure: z.boolean() });

const noting = saga({ name: 'noting', version: '1' }, function* () {
  yield* load();
  for (;;) yield* elicit('note', { message: 'What next?', schema: Note });
});

const asking = saga({ name: 'asking', version: '1' }, function* () {
  yield* load();
  yield* elicit('sure', { message: 'Sure?', schema: Sure });
  return 'done';
});

/** A server with handles in a store that can be measured. */
function measured(sagas: SagaHostOptions['sagas'], changes: HostChanges = {}) {
  const clock = testClock();
  const store = memoryStore({ clock });
  const sizes = new Map<string, number>();
  const told = nothingTold();
  const watched: SagaStore = {
    ...store,
    write: async (key, value, ...rest) => {
      const written = await store.write(key, value, ...rest);
      // What a guard keeps is not measured.
      if (written.status === 'written' && key.name === 'handle')
        sizes.set(key.group, value.body?.length ?? 0);
      return written;
    },
  };
  const options = changed(
    {
      name: 'test',
      keys: oldKey,
      testing: { environment: 'production', clock },
      hooks: hooksInto(told),
      answerers: { model: 'accept' },
      store: watched,
      limits: { maxHold: 0 },
    },
    changes,
    { sagas },
  );
  const server = serveSagas({ version: '1', ...options });
  const bytes = (): number => [...sizes.values()].reduce((sum, size) => sum + size, 0);
  return { server, sizes, bytes, told };
}

const asAda = {
  authenticate: () => ({ token: 'a', clientId: 'app', scopes: [], extra: { sub: 'ada' } }),
  principal: (user: unknown) => ({
    subject: 'ada',
    client: (user as { clientId: string }).clientId,
  }),
};

describe('a handle', () => {
  const first = { name: 'asking', arguments: {} };
  const wrong = (resumeToken: string | undefined, sure: string) => ({
    name: 'asking',
    arguments: { resumeToken, answers: { sure: { sure } } },
  });

  test('[T11] stays the same after an answer that changes nothing, and stores nothing more', async () => {
    const { server, sizes } = measured([asking]);
    const { token } = await called(server, 'modern', first);
    for (let index = 0; index < 50; index += 1)
      expect((await called(server, 'modern', wrong(token, `no ${index}`))).token).toBe(token);
    expect(sizes.size).toBe(1);
  });

  test('[T11] of a repeated request is the same, and is stored once', async () => {
    const { server, sizes } = measured([noting]);
    const { token } = await called(server, 'modern', { name: 'noting', arguments: {} });
    const request = {
      name: 'noting',
      arguments: { resumeToken: token, answers: { note: { note: 'a' } } },
    };
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => called(server, 'modern', request)),
    );
    expect(new Set(answers.map((answer) => answer.token)).size).toBe(1);
    expect(answers[0]?.token).not.toBe(token);
    expect(sizes.size).toBe(2);
  });

  test('[T11] is not made beyond the limit of a saga, whose token is given instead', async () => {
    const seen: RateLimitFacts[] = [];
    const { server, bytes, told } = measured([noting], {
      limits: { maxKeptBytes: 60_000, maxHold: 0 },
      auth: { rateLimit: (facts) => seen.push(facts) > 0 },
    });
    let { token = '' } = await called(server, 'modern', { name: 'noting', arguments: {} });
    for (let index = 1; token.length === 22; index += 1) {
      const id = index === 1 ? 'note' : `note#${index}`;
      ({ token = '' } = await called(server, 'modern', {
        name: 'noting',
        arguments: { resumeToken: token, answers: { [id]: { note: `${index}` } } },
      }));
    }
    expect(token.length).toBeGreaterThan(4_000);
    expect(told.rejections.map(({ reason }) => reason)).toEqual(['guard_full']);
    expect(bytes()).toBeLessThan(60_000);
    // The estimate counts handles as well as responses.
    expect(seen.at(-1)?.keptBytes).toBeGreaterThan(1.5 * bytes());
  });

  test('[T11] counts for its principal, who gets tokens instead beyond the limit', async () => {
    const { server, bytes, told } = measured([asking], {
      limits: { maxKeptBytes: 20_000, maxHold: 0 },
      auth: asAda,
    });
    const lengths: number[] = [];
    for (let index = 0; index < 20; index += 1) {
      const { token = '' } = await called(server, 'modern', { name: 'asking', arguments: {} });
      lengths.push(token.length);
    }
    expect(lengths[0]).toBe(22);
    expect(lengths.at(-1)).toBeGreaterThan(4_000);
    expect(bytes()).toBeLessThan(26_000);
    expect(told.rejections.map(({ reason }) => reason)).toContain('guard_full');
    expect(told.errors).toEqual([]);
  });
});

describe('a task', () => {
  const ran: string[] = [];
  const deciding = saga({ name: 'deciding', version: '1', task: 'prefer' }, function* () {
    yield* load();
    yield* step('begin', () => void ran.push('begin'), {
      compensate: () => void ran.push('undo'),
    });
    yield* elicit('sure', { message: 'Sure?', schema: Sure });
    return 'done';
  });

  function adaAt(maxKeptBytes: number) {
    ran.length = 0;
    const clock = testClock();
    const store = memoryStore({ clock });
    const { host, told } = hostOf(deciding, {
      clock,
      store,
      auth: { principal: asAda.principal },
      limits: { maxKeptBytes },
    });
    return { client: taskClient(host, { clientId: 'app' }), told, clock };
  }

  test('[T11] counts for its principal, and a call beyond the limit fails before any step', async () => {
    const { client, told } = adaAt(100_000);
    let begun = 0;
    let ranBefore = 0;
    const call = async (): Promise<unknown> => {
      ranBefore = ran.length;
      const { resultType } = await client.call('deciding');
      await client.idle();
      begun += 1;
      return resultType;
    };
    await expect(
      (async () => {
        for (let calls = 0; calls < 100; calls += 1) expect(await call()).toBe('task');
      })(),
    ).rejects.toMatchObject({ code: -32603, data: { reason: 'guard_full' } });
    expect(begun).toBeGreaterThan(2);
    expect(begun).toBeLessThan(10);
    await client.idle();
    expect(ran).toHaveLength(ranBefore);
    // The turn of the last task may have found no room, and then waits for it.
    expect([begun - 1, begun]).toContain(ran.length);
    expect(new Set(told.rejections.map(({ reason }) => reason))).toEqual(new Set(['guard_full']));
  });

  test('[T11] can be cancelled beyond the limit, and undoes its steps', async () => {
    const { client, clock } = adaAt(18_000);
    const taskId = await client.start('deciding');
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'input_required' });
    await client.update(taskId, { sure: { action: 'accept', content: { sure: true } } });
    await client.idle();
    // The turn of the answer waits for room.
    expect(await client.get(taskId)).toMatchObject({ status: 'working' });
    await client.cancel(taskId);
    await client.idle();
    clock.now += 60_000;
    await client.get(taskId);
    await client.idle();
    expect(await client.get(taskId)).toMatchObject({ status: 'cancelled' });
    expect(ran).toEqual(['begin', 'undo']);
  });
});

test('[T11] an undo that waits for its next attempt goes on beyond the limit', async () => {
  const ran: string[] = [];
  const failing = saga({ name: 'failing', version: '1' }, function* () {
    yield* step('reserve', () => 'room', {
      compensate: () => {
        ran.push('undo');
        if (ran.length === 1) throw new Error('not now');
      },
      undo: { retry: { attempts: 5, delay: 60_000, maxDelay: 60_000, jitter: false } },
    });
    yield* elicit('sure', { message: 'Sure?', schema: Sure });
    yield* step('pay', () => Promise.reject(new Error('no money')));
    return 'paid';
  });
  const clock = testClock();
  const store = memoryStore({ clock });
  const { host } = hostOf(failing, {
    clock,
    store,
    shortTokens: false,
    limits: { maxKeptBytes: 1, maxHold: 0 },
  });
  const ada = { caller: { principal: { subject: 'ada', client: 'app' } } };
  const sure = [{ stepId: 'sure', result: { action: 'accept', content: { sure: true } } }];
  const other = suspended(await host.start('failing', {}, ada));
  const undoing = suspended(
    await host.resume(suspended(await host.start('failing', {}, ada)).token, sure, ada),
  );
  expect(ran).toEqual(['undo']);
  await expect(host.resume(other.token, sure, ada)).rejects.toMatchObject({ code: 'guard_full' });
  clock.now += 61_000;
  expect(await host.resume(undoing.token, [], ada)).toMatchObject({ status: 'failed' });
  expect(ran).toEqual(['undo', 'undo']);
});

test.each([undefined, 'ok'] as const)(
  '[T11] a saga that runs only as a task runs nothing if its task is not stored (reuse: %s)',
  async (reuse) => {
    const ran: string[] = [];
    const slow = saga({ name: 'slow', version: '1', reuse, task: 'require' }, function* () {
      yield* step('pay', () => void ran.push('pay'));
      yield* sleep(3_600_000);
      return 'done';
    });
    const clock = testClock();
    const { host } = hostOf(slow, {
      clock,
      store: memoryStore({ clock }),
      auth: { principal: asAda.principal },
      limits: { maxKeptBytes: 4_000, maxHold: 0 },
    });
    const client = taskClient(host, { clientId: 'app' });
    let begun = 0;
    const calls = async (): Promise<void> => {
      for (; begun < 100; begun += 1) {
        expect(await client.call('slow')).toMatchObject({ resultType: 'task' });
        await client.idle();
      }
    };
    await expect(calls()).rejects.toMatchObject({ data: { reason: 'guard_full' } });
    expect(begun).toBeGreaterThan(0);
    // The turn of the last task may find no room, and then waits for it.
    expect(begun - ran.length).toBeLessThanOrEqual(1);
  },
);

test('a task in a store in memory counts for its principal until it expires', async () => {
  const clock = testClock();
  const store = memoryStore({ clock });
  const charge = { to: 'ada', limit: 10 };
  const write = (id: string) =>
    writeSealed(store, 'task', id, 'x'.repeat(10), 0, {
      expiresAtMs: clock.now + 1_000,
      charge,
    });
  expect([await write('a'), await write('b'), await write('a')]).toEqual([
    'written',
    'full',
    'other',
  ]);
  clock.now += 1_000;
  expect(await write('b')).toBe('written');
});
