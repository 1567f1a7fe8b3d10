import { memoryStore, saga, step, type SagaStore } from '@mcp-saga/server';
import { replaceGuard, storeGuard, type SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, it } from 'vitest';
import { coreOf } from '../../src/saga-host.ts';
import { hostOf } from '../fixtures/host.ts';
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
      url: base,
      anonymous: { tasks: 'accept' },
    });
    const core = coreOf(host);
    expect(core.guard?.turns).toBe(guard);
    expect(core.offers.tasks?.store).toBe(store);
    expect(core.offers.handles).toBe(store);
    expect(core.offers.outside?.store).toBe(store);
    expect(await host.start('once', {})).toMatchObject({ status: 'completed' });
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
