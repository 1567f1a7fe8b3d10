import {
  alarmQueue,
  createSagaObject,
  durableObjectStore,
  type DurableObjectNamespaceLike,
  type DurableObjectOptions,
  type SagaObjectOptions,
} from '@mcp-saga/cloudflare';
import {
  storeGuard,
  type Fence,
  type GuardClaim,
  type GuardVerdict,
} from '@mcp-saga/server/internal';
import type { EntryKey } from '@mcp-saga/server/stores';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Entries, type DurableObjectStorageLike } from '../src/object-storage.ts';
import { removeEntry, writeEntry } from '../src/stored-entries.ts';
import { startObjects, type Workerd } from './support/objects.ts';
import { patient } from '../../../test/support/patience.ts';
import { expectLogs } from '../../../test/support/logs.ts';

const hour = 3_600_000;
/** Key of the entry of a task. */
const task: EntryKey = { group: 't', name: 'task' };
let workerd: Workerd;
beforeAll(async () => {
  workerd = await startObjects();
});
afterAll(() => workerd.close());

const setUp = () => {
  const objects = workerd.make();
  const store = durableObjectStore(objects.namespace, patient);
  const claim = (change: Partial<GuardClaim> = {}): GuardClaim => ({
    sagaId: 's',
    turn: 1,
    jti: 'token',
    action: 'resume',
    digest: 'yes',
    leaseMs: 60_000,
    expiresAt: objects.now() + hour,
    ...change,
  });
  return { objects, claim, store, guard: storeGuard(store) };
};

function fenceOf(verdict: GuardVerdict): Fence {
  if (typeof verdict === 'object' && 'run' in verdict) return verdict.run;
  throw new Error(`The turn does not run: ${JSON.stringify(verdict)}`);
}

describe('the objects of a store', () => {
  it('[T13] store used tokens across a restart between two turns, and in a turn', async () => {
    const { objects, guard, claim } = setUp();
    const fence = fenceOf(await guard.begin(claim()));
    await objects.abort('saga s');
    expect(await guard.begin(claim())).toBe('busy');
    expect(await guard.finish(fence, 'sealed')).toBe(true);
    await objects.abort('saga s');
    expect(await guard.begin(claim())).toEqual({ response: 'sealed', wentOn: false });
    expect(await guard.begin(claim({ digest: 'no' }))).toBe('conflict');
  });

  it('[T13] reject a turn of a host whose clock differs by more than 30 s', async () => {
    const { objects, guard, claim } = setUp();
    await expect(guard.begin(claim({ now: objects.now() - 40_000 }))).rejects.toThrow('30 s');
    await expect(guard.begin(claim({ now: objects.now() + 40_000 }))).rejects.toThrow('30 s');
    fenceOf(await guard.begin(claim({ now: objects.now() + 10_000 })));
  });

  it('reject entries that would expire at once', async () => {
    const { objects, guard, store, claim } = setUp();
    const expiresAt = objects.now() - 1_000;
    await expect(guard.begin(claim({ expiresAt }))).rejects.toThrow(/clock/);
    await expect(async () => guard.claim('s:once', expiresAt)).rejects.toThrow(/clock/);
    await expect(async () =>
      store.append({ group: 'b', name: 'ada' }, 'x', { expiresAtMs: expiresAt, maxValues: 1 }),
    ).rejects.toThrow(/clock/);
  });

  it('are empty after all entries have expired', async () => {
    const { objects, guard, store, claim } = setUp();
    const charge = { to: 'ada', limit: 1_000 };
    const expiresAt = objects.now() + hour;
    await guard.finish(fenceOf(await guard.begin(claim({ charge, request: 'answers' }))), 'sealed');
    fenceOf(await guard.begin(claim({ turn: 2, expiresAt: expiresAt + hour })));
    await guard.claim('s:once', expiresAt);
    const bounds = { expiresAtMs: expiresAt, maxValues: 1 };
    await store.write(task, { head: 'task', body: 'sealed' }, 0, bounds);
    await store.append({ group: 'b', name: 'ada' }, 'sealed', { ...bounds, chargeTo: 'eve' });
    const names = ['saga s', 'owner ada', 'owner eve', 'saga t', 'saga b'];
    const states = () => Promise.all(names.map(objects.stateOf));
    for (const { hasAlarm } of await states()) expect(hasAlarm).toBe(true);
    await objects.pass(hour + 16 * 60_000);
    expect((await objects.stateOf('saga s')).names).toEqual(['entry turn:2']);
    await objects.pass(hour);
    for (const state of await states())
      expect(state).toEqual({ isBusy: false, hasAlarm: false, names: [] });
  });

  it('store no response of a turn that ended too late', async () => {
    const { objects, guard, claim } = setUp();
    const fence = fenceOf(await guard.begin(claim({ respondsUntil: objects.now() + 1_000 })));
    await objects.pass(2_000);
    expect(await guard.finish(fence, 'sealed')).toBe(true);
    expect(await guard.begin(claim())).toBe('conflict');
  });
});

/** A binding whose first reply of each call is lost, after the object has stored everything. */
function forgetful(
  namespace: DurableObjectNamespaceLike,
  mark: object,
): DurableObjectNamespaceLike {
  const lost = new Set<string>();
  return {
    idFromName: (name) => namespace.idFromName(name),
    get: (id) => ({
      fetch: async (url, init) => {
        const response = await namespace.get(id).fetch(url, init);
        if (lost.has(init.body)) return response;
        lost.add(init.body);
        throw Object.assign(new Error('Network connection lost.'), mark);
      },
    }),
  };
}

describe('a repeated call', () => {
  it('[T13] counts once if the reply was dropped', async () => {
    const { objects, claim } = setUp();
    const store = durableObjectStore(forgetful(objects.namespace, { retryable: true }));
    const guard = storeGuard(store);
    const expiresAt = objects.now() + hour;
    const fence = fenceOf(await guard.begin(claim({ request: 'first' })));
    expect(await guard.finish(fence, 'sealed')).toBe(true);
    expect(await guard.begin(claim())).toEqual({ response: 'sealed', wentOn: false });
    const second = fenceOf(await guard.begin(claim({ turn: 2, request: 'first' })));
    await guard.release(second);
    expect(await guard.begin(claim({ turn: 2 }))).toMatchObject({ interrupted: 'first' });
    expect(await guard.forget(fenceOf(await guard.begin(claim({ turn: 3 }))))).toBe(true);
    expect(await guard.claim('s:once', expiresAt)).toBe(true);
    expect(await guard.claim('s:once', expiresAt)).toBe(false);
    const bounds = { expiresAtMs: expiresAt, maxValues: 9 };
    const written = await store.write(task, { head: 'task', body: 'one' }, 0, bounds);
    expect(written.status).toBe('written');
    expect(await store.read(task)).toMatchObject({ body: 'one' });
    expect(await store.append({ group: 'b', name: 'ada' }, 'sealed', bounds)).toBe('added');
    expect((await store.list('b')).values).toHaveLength(1);
  });

  it('is not made after an error that Cloudflare does not mark, or of an overloaded object', async () => {
    for (const mark of [{}, { retryable: true, overloaded: true }]) {
      const { objects, store } = setUp();
      const lossy = durableObjectStore(forgetful(objects.namespace, mark));
      await expect(async () =>
        lossy.write(task, { head: 'task', body: 'one' }, 0, { expiresAtMs: objects.now() + hour }),
      ).rejects.toThrow(Error);
      // The write is done: the error says nothing about that.
      expect(await store.read(task)).toMatchObject({ body: 'one' });
    }
  });

  it('fails after three attempts', async () => {
    const fetch = vi.fn(() =>
      Promise.reject(Object.assign(new Error('lost'), { retryable: true })),
    );
    const store = durableObjectStore({ idFromName: (name) => name, get: () => ({ fetch }) });
    await expect(async () => store.read(task)).rejects.toThrow('lost');
    expect(fetch).toHaveBeenCalledTimes(3);
  });

  it('a call to an object fails after `timeout`', async () => {
    const hangs: DurableObjectNamespaceLike = {
      idFromName: (name) => name,
      get: () => ({
        fetch: (_, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
      }),
    };
    const store = durableObjectStore(hangs, { timeout: 1 });
    await expect(async () => store.read(task)).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

describe('the options', () => {
  const namespace: DurableObjectNamespaceLike = {
    idFromName: (name) => name,
    get: () => ({ fetch: () => Promise.reject(new Error('not called')) }),
  };
  const given = (value: unknown) => value as DurableObjectNamespaceLike;

  it.each([durableObjectStore, alarmQueue])('of %o are checked', (make) => {
    const invalid = { code: 'invalid_option' };
    for (const other of [undefined, {}, { get: () => undefined }, 'SAGAS'])
      expect(() => make(given(other))).toThrow(expect.objectContaining(invalid) as Error);
    expect(() => make(namespace, { timeoutMs: 1 } as DurableObjectOptions)).toThrow(
      expect.objectContaining({ code: 'unknown_option' }) as Error,
    );
    for (const timeoutMs of [0, -1, Number.NaN])
      expect(() => make(namespace, { timeout: timeoutMs })).toThrow(RangeError);
  });

  it('of a class are checked', () => {
    expect(() => createSagaObject({ deliver: 'host' as never })).toThrow(TypeError);
    expect(() => createSagaObject({ host: 'host' } as object)).toThrow(TypeError);
    expect(() => createSagaObject({ onError: 'log' as never })).toThrow(TypeError);
  });

  /** An object in memory, and the queue that it stores. */
  const inMemory = (options: SagaObjectOptions<string>) => {
    const stored = new Map<string, unknown>();
    const none = () => Promise.resolve();
    const storage = {
      kv: {
        get: (name: string) => stored.get(name),
        put: (name: string, value: unknown) => void stored.set(name, value),
        delete: (name: string) => stored.delete(name),
        list: () => stored,
      },
      getAlarm: () => Promise.resolve(null),
      setAlarm: none,
      deleteAlarm: none,
      deleteAll: none,
    };
    const object = new (createSagaObject<string>(options))({ storage }, 'env');
    const queue = alarmQueue({
      idFromName: () => undefined,
      get: () => ({ fetch: (url, init) => object.fetch(new Request(url, init)) }),
    });
    return { object, queue, stored };
  };
  const message = { sagaId: 's', turn: 1, token: 't' };

  it('of a class without `deliver` prevent that a message is stored', async () => {
    const { queue } = inMemory({});
    await expect(async () => queue.send(message, 1)).rejects.toThrow('deliver');
  });

  it('of a class report a rejected delivery, which is repeated even if the report fails', async () => {
    expectLogs(/the host rejected a message of alarmQueue/);
    const down = new Error('down');
    const reported: unknown[] = [];
    const { object, queue, stored } = inMemory({
      deliver: () => Promise.reject(down),
      onError: (...report) => {
        reported.push(report);
        throw new Error('The log is down, too.');
      },
    });
    await queue.send(message, 1);
    await object.alarm();
    expect(reported).toEqual([[down, 'env']]);
    expect(stored.get('message')).toMatchObject({ value: { message, failures: 1 } });
  });
});

it('[T13] an entry that is removed and written again within a millisecond has a greater version', () => {
  const kv = new Map<string, unknown>();
  const storage = {
    get: (name: string) => kv.get(name),
    put: (name: string, value: unknown) => void kv.set(name, value),
    delete: (name: string) => kv.delete(name),
    list: () => kv,
  };
  const entries = new Entries({ kv: storage } as unknown as DurableObjectStorageLike);
  const bounds = { expiresAtMs: entries.now + hour };
  const versions = ['one', 'two', 'three'].map((head) => {
    const written = writeEntry(entries, 'turn:1', { head }, 0, bounds);
    if (written.status !== 'written') throw new Error('It is not written.');
    expect(removeEntry(entries, 'turn:1', written.version).isRemoved).toBe(true);
    return written.version;
  });
  expect(versions).toEqual([entries.now, entries.now + 1, entries.now + 2]);
});
