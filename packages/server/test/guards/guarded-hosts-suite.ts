import {
  createSagaHost,
  elicit,
  generateKey,
  saga,
  TokenRefused,
  type SagaTurn,
} from '@mcp-saga/server';
import { storeGuard, type SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, test as it } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import type { Sent } from '../queue/queued.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import { answer, gone, guardedHosts, Ok } from './guarded-hosts.ts';
import type { HostChanges } from '../fixtures/host-changes.ts';
import { coreOf } from '../../src/saga-host.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

/** What two hosts do that share a guard and a key. (T13, E7, E8) */
export function guardedHostsSuite(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`hosts that share a store ${name}`, () => {
    const setUp = (options: HostChanges = {}, change: Partial<SagaGuard> = {}) =>
      guardedHosts(make, options, change);

    it('[T13] give the same response to two concurrent requests, and run one', async () => {
      const { hosts, token, did } = await setUp();
      const [one, two] = await Promise.all(hosts.map((host) => host.resume(token, answer('ship'))));
      expect(two).toEqual(one);
      expect(did).toHaveLength(2);
    });

    it('[T13] [E7] refuse other answers, and the cancellation of an older turn', async () => {
      const { hosts, token, did } = await setUp();
      const [one, other] = hosts;
      const next = suspended(await one.resume(token, answer('ship')));
      await expect(other.resume(token, answer('ship', false))).rejects.toThrow(TokenRefused);
      await expect(other.cancel(token)).rejects.toThrow(TokenRefused);
      expect(did).not.toContain('refund');
      expect(await other.cancel(next.token)).toMatchObject({ compensated: [{ stepId: 'charge' }] });
      expect(await one.cancel(next.token)).toMatchObject({ compensated: [{ stepId: 'charge' }] });
      await expect(one.resume(next.token, answer('review'))).rejects.toThrow(TokenRefused);
      expect(did.filter((effect) => effect === 'refund')).toHaveLength(1);
    });

    it('[T13] repeat a turn with an expired lease with the same keys, and reject its late result', async () => {
      const { hosts, token, did, told, pass, hanging } = await setUp();
      const [one, other] = hosts;
      const hangs = hanging();
      const late = one.resume(token, answer('ship'));
      const goOn = await hangs;
      await pass(70_000);
      told.length = 0;
      const next = await other.resume(token, answer('ship'));
      goOn();
      await expect(late).rejects.toMatchObject({ code: 'busy' });
      const [, first, second] = did;
      expect(second).toBe(first);
      // Of the turn that begins, and of the next one, which the queue gets once.
      expect(told).toEqual(['message of turn 2', 'message of turn 3']);
      expect(await one.resume(token, answer('ship'))).toEqual(next);
    });

    it('[T13] begin one saga for concurrent starts with one key, and find it afterwards', async () => {
      const { hosts, did } = await setUp();
      const named = { idempotencyKey: 'event-1' };
      const begun = await Promise.all(hosts.map((host) => host.start('order', {}, named)));
      const [one, other] = begun.map((turn) => suspended(turn));
      expect(other?.sagaId).toBe(one?.sagaId);
      const next = suspended(await hosts[1].resume(one?.token ?? '', answer('ship')));
      const again = suspended(await hosts[0].start('order', {}, named));
      expect(again).toMatchObject({ sagaId: next.sagaId, steps: [{ stepId: 'review' }] });
      // One charge is that of the saga that the hosts began without a key.
      expect(did.filter((effect) => effect === 'charge')).toHaveLength(2);
    });

    it('[T13] finish a start with an expired lease under its own keys', async () => {
      const { hosts, did, pass } = await setUp({}, { finish: gone, release: gone });
      const [dying, other] = hosts;
      const named = { idempotencyKey: 'event-1' };
      await expect(dying.start('order', {}, named)).rejects.toMatchObject({ code: 'guard_down' });
      await pass(70_000);
      const turn = suspended(await other.start('order', {}, named));
      expect(turn).toMatchObject({ turn: 1, steps: [{ stepId: 'ship' }] });
      expect(suspended(await other.start('order', {}, named)).sagaId).toBe(turn.sagaId);
      expect(did.filter((effect) => effect === 'charge')).toHaveLength(3);
    });

    it('[T13] delay an answer while a copy of an older request runs', async () => {
      const made = await make();
      const guard = storeGuard(made.store);
      let next: Promise<SagaTurn> | undefined;
      const meets: Partial<SagaGuard> = {
        forget: async (fence) => {
          next ??= hosts[1].resume(token, answer('ship'));
          // The answer reaches the guard while the copy still runs.
          await new Promise((resolve) => setImmediate(resolve));
          return await guard.forget(fence);
        },
      };
      const { hosts, token } = await guardedHosts(async () => made, {}, meets);
      expect(await hosts[0].resume(token, answer('wrong'))).toMatchObject({ turn: 2 });
      expect(await next).toMatchObject({
        status: 'suspended',
        turn: 3,
        steps: [{ stepId: 'review' }],
      });
    });

    it('[T13] accept an answer although a copy of an older request was killed', async () => {
      const { hosts, token, did, pass } = await setUp({}, { forget: gone });
      await expect(hosts[0].resume(token, answer('wrong'))).rejects.toThrow();
      await pass(70_000);
      const next = await hosts[1].resume(token, answer('ship'));
      expect(next).toMatchObject({ status: 'suspended', turn: 3, steps: [{ stepId: 'review' }] });
      expect(did.filter((effect) => effect.startsWith('ship'))).toHaveLength(1);
      expect(await hosts[1].resume(token, answer('ship'))).toEqual(next);
    });

    it('[T13] [E1] finish an interrupted request before rejecting another one', async () => {
      const { hosts, token, did, pass } = await setUp({}, { finish: gone, release: gone });
      await expect(hosts[0].resume(token, answer('ship'))).rejects.toThrow();
      await pass(70_000);
      await expect(hosts[1].resume(token, answer('ship', false))).rejects.toThrow(TokenRefused);
      expect(await hosts[1].resume(token, answer('ship'))).toMatchObject({
        steps: [{ stepId: 'review' }],
      });
      const [first, second, ...more] = did.filter((effect) => effect.startsWith('ship'));
      expect([second, more]).toEqual([first, []]);
    });

    it('[T13] return no token of a slow turn that changed nothing and lost its lease', async () => {
      const made = await make();
      const guard = storeGuard(made.store);
      const slow: Partial<SagaGuard> = {
        forget: async (fence) => {
          await made.pass(70_000);
          await hosts[1].resume(token, answer('wrong'));
          return await guard.forget(fence);
        },
      };
      const { hosts, token } = await guardedHosts(async () => made, {}, slow);
      await expect(hosts[0].resume(token, answer('wrong'))).rejects.toMatchObject({ code: 'busy' });
      expect(await hosts[1].resume(token, answer('wrong'))).toMatchObject({
        status: 'suspended',
        turn: 3,
      });
    });

    it('[T13] [E1] continue with the answers of an interrupted request for a following request', async () => {
      const { hosts, token, did, hanging } = await setUp();
      const [one, other] = hosts;
      const hangs = hanging();
      const aborting = new AbortController();
      const cut = one.resume(token, answer('ship'), { signal: aborting.signal });
      const goOn = await hangs;
      aborting.abort();
      goOn();
      await expect(cut).rejects.toThrow('aborted');
      await expect(other.resume(token, [])).rejects.toThrow(TokenRefused);
      const next = suspended(await coreOf(other).resume(token, [], {}, { follows: true }));
      expect(next.steps).toMatchObject([{ stepId: 'review' }]);
      const [, first, second] = did;
      expect(second).toBe(first);
      expect(await one.resume(token, answer('ship'))).toEqual(next);
    });

    it('[T13] claim a `once` step, whichever host runs it', async () => {
      const { hosts, token, did, pass } = await setUp({}, { finish: gone });
      const [one, other] = hosts;
      const next = suspended(await other.resume(token, answer('ship')));
      await expect(one.resume(next.token, answer('review'))).rejects.toMatchObject({
        code: 'guard_down',
      });
      await pass(70_000);
      expect(await other.resume(next.token, answer('review'))).toMatchObject({ status: 'failed' });
      expect(did.filter((effect) => effect === 'thank')).toHaveLength(1);
    });

    it('[T13] neither run nor fail a `once` step that cannot be claimed', async () => {
      const { hosts, token, did, errors } = await setUp({}, { claim: gone });
      const [one, other] = hosts;
      const next = suspended(await other.resume(token, answer('ship')));
      const before = [...did];
      await expect(one.resume(next.token, answer('review'))).rejects.toMatchObject({
        code: 'guard_down',
      });
      expect(did).toEqual(before);
      expect(errors).toMatchObject([
        { code: 'guard_down', cause: { message: 'the store is gone' } },
      ]);
      // Only this request used the token, so it may return at once, and continues.
      await expect(other.resume(next.token, answer('review', false))).rejects.toThrow(TokenRefused);
      expect(await other.resume(next.token, answer('review'))).toMatchObject({
        result: 'thanks',
      });
      expect(did).toEqual([...before, 'thank']);
    });

    it('[E8] send the message of a turn again if its request is repeated', async () => {
      const { hosts, token, did, told, queue } = await setUp();
      const [one, other] = hosts;
      const next = suspended(await one.resume(token, answer('ship')));
      told.length = 0;
      await other.resume(token, answer('ship'));
      expect(told).toEqual(['message of turn 3']);
      const [before, again] = queue.sent.slice(-2) as [Sent, Sent];
      const { sagaId, turn } = before.message;
      // The client gets as much time to answer as before.
      expect(again).toMatchObject({ at: before.at, message: { sagaId, turn } });
      expect(await one.deliver(again.message)).toEqual({
        status: 'waiting',
        sagaId,
        at: before.at,
      });
      expect(did).not.toContain('refund');
      told.length = 0;
      await other.resume(next.token, answer('review'));
      await one.resume(next.token, answer('review'));
      expect(told).toEqual(['message of turn 3', 'settled', 'removed', 'settled', 'removed']);
      // The queue gets no message of an old turn: it would keep the message of a saga that has ended.
      told.length = 0;
      await one.resume(token, answer('ship'));
      expect(told).toEqual([]);
      expect(did).toHaveLength(3);
    });

    it('[T13] refuse a response that was stored for another token', async () => {
      const { store, elsewhere, now } = await make();
      const mixed = storeWithGuard(
        (guard) => ({
          begin: async (claim) => {
            const verdict = await guard.begin(claim);
            return typeof verdict === 'object' && 'response' in verdict
              ? { response: kept }
              : verdict;
          },
        }),
        elsewhere,
      );
      let kept = '';
      const keeps = storeWithGuard(
        (guard) => ({
          finish: (fence, sealed) => {
            if (fence.turn === 1) kept = sealed;
            return guard.finish(fence, sealed);
          },
        }),
        store,
      );
      const two = saga({ name: 'two', version: '1' }, function* () {
        yield* elicit('ship', { message: 'Ship?', schema: Ok });
        yield* elicit('review', { message: 'Good?', schema: Ok });
        return 'done';
      });
      const reasons: string[] = [];
      const common = {
        sagas: [two],
        keys: generateKey(),
        name: 'shop',
        testing: { clock: now },
        hooks: { onReject: ({ reason }: { readonly reason: string }) => void reasons.push(reason) },
      };
      const host = createSagaHost({ ...common, store: keeps });
      const one = suspended(await host.start('two', {}));
      const next = suspended(await host.resume(one.token, answer('ship')));
      await host.resume(next.token, answer('review'));
      const other = createSagaHost({ ...common, store: mixed });
      expect(await other.resume(one.token, answer('ship'))).toMatchObject({ token: next.token });
      await expect(other.resume(next.token, answer('review'))).rejects.toThrow(TokenRefused);
      expect(reasons).toEqual(['used']);
    });

    it('[T13] run nothing, or store nothing, while the guard is down', async () => {
      const { hosts, token, did, pass } = await setUp({}, { finish: gone });
      const [one, other] = hosts;
      await expect(one.resume(token, answer('ship'))).rejects.toMatchObject({ code: 'guard_down' });
      // The other host does not know that the step has run: after the lease, the step runs with the
      // same key.
      await pass(70_000);
      suspended(await other.resume(token, answer('ship')));
      const [, first, second] = did;
      expect(second).toBe(first);
    });
  });
}
