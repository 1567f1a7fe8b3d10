import {
  memoryGuard,
  memoryMailbox,
  memoryStore,
  memoryTaskStore,
  saga,
  step,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { coreOf } from '../../src/saga-host.ts';
import { hostOf } from '../fixtures/host.ts';
import { recordingQueue } from '../queue/queued.ts';
import { base } from './case.ts';

const once = saga({ name: 'once', version: '1', forks: 'refuse', task: 'prefer' }, function* () {
  yield* step('pay', () => 1, { once: true });
  return 'paid';
});

describe('the option `store`', () => {
  it('provides guard, task store, and mailbox', async () => {
    const store = memoryStore();
    const { host } = hostOf(once, { store, outside: { url: base }, tasks: { bearer: 'accept' } });
    const core = coreOf(host);
    expect(core.guard?.store).toBe(store.guard);
    expect(core.offers.tasks?.store).toBe(store.tasks);
    expect(core.offers.outside?.mailbox).toBe(store.mailbox);
    expect(await host.start('once', {})).toMatchObject({ status: 'completed' });
  });

  it('is overridden by single options', () => {
    const guard = memoryGuard();
    const tasks = memoryTaskStore();
    const mailbox = memoryMailbox();
    const { host } = hostOf(once, {
      store: memoryStore(),
      guard: { store: guard },
      tasks: { store: tasks, bearer: 'accept' },
      outside: { url: base, mailbox },
    });
    const core = coreOf(host);
    expect([core.guard?.store, core.offers.tasks?.store, core.offers.outside?.mailbox]).toEqual([
      guard,
      tasks,
      mailbox,
    ]);
    const leased = coreOf(hostOf(once, { store: memoryStore(), guard: { leaseMs: 90_000 } }).host);
    expect([leased.guard !== undefined, leased.timing.leaseMs]).toEqual([true, 90_000]);
  });

  it('[E7] is used for single options that are undefined, such as a missing variable', async () => {
    const store = memoryStore();
    const none = { store: undefined } as object;
    const { host } = hostOf(once, {
      store,
      guard: { ...none, leaseMs: 90_000 },
      tasks: { ...none, bearer: 'accept' },
      outside: { url: base, mailbox: undefined } as unknown as NonNullable<
        SagaHostOptions['outside']
      >,
      queue: recordingQueue(),
    });
    const core = coreOf(host);
    expect([core.guard?.store, core.offers.tasks?.store, core.offers.outside?.mailbox]).toEqual([
      store.guard,
      store.tasks,
      store.mailbox,
    ]);
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

describe('memoryMailbox', () => {
  it('removes boxes after their time', () => {
    const clock = testClock();
    const mailbox = memoryMailbox({ clock });
    const put = (box: string, expiresAt: number): unknown =>
      mailbox.put(box, 'slot', 'sealed', { expiresAt, maxAnswers: 1 });
    put('one', clock.now + 5_000);
    clock.now += 5_000;
    expect(mailbox.list('one')).toEqual({ answers: [], isClosed: false });
    put('two', clock.now + 5_000);
    expect(mailbox.size).toBe(1);
    expect(() => memoryMailbox({ time: 1 } as object)).toThrow(TypeError);
  });
});
