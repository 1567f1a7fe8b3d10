import { describe, expect, test } from 'vitest';
import { elicit, memoryStore, saga, step } from '@mcp-saga/server';
import { completed, hostOf, suspended } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { start, testClock } from '../fixtures/clock.ts';
import { recordingQueue, type Sent } from '../queue/queued.ts';
import { coreOf } from '../../src/saga-host.ts';

const minute = 60_000;
const hour = 60 * minute;
const skew = 30_000;

describe('the lifetime of a saga', () => {
  test('[T6] [E1] a saga of 300 charges completes if its client returns every minute for five hours', async () => {
    const charged: number[] = [];
    const charges = saga({ name: 'charges', version: '1' }, function* () {
      for (let index = 0; index < 300; index += 1) {
        yield* step('charge', () => void charged.push(index), { key: `${index}` });
      }
      return 'charged';
    });
    const clock = testClock();
    const store = memoryStore({ clock });
    // Each charge uses up the budget of a turn.
    const { host } = hostOf(charges, { clock, store, limits: { turnBudget: 1 } });
    const holder = { kind: 'store' } as const;
    let turn = await host.start('charges', {});
    while (turn.status === 'suspended') {
      expect(turn.expiresAt).toBe(clock.now + hour);
      clock.now += minute;
      turn = await coreOf(host).resume(turn.token, [], {}, { holder });
    }
    expect(completed(turn).result).toBe('charged');
    expect(charged).toHaveLength(300);
  });

  test('[T6] [T13] a client that only asks again cannot extend a saga beyond its maximum lifetime', async () => {
    const clock = testClock();
    const asking = saga({ name: 'asking', version: '1' }, function* () {
      yield* elicit('ok', { message: 'OK?', schema: Empty });
      return 'done';
    });
    const queue = recordingQueue();
    const store = memoryStore({ clock });
    const { host, told } = hostOf(asking, {
      clock,
      store,
      queue,
      limits: { tokenTtl: hour, maxLifetime: 3 * hour },
    });
    let turn = suspended(await host.start('asking', {}));
    const ends = [queue.sent.at(-1) as Sent];
    for (let index = 0; index < 8; index += 1) {
      clock.now += 20 * minute;
      turn = suspended(await host.resume(turn.token));
      ends.push(queue.sent.at(-1) as Sent);
    }
    expect(turn.expiresAt).toBe(start + 3 * hour);
    // A turn that changes nothing keeps its token for half of the token's life. The queue comes when
    // the newest token has expired.
    expect(ends.map(({ at }) => (at - start) / minute)).toEqual([
      61, 61, 101, 101, 141, 141, 181, 181, 181,
    ]);
    clock.now = start + 3 * hour + skew;
    await expect(host.resume(turn.token)).rejects.toMatchObject({ reason: 'expired' });
    const { message, at } = ends.at(-1) as Sent;
    clock.now = at;
    const { sagaId } = turn;
    expect(await host.deliver(message)).toEqual({ status: 'ended', sagaId });
    expect(told.turns.at(-1)).toMatchObject({ status: 'failed', turn: message.turn + 1 });
    // The store still knows every token that can be used: no other message runs anything, nor one
    // that is sent again for it.
    const turns = told.turns.length;
    for (let deliveries = 0; queue.sent.length > 0; deliveries += 1) {
      expect(deliveries).toBeLessThan(100);
      const { message: other } = queue.sent.shift() as Sent;
      expect(['ended', 'outdated']).toContain((await host.deliver(other)).status);
    }
    expect(told.turns).toHaveLength(turns);
  });
});
