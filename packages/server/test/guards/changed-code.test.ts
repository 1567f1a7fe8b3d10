import { engineOf, type SagaEngine } from '@mcp-saga/server/internal';
import {
  checkpoint,
  createSagaHost,
  generateKey,
  memoryStore,
  pivot,
  saga,
  step,
  type Program,
  type SagaHost,
  type SagaTurn,
  type Steps,
} from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { suspended } from '../fixtures/host.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';

expectLogs(restartLog);

type Did = string[];

/** Hosts for old and changed code that share a guard and a key, with records of their hooks. */
function deploys(onMismatch: 'fail' | 'compensate' = 'fail') {
  const did: Did = [];
  const told: string[] = [];
  const clock = testClock();
  const shared = {
    keys: generateKey(),
    name: 'shop',
    testing: { environment: 'production', clock },
    store: memoryStore({ clock }),
    hooks: {
      onTurn: () => undefined,
      onError: () => undefined,
      onReject: () => undefined,
      onSettled: () => void told.push('settled'),
    },
  };
  const host = (program: Program): SagaHost => createSagaHost({ ...shared, sagas: [program] });
  const order = (body: () => Steps<unknown>): SagaHost =>
    host(
      saga({ name: 'order', version: '1', onMismatch }, function* () {
        yield* body();
        return 'done';
      }),
    );
  const book = (id: string) =>
    step(id, () => void did.push(id), { compensate: () => void did.push(`undo ${id}`) });
  return { did, told, host, order, book };
}

/** Asserts that this process cannot continue a saga, whose token stays valid. */
async function assertLeft(turn: Promise<SagaTurn>): Promise<void> {
  await expect(turn).rejects.toMatchObject({ code: 'replay_mismatch' });
}

describe('a deployment with code that does not match', () => {
  it('[R6] [E10] keeps the token valid if the code throws before the recorded point', async () => {
    const { did, told, order, book } = deploys();
    const make = (isBroken: boolean): SagaHost =>
      order(function* () {
        yield* book('charge');
        if (isBroken) throw new Error('broken');
        yield* checkpoint();
        yield* book('ship');
      });
    const { token } = suspended(await make(false).start('order', {}));
    for (let time = 0; time < 2; time += 1) await assertLeft(make(true).resume(token, []));
    expect(did).toEqual(['charge']);
    expect(told).toEqual([]);
    expect(await make(false).resume(token, [])).toMatchObject({ status: 'completed' });
    expect(did).toEqual(['charge', 'ship']);
    expect(told).toEqual(['settled']);
  });

  it('[R6] [E8] does not call onSettled for a saga that accepts forks', async () => {
    const { did, told, host } = deploys();
    const make = (isBroken: boolean): SagaHost =>
      host(
        saga({ name: 'order', version: '1', reuse: 'ok' }, function* () {
          yield* step('charge', () => void did.push('charge'));
          if (!isBroken) yield* checkpoint();
          return 'done';
        }),
      );
    const { token } = suspended(await make(false).start('order', {}));
    await assertLeft(make(true).resume(token, []));
    expect(told).toEqual([]);
  });

  it('[R6] [E3] keeps the token valid if earlier turns have undone steps', async () => {
    const { did, told, order, book } = deploys();
    let tries = 0;
    const flaky = step('b', () => void did.push('b'), {
      compensate: () => {
        if ((tries += 1) < 2) throw new Error('503');
        did.push('undo b');
      },
      undo: { retry: { attempts: 5, delay: 60_000, jitter: false } },
    });
    const make = (isChanged: boolean): SagaHost =>
      order(function* () {
        yield* book('a');
        yield* isChanged ? step('b', () => 1) : flaky;
        yield* book('c');
        yield* checkpoint();
        throw new Error('no');
      });
    const { token: first } = suspended(await make(false).start('order', {}));
    const { token } = suspended(await make(false).resume(first, []));
    expect(did).toEqual(['a', 'b', 'c', 'undo c']);
    await assertLeft(make(true).resume(token, []));
    expect(told).toEqual([]);
    expect(did).toEqual(['a', 'b', 'c', 'undo c']);
  });

  it("[R3] [E3] undoes all recorded steps or reports them, with onMismatch: 'compensate'", async () => {
    const { did, told, order, book } = deploys('compensate');
    const make = (isNew: boolean): SagaHost =>
      order(function* () {
        yield* book('a');
        if (isNew) yield* pivot('paid');
        yield* step('b', () => void did.push('b'));
        yield* step('hold', () => undefined, { compensate: () => void did.push('undo b') });
        yield* checkpoint();
      });
    const { token } = suspended(await make(false).start('order', {}));
    expect(await make(true).resume(token, [])).toMatchObject({
      compensated: [{ stepId: 'a' }],
      uncompensated: [{ stepId: 'hold' }, { stepId: 'b' }],
    });
    expect(did).toEqual(['a', 'b', 'undo a']);
    expect(told).toEqual(['settled']);
  });

  it('[E6] [E8] settles a cancelled saga that has nothing to undo', async () => {
    const { told, order } = deploys();
    const make = (ends: boolean): SagaHost =>
      order(function* () {
        if (!ends) yield* checkpoint();
      });
    const { token } = suspended(await make(false).start('order', {}));
    expect(await make(true).cancel(token)).toMatchObject({
      status: 'failed',
      compensated: [],
      uncompensated: [],
    });
    expect(told).toEqual(['settled']);
    await expect(make(false).resume(token, [])).rejects.toMatchObject({ reason: 'used' });
  });
});

describe('cancelling a saga that makes no progress', () => {
  it('[E6] [E8] throws after two turns that record nothing', async () => {
    const { host } = deploys();
    const stuck = saga({ name: 'order', version: '1' }, function* () {
      yield* checkpoint();
      return 'done';
    });
    let turns = 0;
    const advance: SagaEngine['advance'] = async (state, ...rest) => {
      turns += 1;
      if (turns === 1) return await engineOf(stuck).advance(state, ...rest);
      return { status: 'suspended', state, steps: [], retryAfterMs: 0, accepted: 0, ignored: [] };
    };
    const order = host({ ...stuck, engine: { ...engineOf(stuck), advance } });
    const { token } = suspended(await order.start('order', {}));
    await expect(order.cancel(token)).rejects.toMatchObject({ code: 'no_progress' });
    expect(turns).toBe(3);
  });
});
