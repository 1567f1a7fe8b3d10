import {
  all,
  createSagaHost,
  elicit,
  generateKey,
  poll,
  saga,
  step,
  TokenRefused,
  type SagaHost,
  type SagaStore,
} from '@mcp-saga/server';
import { describe, expect, test as it } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import { recordingQueue, type Sent } from '../queue/queued.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import { answer, gone, hour, Ok } from './guarded-hosts.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

/**
 * What hosts do that share a guard and a queue, which continues sagas without their clients. (E8)
 */
export function wokenSagasSuite(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`hosts with a queue, with a store ${name}`, () => {
    async function setUp() {
      const { store, elsewhere, now, pass } = await make();
      const queue = recordingQueue();
      const did: string[] = [];
      let ahead = 0;
      const order = saga({ name: 'order', version: '1' }, function* () {
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => void did.push('refund'),
        });
        const { ship } = yield* all({
          ship: elicit('ship', { message: 'Ship?', schema: Ok }),
          packed: poll('packed', () => (did.push('poll') > 3 ? true : undefined), {
            every: hour,
            timeout: 24 * hour,
          }),
        });
        if (ship.ok)
          yield* step('ship', ({ idempotencyKey }) => void did.push(`ship ${idempotencyKey}`));
        yield* elicit('review', { message: 'Good?', schema: Ok });
        return 'done';
      });
      const keys = generateKey();
      const hostOf = (of: SagaStore): SagaHost =>
        createSagaHost({
          sagas: [order],
          keys,
          name: 'shop',
          testing: { environment: 'production', clock: () => now() + ahead },
          store: of,
          queue,
          limits: { maxHold: 0 },
          hooks: { onTurn: () => undefined, onError: () => undefined, onReject: () => undefined },
        });
      const hosts: [SagaHost, SagaHost] = [hostOf(store), hostOf(elsewhere)];
      const { token } = suspended(await hosts[0].start('order', {}));
      // Behind the message of the start, which came before the charge.
      const [, first] = queue.sent as [Sent, Sent];
      return {
        hosts,
        token,
        queue,
        did,
        first: first.message,
        dying: hostOf(storeWithGuard(() => ({ finish: gone }), elsewhere)),
        wait: (ms: number): void => void (ahead += ms),
        pass,
      };
    }

    it('[E8] [W4] continue sagas, whose clients then answer with tokens that the queue has used', async () => {
      const { hosts, token, queue, did, first, wait } = await setUp();
      wait(hour);
      expect(await hosts[1].deliver(first)).toMatchObject({ status: 'waiting' });
      expect(await hosts[0].deliver(first)).toMatchObject({ status: 'waiting' });
      expect(queue.sent.at(-1)).toMatchObject({ message: { turn: 3 } });
      expect(did).toEqual(['charge', 'poll', 'poll']);
      const next = suspended(await hosts[1].resume(token, answer('ship')));
      expect(suspended(await hosts[0].resume(token, answer('ship')))).toMatchObject({
        token: next.token,
      });
      await expect(hosts[0].resume(token, answer('ship', false))).rejects.toThrow(TokenRefused);
      wait(hour);
      expect(await hosts[0].deliver(queue.sent.at(-1)!.message)).toMatchObject({
        status: 'waiting',
      });
      expect(suspended(await hosts[1].resume(token, answer('ship'))).steps).toMatchObject([
        { stepId: 'review' },
      ]);
      expect(did.filter((what) => what.startsWith('ship'))).toHaveLength(1);
    });

    it('[E8] find the newest turn by the message of an older one', async () => {
      const { hosts, token, queue, did, first, wait } = await setUp();
      wait(hour);
      suspended(await hosts[0].resume(token, answer('ship')));
      queue.sent.length = 0;
      expect(await hosts[1].deliver(first)).toMatchObject({ status: 'waiting' });
      expect(queue.sent).toMatchObject([{ message: { turn: 3 } }]);
      expect(did).toEqual(['charge', 'poll', 'poll']);
    });

    it('[E8] [E9] finish an interrupted request of a client, with its answers', async () => {
      const { hosts, token, did, first, dying, wait, pass } = await setUp();
      wait(hour);
      did.push('polled');
      await expect(dying.resume(token, answer('ship'))).rejects.toMatchObject({
        code: 'guard_down',
      });
      wait(2 * 60_000);
      await pass(70_000);
      expect(await hosts[1].deliver(first)).toMatchObject({ status: 'waiting' });
      expect(new Set(did.filter((what) => what.startsWith('ship'))).size).toBe(1);
      expect(suspended(await hosts[0].resume(token, answer('ship'))).steps).toMatchObject([
        { stepId: 'review' },
      ]);
    });

    it('[E7] [E8] cancel the newest turn by a token that the queue has used', async () => {
      const { hosts, token, did, first, wait } = await setUp();
      wait(hour);
      await hosts[1].deliver(first);
      expect(await hosts[0].cancel(token)).toMatchObject({ compensated: [{ stepId: 'charge' }] });
      expect(did).toEqual(['charge', 'poll', 'poll', 'refund']);
    });
  });
}
