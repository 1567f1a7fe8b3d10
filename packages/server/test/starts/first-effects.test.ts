import {
  all,
  approval,
  continueAs,
  elicit,
  memoryStore,
  race,
  saga,
  sleep,
  step,
  type Program,
  type SagaTurn,
  type Steps,
} from '@mcp-saga/server';
import type { Client } from '@modelcontextprotocol/client';
import { machineSaga, step as effect } from '@mcp-saga/xstate';
import { describe, expect, test } from 'vitest';
import { fromPromise, setup } from 'xstate';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';
import { testClock } from '../fixtures/clock.ts';
import { connections } from '../fixtures/connections.ts';
import { deferred } from '../fixtures/deferred.ts';
import { completed, hostOf, suspended } from '../fixtures/host.ts';
import type { HostChanges } from '../fixtures/host-changes.ts';
import { minute, Ok, queued, recordingQueue } from '../queue/queued.ts';
import { keyField } from './shop.ts';

const handshake: HostChanges = { starts: { unkeyed: 'handshake' } };
/** A step that never ends warns of itself at some time. */
const quiet = { onWarning: () => undefined };

const question = { message: 'Go?', schema: Ok };

/** A step that can be undone. */
const charges = (did: string[], waits?: () => unknown): Steps<unknown> =>
  step('charge', () => (did.push('charge'), waits?.()), {
    compensate: () => void did.push('refund'),
  }) as never;

const pays = (body: () => Steps<unknown>): Program =>
  saga({ name: 'pay', version: '1' }, function* () {
    yield* body();
    return 'paid';
  });

/** The turn of a start, or its error. */
async function tried(start: Promise<SagaTurn>): Promise<unknown> {
  return await start.catch((error: unknown) => error);
}

describe('with a handshake, a lost first response has done nothing', () => {
  test('although a question is open beside the step, and a queue could go on', async () => {
    const did: string[] = [];
    const world = queued(
      pays(function* (): Steps<void> {
        yield* all({ go: elicit('go', question), paid: charges(did) });
      }),
      handshake,
    );
    suspended(await world.host.start('pay', {}));
    await world.next();
    expect(did).toEqual([]);
  });

  test('if a step that only has an undo comes before a step that has none', async () => {
    const did: string[] = [];
    const world = queued(
      pays(function* (): Steps<void> {
        yield* step('hold', () => undefined, { compensate: () => void did.push('release') });
        yield* step('reserve', () => void did.push('reserve'));
      }),
      handshake,
    );
    const { token } = suspended(await world.host.start('pay', {}));
    expect(did).toEqual([]);
    completed(await world.host.resume(token));
    expect(did).toEqual(['reserve']);
  });

  test('if the link of an approval would go out', async () => {
    const urls: string[] = [];
    const clock = testClock();
    const { host } = hostOf(
      saga({ name: 'pay', version: '1' }, function* () {
        const { approved } = yield* approval('boss', {
          message: 'Pay?',
          timeout: minute,
          link: 'accept',
          deliver: ({ url }) => void urls.push(url),
        });
        return String(approved);
      }),
      {
        ...handshake,
        clock,
        store: memoryStore({ clock }),
        url: 'https://shop.example',
        limits: { maxHold: 0 },
      },
    );
    const { token } = suspended(await host.start('pay', {}));
    expect(urls).toEqual([]);
    suspended(await host.resume(token));
    expect(urls).toHaveLength(1);
  });

  test('if a machine that commits each step has a promise', async () => {
    const did: string[] = [];
    const machine = setup({
      types: { output: {} as string },
      actors: {
        look: fromPromise(async () => void did.push('look')),
        charge: effect(() => void did.push('charge'), { compensate: () => undefined }),
      },
    }).createMachine({
      initial: 'looking',
      states: {
        looking: { invoke: { src: 'look', onDone: 'charging' } },
        charging: { invoke: { src: 'charge', onDone: 'done' } },
        done: { type: 'final' },
      },
      output: 'paid',
    });
    const options = { name: 'pay', version: '1', commitEach: true } as const;
    const { host } = hostOf(machineSaga(options, machine), { ...handshake, store: memoryStore() });
    suspended(await host.start('pay', {}));
    expect(did).toEqual([]);
  });
});

describe('with a queue, a first step that can be undone', () => {
  test('does not run if the queue cannot be told', async () => {
    const did: string[] = [];
    const world = queued(pays(() => charges(did)));
    world.queue.isDown = true;
    expect(await tried(world.host.start('pay', {}))).toMatchObject({ code: 'queue_down' });
    expect(did).toEqual([]);
    world.queue.isDown = false;
    completed(await world.host.start('pay', {}));
  });

  test('does not run if its principal stores too much', async () => {
    const did: string[] = [];
    const store = storeWithGuard(() => ({ begin: () => 'full' }));
    const world = queued(
      pays(() => charges(did)),
      { store },
    );
    expect(await tried(world.host.start('pay', {}))).toMatchObject({ code: 'guard_full' });
    expect({ did, sent: world.queue.sent }).toEqual({ did: [], sent: [] });
  });

  test('does not run if its client leaves before, and the queue does not know of it', async () => {
    const did: string[] = [];
    const left = new AbortController();
    const store = storeWithGuard((guard) => ({
      begin: (claim) => {
        left.abort(new Error('left'));
        return guard.begin(claim);
      },
    }));
    const world = queued(
      pays(() => charges(did)),
      { store },
    );
    const { signal } = left;
    expect(await tried(world.host.start('pay', {}, { signal }))).toBeInstanceOf(Error);
    expect({ did, sent: world.queue.sent }).toEqual({ did: [], sent: [] });
  });

  test('runs although the state before it fits no token: no client gets that', async () => {
    const did: string[] = [];
    const world = queued(
      pays(function* (): Steps<void> {
        yield* step('read', () => Array.from({ length: 3_000 }, (_, i) => Math.sin(i)).join(''));
        yield* charges(did);
      }),
      { limits: { maxTokenBytes: 16_384 } },
    );
    completed(await world.host.start('pay', {}));
    expect(did).toEqual(['charge']);
  });

  test('does not wait for other steps, so that it wins the race that it would win with a key', async () => {
    const did: string[] = [];
    const slow = deferred<undefined>();
    const world = queued(
      pays(function* (): Steps<void> {
        yield* all({
          report: step('report', () => slow.promise),
          paid: race({
            charged: step('charge', () => (did.push('charge'), slow.resolve(undefined)), {
              compensate: () => void did.push('refund'),
            }),
            late: sleep(5_000),
          }),
        });
      }),
    );
    completed(await world.host.start('pay', {}));
    expect(did).toEqual(['charge']);
  });

  test('runs in the first request of a saga that goes on as one with a step', async () => {
    const did: string[] = [];
    const pay = pays(() => charges(did));
    const route = saga({ name: 'route', version: '1' }, function* () {
      return yield* continueAs(pay as never, {});
    });
    completed(await queued([route, pay]).host.start('route', {}));
    expect(did).toEqual(['charge']);
  });

  test('leaves turns without one to themselves, also while the guard is down', async () => {
    const did: string[] = [];
    const look = saga({ name: 'look', version: '1' }, function* () {
      yield* step('mail', () => void did.push('mail'));
      try {
        yield* step('fails', () => {
          throw new Error('no');
        });
      } catch {
        did.push('caught');
      }
      yield* step('after', () => void did.push('after'));
      return 'ok';
    });
    const store = storeWithGuard(() => ({ begin: () => Promise.reject(new Error('down')) }));
    completed(await queued(look, { store }).host.start('look', {}));
    expect(did).toEqual(['mail', 'caught', 'after']);
  });
});

test('[E8] with a queue, a call with a key tells it before its first step', async () => {
  const did: string[] = [];
  const stuck = deferred<number>();
  const world = queued(
    pays(function* (): Steps<void> {
      yield* charges(did, () => {
        stuck.resolve(world.queue.sent.length);
        return did.length === 1 ? new Promise(() => undefined) : undefined;
      });
      yield* elicit('go', question);
    }),
  );
  // Its process dies in the step, and its client never comes back.
  void world.host.start('pay', {}, { idempotencyKey: 'k' });
  expect(await stuck.promise).toBe(1);
  const other = world.restart();
  expect(await world.next(other)).toMatchObject({ status: 'waiting' });
  expect(did).toEqual(['charge', 'charge']);
  expect(await world.next(other)).toMatchObject({ status: 'ended' });
  expect(did).toEqual(['charge', 'charge', 'refund']);
});

test.each<[string, HostChanges]>([
  ['without a queue', {}],
  ['with a queue', { queue: recordingQueue() }],
])('a call with a key, %s, keeps how a step has failed before the next one', async (_, options) => {
  const sent: string[] = [];
  const clock = testClock();
  const store = memoryStore({ clock, olderTokens: 'accept' });
  const stuck = deferred<undefined>();
  const start = async (rate: () => string, waits?: () => unknown): Promise<SagaTurn> => {
    const program = saga({ name: 'pay', version: '1' }, function* () {
      let value = 'none';
      try {
        value = yield* step('rate', rate, { retry: { attempts: 1 } });
      } catch {}
      yield* step(`send-${value}`, () => (sent.push(value), waits?.()));
      return value;
    });
    const { host } = hostOf(program, { clock, store, hooks: quiet, ...options });
    return await host.start('pay', {}, { idempotencyKey: 'k' });
  };
  // The process dies behind the failed step.
  void start(
    () => {
      throw new Error('No rate.');
    },
    () => {
      stuck.resolve(undefined);
      return new Promise(() => undefined);
    },
  );
  await stuck.promise;
  clock.now += minute + 1_000;
  await start(() => 'new');
  expect(sent).toEqual(['none', 'none']);
});

const pushed = connections.filter(({ name }) => name.includes('in memory'));

test.each(pushed)(
  '[E8] of a pushed call whose process dies is ended when its token has expired: $name',
  async ({ connect }) => {
    const did: string[] = [];
    const begun = deferred<undefined>();
    const world = queued(
      pays(function* (): Steps<void> {
        yield* charges(did, () => {
          begun.resolve(undefined);
          return did.length === 1 ? new Promise(() => undefined) : undefined;
        });
        yield* elicit('go', question);
      }),
    );
    const { client } = await connect(world.host);
    void client.callTool({ name: 'pay', arguments: {} }).catch(() => undefined);
    await begun.promise;
    const [message] = world.queue.sent;
    expect(message?.at).toBeGreaterThanOrEqual(world.clock.now + 60 * minute);
    expect(await world.next(world.restart())).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'charge', 'refund']);
  },
);

test.each(pushed.filter(({ name }) => name.endsWith('v2 client')))(
  'a pushed call whose key does not count is undone when its client has gone: $name',
  async ({ connect }) => {
    const asked = deferred<undefined>();
    const undone = deferred<string>();
    const { host } = queued(
      pays(function* (): Steps<void> {
        yield* step('charge', () => 'charged', { compensate: () => undone.resolve('refunded') });
        yield* elicit('go', question);
      }),
    );
    const { client, close } = await connect(host);
    (client as Client).setRequestHandler('elicitation/create', () => {
      asked.resolve(undefined);
      return new Promise<never>(() => undefined);
    });
    // An anonymous client cannot find its saga again.
    const call = { name: 'pay', arguments: {}, _meta: { [keyField]: 'call-1' } };
    void client.callTool(call).catch(() => undefined);
    await asked.promise;
    await close();
    expect(await undone.promise).toBe('refunded');
  },
);
