import {
  createSagaHost,
  elicit,
  memoryStore,
  memoryQueue,
  saga,
  step,
  type KeySource,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import {
  accept,
  hooksInto,
  hostOf,
  keyOf,
  newKey,
  nothingTold,
  oldKey,
  suspended,
} from '../fixtures/host.ts';
import { outcome } from '../fixtures/outcome.ts';
import { post, read } from '../fixtures/raw.ts';
import { asking, Target } from '../fixtures/sagas.ts';
import { deploys, hostForAll, ways } from '../fixtures/ways.ts';
import { recordingQueue, type Sent } from '../queue/queued.ts';

const later = { code: -32_603, data: { reason: 'keys_down' } };
const minutes = 60_000;

/** A provider of keys that a test changes, holds back, and switches off. */
class Provider {
  loads = 0;
  isDown = false;
  gate: Promise<void> = Promise.resolve();
  keys: string;

  constructor(keys: string = oldKey) {
    this.keys = keys;
  }

  readonly load = async (): Promise<string> => {
    this.loads += 1;
    await this.gate;
    if (this.isDown)
      throw Object.assign(new Error(`no answer with ${this.keys}`), { code: 'ECONNREFUSED' });
    return this.keys;
  };
}

/** Lets the refresh in the background end. */
async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

const { load } = new Provider();

afterEach(() => {
  vi.restoreAllMocks();
});

describe.each(ways)('keys of a source, for sagas by $name', (way) => {
  test('[T7] [W1] seal and open tokens, and are loaded once', async () => {
    const ran: string[] = [];
    const source = new Provider();
    const host = hostForAll([deploys(ran)], { keys: source.load });
    expect(source.loads).toBe(0);
    const token = await way.begin(host);
    expect(await outcome(way, host, token)).toBe('went on');
    expect(source.loads).toBe(1);
    expect(host.told.errors).toEqual([]);
  });

  test('[T7] open tokens while the source is down, which is reported', async () => {
    const source = new Provider();
    const host = hostForAll([deploys()], { keys: source.load });
    await way.begin(host);
    source.isDown = true;
    host.clock.now += 6 * minutes;
    const token = await way.begin(host);
    expect(await outcome(way, host, token)).toBe('went on');
    expect(host.told.errors).toMatchObject([{ code: 'keys_down' }]);
    expect(host.told.rejections).toEqual([]);
  });

  test('[E10] [T7] that cannot be loaded cause a retryable error before anything runs', async () => {
    const ran: string[] = [];
    const source = new Provider();
    const store = memoryStore({ clock: () => clock.now });
    const clock = testClock();
    const options = { keys: source.load, clock, anonymous: { tasks: 'accept' }, store } as const;
    const token = await way.begin(hostForAll([deploys(ran)], { ...options, keys: oldKey }));
    ran.length = 0;
    source.isDown = true;
    const host = hostForAll([deploys(ran)], options);
    await expect(way.begin(host)).rejects.toThrow('keys_down');
    expect(await outcome(way, host, token)).toBe('later: keys_down');
    expect(ran).toEqual([]);
    expect(host.told).toMatchObject({ errors: [{ code: 'keys_down' }], rejections: [] });
    // The token stays valid.
    source.isDown = false;
    clock.now += 1_000;
    expect(await outcome(way, host, token)).toBe('went on');
  });

  test('[T7] are loaded early for a token of another process with a new key', async () => {
    const ran: string[] = [];
    const clock = testClock();
    const source = new Provider();
    const store = memoryStore({ clock });
    const offered = { anonymous: { tasks: 'accept' }, store } as const;
    const host = hostForAll([deploys(ran)], { keys: source.load, clock, ...offered });
    await way.begin(host);
    source.keys = `${newKey},${oldKey}`;
    clock.now += 10_000;
    const token = await way.begin(
      hostForAll([deploys(ran)], { keys: source.keys, clock, ...offered }),
    );
    expect(await outcome(way, host, token)).toBe('went on');
    expect(source.loads).toBe(2);
  });

  test('[T5] [T7] are not loaded for key IDs that a client made up', async () => {
    const clock = testClock();
    const source = new Provider();
    const store = memoryStore({ clock });
    const offered = { anonymous: { tasks: 'accept' }, store } as const;
    const host = hostForAll([deploys()], { keys: source.load, clock, ...offered });
    await way.begin(host);
    const other = hostForAll([deploys()], { keys: newKey, clock, ...offered });
    for (let times = 0; times < 30; times += 1) {
      clock.now += 1_000;
      expect(await outcome(way, host, await way.begin(other))).toBe('refused');
    }
    expect(source.loads).toBe(4);
    // At most ten rejections a second are reported.
    expect(new Set(host.told.rejections.map(({ reason }) => reason))).toEqual(
      new Set(['unknown_key']),
    );
    // While the source is down, no key is known to be unknown.
    source.isDown = true;
    clock.now += 10_000;
    expect(await outcome(way, host, await way.begin(other))).toBe('later: keys_down');
    expect(await outcome(way, host, await way.begin(other))).toBe('later: keys_down');
    expect(source.loads).toBe(5);
  });
});

describe('a host with a source of keys', () => {
  test('[T5] loads nothing for a token that was changed', async () => {
    const source = new Provider();
    const { host, clock, told } = hostOf(asking(), { keys: source.load });
    const { token } = suspended(await host.start('asking', {}));
    clock.now += 60_000;
    await expect(host.resume(`${token.slice(0, -1)}!`)).rejects.toMatchObject({
      reason: 'malformed',
    });
    await expect(host.resume(token.replace(/\.\.../, '..AA'))).rejects.toMatchObject({
      reason: 'undecryptable',
    });
    expect(told.rejections).toHaveLength(2);
    expect(source.loads).toBe(1);
  });

  test('[T7] accepts a function, and calls it again after five minutes', async () => {
    const source = new Provider();
    const { host, clock } = hostOf(asking(), { keys: () => source.load() });
    const first = suspended(await host.start('asking', {}));
    expect((await host.inspect(first.token)).keyId).toBe('old');
    source.keys = `${newKey},${oldKey}`;
    clock.now += 5 * minutes;
    const gate = deferred<void>();
    source.gate = gate.promise;
    // The refresh runs behind this request.
    const second = suspended(await host.start('asking', {}));
    expect((await host.inspect(second.token)).keyId).toBe('old');
    gate.resolve();
    await settled();
    const third = suspended(await host.start('asking', {}));
    expect((await host.inspect(third.token)).keyId).toBe('new');
    expect(source.loads).toBe(2);
    expect(await host.resume(first.token, [accept('target', { target: 'here' })])).toMatchObject({
      result: 'here',
    });
  });

  test('[T7] refreshes after `refresh`', async () => {
    const source = new Provider();
    const { host, clock } = hostOf(asking(), { keys: { load: source.load, refresh: 1_500 } });
    await host.start('asking', {});
    clock.now += 1_499;
    await host.start('asking', {});
    expect(source.loads).toBe(1);
    clock.now += 1;
    await host.start('asking', {});
    expect(source.loads).toBe(2);
  });

  test('[E8] ends an abandoned saga by a queue message of its keys', async () => {
    const queue = recordingQueue();
    const { host, clock } = hostOf(deploys(), { keys: load, store: memoryStore(), queue });
    const { sagaId } = suspended(await host.start('deploys', {}));
    const { message, at } = queue.sent.at(-1) as Sent;
    clock.now = at;
    expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
  });

  test.each([undefined, 'ephemeral', '', [], 'k1:short'])(
    '[T7] rejects keys of a source that returns %o, whatever the environment',
    async (keys) => {
      for (const environment of ['production', 'development', 'test']) {
        const { host, told } = hostOf(asking(), {
          keys: async () => keys as string,
          testing: { environment },
        });
        await expect(host.start('asking', {})).rejects.toMatchObject({ code: 'keys_down' });
        expect(told.errors).toMatchObject([{ code: 'keys_down' }]);
      }
    },
  );

  test('[T7] keeps its keys if a refresh returns bad keys, and reports their position', async () => {
    const source = new Provider();
    const { host, told, clock } = hostOf(asking(), { keys: source.load });
    const { token } = suspended(await host.start('asking', {}));
    source.keys = `${oldKey},new:kq-secret-kq`;
    clock.now += 5 * minutes;
    await host.inspect(token);
    await settled();
    await host.inspect(token);
    expect(told.errors).toMatchObject([{ message: expect.stringMatching(/key 2 of 2/) as string }]);
    expect(String(told.errors[0])).not.toContain('kq-secret-kq');
  });

  test.each(['production', 'development'])(
    '[T7] prints no key on the console in %s',
    async (environment) => {
      const shown: unknown[][] = [];
      for (const method of ['error', 'warn'] as const)
        vi.spyOn(console, method).mockImplementation((...all) => void shown.push(all));
      const source = new Provider();
      source.isDown = true;
      const host = createSagaHost({
        sagas: [asking()],
        name: 'deployer',
        keys: source.load,
        testing: { environment },
      });
      await expect(host.start('asking', {})).rejects.toThrow('Send the request again later');
      expect(shown).toHaveLength(1);
      const { inspect } = await import('node:util');
      expect(inspect(shown, { depth: 9 })).toContain('Error (ECONNREFUSED)');
      expect(inspect([shown, host], { depth: 9, showHidden: true })).not.toContain(oldKey.slice(4));
    },
  );

  test.each<[string, object, string]>([
    [
      'an unknown name',
      { load, refreshes: 1 },
      "There is no option 'keys.refreshes'. Did you mean 'keys.refresh'?",
    ],
    ['no `load`', { refresh: 1 }, 'keys.load: expected a function'],
    ['`load` as a promise', { load: Promise.resolve(oldKey) }, 'keys.load: expected a function'],
    [
      'a tenant in place of `tenantOf`',
      { load, tenantOf: 'a' },
      'keys.tenantOf: expected a function',
    ],
    ['no interval', { load, refresh: 0 }, 'keys.refresh must be more than 0'],
  ])('is rejected with %s', (_, keys, problem) => {
    expect(() => hostOf(asking(), { keys: keys as KeySource })).toThrow(problem);
  });
});

describe('a server with a source of keys', () => {
  const serve = (options: object): ReturnType<typeof serveSagas> =>
    serveSagas({ name: 'deployer', version: '1', sagas: [asking()], ...options });
  const called = async (
    server: ReturnType<typeof serveSagas>,
    ...given: readonly unknown[]
  ): Promise<{ readonly keyId: string | undefined; readonly error: unknown }> => {
    const request = post('modern', 'tools/callSaga', { name: 'asking', arguments: {} });
    const { last } = await read(await server.fetch(request, ...given));
    const [header = ''] = ((last.result?.['sagaToken'] ?? '') as string).split('.');
    const { kid } = JSON.parse(Buffer.from(header, 'base64url').toString() || '{}') as {
      readonly kid?: string;
    };
    return { keyId: kid, error: last.error };
  };

  test('[T7] accepts a promise of keys from the env of a request, and calls it with the newest env', async () => {
    const clock = testClock();
    const envs: unknown[] = [];
    const gate = deferred<void>();
    const server = serve({
      keys: async (env: { readonly SAGA_KEYS: string }) => {
        envs.push(env);
        if (envs.length > 1) await gate.promise;
        return env.SAGA_KEYS;
      },
      testing: { clock },
    });
    const works: Promise<unknown>[] = [];
    const runtime = { waitUntil: (work: Promise<unknown>) => works.push(work) };
    expect((await called(server, { SAGA_KEYS: oldKey }, runtime)).keyId).toBe('old');
    clock.now += 5 * minutes;
    expect((await called(server, { SAGA_KEYS: newKey }, runtime)).keyId).toBe('old');
    // A Worker would end the refresh with the request.
    expect(works).toHaveLength(1);
    gate.resolve();
    await Promise.all(works);
    expect((await called(server, { SAGA_KEYS: 'none' }, runtime)).keyId).toBe('new');
    expect(envs).toEqual([{ SAGA_KEYS: oldKey }, { SAGA_KEYS: newKey }]);
  });

  test('[T7] starts no refresh within a request, because the runtime would end it with the request', async () => {
    const clock = testClock();
    const source = new Provider();
    const slow = saga({ name: 'asking', version: '1' }, function* () {
      yield* step('slow', () => void (clock.now += 6 * minutes));
      yield* elicit('target', { message: 'Where?', schema: Target });
      return 'done';
    });
    const server = serve({ sagas: [slow], keys: { load: source.load }, testing: { clock } });
    const works: Promise<unknown>[] = [];
    const runtime = { waitUntil: (work: Promise<unknown>) => works.push(work) };
    expect((await called(server, {}, runtime)).keyId).toBe('old');
    expect([works.length, source.loads]).toEqual([0, 1]);
    await called(server, {}, runtime);
    await settled();
    expect([works.length, source.loads]).toEqual([1, 2]);
  });

  test('[T7] passes a refresh to waitUntil for a request that the SDK answers, too', async () => {
    const clock = testClock();
    const source = new Provider();
    const server = serve({
      keys: () => ({ load: source.load }),
      testing: { clock },
      extend: () => undefined,
    });
    await called(server, {});
    clock.now += 5 * minutes;
    const works: Promise<unknown>[] = [];
    expect(
      (await called(server, {}, { waitUntil: (work: Promise<unknown>) => works.push(work) })).error,
    ).toBeUndefined();
    expect([works.length, source.loads]).toEqual([1, 2]);
  });

  test('[T7] passes a refresh of an answer page or a queue message to waitUntil', async () => {
    const clock = testClock();
    const source = new Provider();
    const queue = { ...memoryQueue(), receive: () => ({ sagaId: 's', turn: 1, token: 'x' }) };
    const server = serve({
      sagas: [],
      keys: { load: source.load },
      store: memoryStore({ clock }),
      url: 'https://shop.example',
      queue,
      hooks: hooksInto(nothingTold()),
      testing: { clock },
    });
    const sent = async (path: string): Promise<unknown> => {
      const works: Promise<unknown>[] = [];
      const runtime = { waitUntil: (work: Promise<unknown>) => works.push(work) };
      const request = new Request(`https://shop.example/saga/${path}`, { method: 'POST' });
      const { status } = await server.fetch(request, {}, runtime);
      await Promise.all(works);
      clock.now += 5 * minutes;
      return [path, status, works.length];
    };
    expect(await sent('answer/x')).toEqual(['answer/x', 404, 0]);
    expect(await sent('answer/x')).toEqual(['answer/x', 404, 1]);
    expect(await sent('wake')).toEqual(['wake', 422, 1]);
  });

  test('[E10] answers with a retryable error while keys cannot be loaded, and lists its tools', async () => {
    const told = nothingTold();
    const clock = testClock();
    let keys = Promise.reject<string>(new Error('down'));
    const server = serve({ keys: () => keys, hooks: hooksInto(told), testing: { clock } });
    const unhandled: unknown[] = [];
    const note = (error: unknown): unknown => unhandled.push(error);
    process.on('unhandledRejection', note);
    const { last } = await read(await server.fetch(post('modern', 'tools/list', {})));
    await settled();
    process.off('unhandledRejection', note);
    // It would end the process.
    expect(unhandled).toEqual([]);
    expect(last.result).toMatchObject({ tools: [{ name: 'asking' }] });
    expect((await called(server)).error).toMatchObject(later);
    expect(told.errors).toMatchObject([{ code: 'keys_down' }]);
    keys = Promise.resolve(keyOf('again', 3));
    clock.now += 1_000;
    expect((await called(server)).keyId).toBe('again');
  });

  test('[T7] accepts a source at the start, and checks it', async () => {
    expect((await called(serve({ keys: { load: new Provider(newKey).load } }))).keyId).toBe('new');
    const keys = { load, refresh: -1 } as unknown as SagaHostOptions['keys'];
    expect(() => serve({ keys })).toThrow('keys.refresh');
  });
});
