import { memoryStore, saga, step, type SagaHostOptions, type SagaStore } from '@mcp-saga/server';
import { replaceGuard, storeGuard, type SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, it } from 'vitest';
import { coreOf } from '../../src/saga-host.ts';
import { hostOf } from '../fixtures/host.ts';
import { recordingQueue } from '../queue/queued.ts';
import { base } from './case.ts';

const once = saga({ name: 'once', version: '1', task: 'prefer' }, function* () {
  yield* step('pay', () => 1, { once: true });
  return 'paid';
});

/** A store in memory, and the guard that a host has on it. */
function guarded(): { readonly store: SagaStore; readonly guard: SagaGuard } {
  const store = memoryStore();
  const guard = storeGuard(store);
  replaceGuard(store, guard);
  return { store, guard };
}

describe('the option `store`', () => {
  it('keeps used tokens, tasks, short tokens, and answers', async () => {
    const { store, guard } = guarded();
    const { host } = hostOf(once, {
      store,
      outside: { url: base },
      anonymous: { tasks: 'accept' },
    });
    const core = coreOf(host);
    expect(core.guard?.turns).toBe(guard);
    expect(core.offers.tasks?.store).toBe(store);
    expect(core.offers.handles).toBe(store);
    expect(core.offers.outside?.store).toBe(store);
    expect(await host.start('once', {})).toMatchObject({ status: 'completed' });
  });

  it('is overridden by single options', () => {
    const { store: tokens, guard } = guarded();
    const tasks = memoryStore();
    const answers = memoryStore();
    const { host } = hostOf(once, {
      store: memoryStore(),
      guard: { store: tokens },
      anonymous: { tasks: 'accept' },
      tasks: { store: tasks },
      outside: { url: base, store: answers },
    });
    const core = coreOf(host);
    expect(core.guard?.turns).toBe(guard);
    expect(core.offers.tasks?.store).toBe(tasks);
    expect(core.offers.outside?.store).toBe(answers);
    const leased = coreOf(hostOf(once, { store: memoryStore(), guard: { lease: 90_000 } }).host);
    expect([leased.guard !== undefined, leased.timing.leaseMs]).toEqual([true, 90_000]);
  });

  it('[E7] is used for single options that are undefined, such as a missing variable', async () => {
    const { store, guard } = guarded();
    const none = { store: undefined } as object;
    const { host } = hostOf(once, {
      store,
      guard: { ...none, lease: 90_000 },
      anonymous: { tasks: 'accept' },
      tasks: { ...none },
      outside: { url: base, store: undefined } as unknown as NonNullable<
        SagaHostOptions['outside']
      >,
      queue: recordingQueue(),
    });
    const core = coreOf(host);
    expect(core.guard?.turns).toBe(guard);
    expect(core.offers.tasks?.store).toBe(store);
    expect(core.offers.outside?.store).toBe(store);
    expect(core.guard?.queue).toBeDefined();
  });

  it('enables no tasks and no pages by itself', () => {
    const plain = saga({ name: 'plain', version: '1' }, function* () {
      yield* step('one', () => 1);
      return '';
    });
    const { host, told } = hostOf(plain, { store: memoryStore() });
    expect(coreOf(host).offers).toMatchObject({ tasks: undefined, outside: undefined });
    expect(told.warnings.filter((warning) => warning.includes('Tasks'))).toEqual([]);
  });
});
