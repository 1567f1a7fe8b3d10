import { createSagaHost, elicit, memoryStore, saga, step, type SagaStore } from '@mcp-saga/server';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { called } from '../fixtures/calling.ts';
import { hooksInto, nothingTold, oldKey, suspended, hostOf, accept } from '../fixtures/host.ts';
import { serveSagas } from '@mcp-saga/server/serve';
import { askingModels } from '../../../../test/support/asking-models.ts';

const hour = 3_600_000;
const Sure = z.object({ sure: z.string() });
const load = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(3_000))).toString('base64');

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: Date.now() }));
afterEach(() => void vi.useRealTimers());

it('an entry expires although the host makes no guarded request any more', async () => {
  const store = memoryStore();
  createSagaHost({ sagas: [], keys: oldKey, name: 'clock', store });
  const life = { expiresAtMs: Date.now() + hour };
  // The guard passes the time of the host.
  await store.write({ group: 'g', name: 'turn:1' }, { head: '{}' }, 0, {
    ...life,
    nowMs: Date.now(),
  });
  await store.write({ group: 'h', name: 'handle' }, { head: 'handle', body: 'x' }, 0, life);
  await store.append({ group: 'b', name: 'ann' }, 'x', { ...life, maxValues: 1 });
  vi.setSystemTime(Date.now() + 2 * hour);
  expect(await store.read({ group: 'h', name: 'handle' })).toBeUndefined();
  expect(await store.list('b')).toEqual({ values: [], isClosed: false });
});

it('short tokens expire, and free their principal, although no guarded saga is called any more', async () => {
  const guarded = saga({ name: 'guarded', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Sure });
    return 'done';
  });
  const free = saga({ name: 'free', version: '1', reuse: 'ok' }, function* () {
    yield* step('load', load);
    yield* elicit('sure', { message: 'Sure?', schema: Sure });
    return 'done';
  });
  const told = nothingTold();
  const store = memoryStore();
  const server = serveSagas({
    name: 'test',
    version: '1',
    sagas: askingModels([guarded, free]),
    keys: oldKey,
    store,
    testing: { environment: 'production' },
    hooks: hooksInto(told),
    answerers: { model: 'accept' },
    limits: { maxHold: 0, maxKeptBytes: 30_000 },
    auth: {
      authenticate: () => ({ token: 'a', clientId: 'app', scopes: [], extra: { sub: 'ada' } }),
      principal: () => ({ subject: 'ada', client: 'app' }),
    },
  } as never);
  const first = await called(server, 'modern', { name: 'guarded', arguments: {} });
  await called(server, 'modern', {
    name: 'guarded',
    arguments: { resumeToken: first.token, answers: { sure: { sure: 'yes' } } },
  });
  const lengths: (number | undefined)[] = [];
  // One call a day; a token lives for an hour.
  for (let day = 0; day < 20; day += 1) {
    vi.setSystemTime(Date.now() + 24 * hour);
    const { token } = await called(server, 'modern', { name: 'free', arguments: {} });
    lengths.push(token?.length);
  }
  expect(lengths).toEqual(Array.from({ length: 20 }, () => 22));
  expect(told.rejections).toEqual([]);
  expect(store.size).toBeLessThan(5);
});

it('a store in memory whose write is wrapped in place gets sealed records', async () => {
  const secret = 'canary-of-the-answer';
  const asking = saga({ name: 'asking', version: '1' }, function* () {
    const { sure } = yield* elicit('sure', { message: 'Sure?', schema: Sure });
    return sure;
  });
  const store: SagaStore = memoryStore();
  const seen: string[] = [];
  const write = store.write.bind(store);
  // As tools for tracing instrument a client.
  store.write = (...given) => {
    seen.push(JSON.stringify(given));
    return write(...given);
  };
  const { host } = hostOf(asking, { store });
  const { token } = suspended(await host.start('asking', {}));
  await host.resume(token, [accept('sure', { sure: secret })]);
  expect(seen.length).toBeGreaterThan(1);
  expect(seen.join('')).not.toContain(secret);
});
