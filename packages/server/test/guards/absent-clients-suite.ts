import {
  checkpoint,
  createSagaHost,
  elicit,
  generateKey,
  pivot,
  saga,
  sample,
  step,
  TokenRefused,
  type SuspendedSagaFacts,
} from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, test as it } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import { answer, gone, guardedHosts, hour, Ok } from './guarded-hosts.ts';
import type { HostChanges } from '../fixtures/host-changes.ts';
import { coreOf } from '../../src/saga-host.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

/** Hosts with a shared guard and a queue, whose client does not return. (E8) */
export function absentClientsSuite(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`hosts with absent clients, with a store ${name}`, () => {
    const setUp = (options: HostChanges = {}, change: Partial<SagaGuard> = {}) =>
      guardedHosts(make, options, change);

    it('[E8] undoes the unfinished turn of an absent client', async () => {
      const { hosts, token, did, told, facts, expire, hanging } = await setUp();
      const [one, other] = hosts;
      const cancelToken = facts[0]?.cancelToken ?? '';
      const hangs = hanging();
      const aborting = new AbortController();
      const left = one.resume(token, answer('ship'), { signal: aborting.signal });
      const goOn = await hangs;
      // The client disconnects while a step runs, and does not return.
      aborting.abort();
      goOn();
      await expect(left).rejects.toThrow('aborted');
      await expire();
      expect(await other.cancel(cancelToken)).toMatchObject({
        status: 'failed',
        compensated: [{ stepId: 'charge' }],
      });
      const [charge, first, second, ...undone] = did;
      // The outcome of the step was unknown, so it ran again with the same key.
      expect([charge, second]).toEqual(['charge', first]);
      expect(undone).toEqual(['refund']);
      expect(told).toEqual(['suspended 1', 'suspended 2', 'settled']);
      await expect(other.cancel(cancelToken)).rejects.toThrow(TokenRefused);
    });

    it('[E8] [W7] runs no more of an interrupted turn than its request', async () => {
      const { hosts, token, did, facts, expire } = await setUp({}, { finish: gone });
      const [one, other] = hosts;
      const looks = { dialect: { effects: 'never' } } as const;
      await expect(coreOf(one).resume(token, answer('ship'), {}, looks)).rejects.toMatchObject({
        code: 'guard_down',
      });
      await expire();
      expect(await other.cancel(facts[0]?.cancelToken ?? '')).toMatchObject({
        compensated: [{ stepId: 'charge' }],
      });
      expect(did).toEqual(['charge', 'refund']);
    });

    it('[E8] [W3] finishes an interrupted turn with the capabilities of its client', async () => {
      const { store, now, pass } = await make();
      const did: string[] = [];
      const facts: SuspendedSagaFacts[] = [];
      let ahead = 0;
      const advised = saga({ name: 'advised', version: '1' }, function* () {
        yield* elicit('ship', { message: 'Ship?', schema: Ok });
        yield* sample('advice', { messages: [], maxTokens: 1 });
        yield* step('send', () => void did.push('send'), {
          compensate: () => void did.push('recall'),
        });
        yield* elicit('review', { message: 'Good?', schema: Ok });
        return 'done';
      });
      const common = {
        sagas: [advised],
        keys: generateKey(),
        name: 'shop',
        testing: { environment: 'production', clock: () => now() + ahead },
        answerers: {
          // The client has no model, and the host has one.
          sampling: () =>
            ({ role: 'assistant', model: 'own', content: { type: 'text', text: 'yes' } }) as const,
        },
        hooks: {
          onTurn: () => undefined,
          onError: () => undefined,
          onSuspended: (suspendedSaga: SuspendedSagaFacts) => void facts.push(suspendedSaga),
        },
      };
      const dying = createSagaHost({
        ...common,
        store: storeWithGuard(() => ({ finish: gone }), store),
      });
      const client = { capabilities: { elicitation: {} } };
      const { token } = suspended(await dying.start('advised', {}, { caller: client }));
      await expect(dying.resume(token, answer('ship'), { caller: client })).rejects.toMatchObject({
        code: 'guard_down',
      });
      ahead = 3 * hour;
      await pass(70_000);
      const host = createSagaHost({ ...common, store });
      expect(await host.cancel(facts[0]?.cancelToken ?? '')).toMatchObject({
        compensated: [{ stepId: 'send' }],
      });
      expect(did).toEqual(['send', 'send', 'recall']);
    });

    it('[E8] notifies the queue again of an abandoned turn if the first message was dropped', async () => {
      const { hosts, token, did, told, facts, expire } = await setUp();
      const [one, other] = hosts;
      const cancelToken = facts[0]?.cancelToken ?? '';
      // The process died after the turn was stored, and before the queue was notified.
      suspended(await one.resume(token, answer('ship')));
      told.length = 0;
      facts.length = 0;
      await expire();
      await expect(other.cancel(cancelToken)).rejects.toThrow(TokenRefused);
      expect(told).toEqual(['suspended 2']);
      expect(did).not.toContain('refund');
      await expire();
      const again = facts[0]?.cancelToken ?? '';
      expect(await other.cancel(again)).toMatchObject({ compensated: [{ stepId: 'charge' }] });
      // A cancel token of an ended saga notifies the queue of the end.
      await expect(other.cancel(cancelToken)).rejects.toThrow(TokenRefused);
      expect(await other.cancel(again)).toMatchObject({ compensated: [{ stepId: 'charge' }] });
      expect(told).toEqual(['suspended 2', 'settled', 'suspended 2', 'settled']);
    });

    it('[E8] notifies the queue of an abandoned turn after a committed turn', async () => {
      const { hosts, token, did, told, facts, expire } = await setUp();
      const [one, other] = hosts;
      const [first] = facts;
      const { token: review } = suspended(await one.resume(token, answer('ship')));
      const aborting = new AbortController();
      aborting.abort();
      // An interrupted turn.
      await expect(
        one.resume(review, answer('review'), { signal: aborting.signal }),
      ).rejects.toThrow();
      // The queue was down meanwhile: its message is of the first turn.
      told.length = 0;
      facts.length = 0;
      await expire();
      await expect(other.cancel(first?.cancelToken ?? '')).rejects.toThrow(TokenRefused);
      expect(told).toEqual(['suspended 2']);
      await expire();
      expect(await other.cancel(facts[0]?.cancelToken ?? '')).toMatchObject({
        status: 'completed',
      });
      expect(did).toContain('thank');
    });

    it('[E8] [W4] notifies the queue of a turn whose client also sent unknown answers', async () => {
      const { hosts, token, told } = await setUp();
      const turn = suspended(
        await hosts[0].resume(token, [...answer('ship'), ...answer('made up')]),
      );
      expect(turn.unknown).toEqual(['made up']);
      expect(told).toEqual(['suspended 1', 'suspended 2']);
    });

    it('[E3] [E8] reports uncompensated steps to the operator', async () => {
      const { store, now } = await make();
      const left: unknown[] = [];
      const stuck = saga({ name: 'stuck', version: '1' }, function* () {
        yield* step('charge', () => 1, { compensate: gone, undo: { retry: 1 }, label: 'charge 1' });
        yield* elicit('ship', { message: 'Ship?', schema: Ok });
        return 'shipped';
      });
      const host = createSagaHost({
        sagas: [stuck],
        keys: generateKey(),
        name: 'shop',
        store,
        testing: { clock: now },
        hooks: { onTurn: () => undefined, onSettled: (settled) => void left.push(settled) },
      });
      const one = suspended(await host.start('stuck', {}));
      const other = suspended(await host.start('stuck', {}));
      await host.resume(one.token, answer('ship', false));
      await host.resume(one.token, answer('ship', false));
      await host.resume(other.token, answer('ship'));
      const uncompensated = [{ stepId: 'charge', label: 'charge 1' }];
      const settled = { saga: 'stuck', sagaId: one.sagaId, uncompensated };
      expect(left).toEqual([
        settled,
        settled,
        { saga: 'stuck', sagaId: other.sagaId, uncompensated: [] },
      ]);
    });

    it('[E5] [E8] continues past a pivot until the client is needed', async () => {
      const { store, now } = await make();
      const did: string[] = [];
      const facts: SuspendedSagaFacts[] = [];
      let ahead = 0;
      const parcel = (called: string, asksAfter: boolean) =>
        saga({ name: called, version: '1' }, function* () {
          yield* step('charge', () => void did.push('charge'), {
            compensate: () => void did.push('refund'),
          });
          yield* pivot('charged');
          yield* step('pack', () => void did.push('pack'), {
            compensate: () => void did.push('unpack'),
          });
          yield* checkpoint();
          yield* step('ship', () => void did.push('ship'));
          yield* checkpoint();
          if (asksAfter) yield* elicit('review', { message: 'Good?', schema: Ok });
          yield* step('thank', () => void did.push('thank'));
          return 'on its way';
        });
      const host = createSagaHost({
        sagas: [parcel('parcel', false), parcel('asking', true)],
        keys: generateKey(),
        name: 'shop',
        store,
        testing: { clock: () => now() + ahead },
        hooks: {
          onTurn: () => undefined,
          onSuspended: (suspendedSaga: SuspendedSagaFacts) => void facts.push(suspendedSaga),
        },
      });
      suspended(await host.start('parcel', {}));
      suspended(await host.start('asking', {}));
      const { token } = suspended(await host.start('parcel', {}));
      // For a client that is present, only its own requests run.
      did.length = 0;
      expect(await host.cancel(token)).toMatchObject({
        status: 'failed',
        compensated: [{ stepId: 'pack' }],
      });
      expect(did).toEqual(['unpack']);
      ahead = 3 * hour;
      const [whole, asking] = facts.splice(0) as [SuspendedSagaFacts, SuspendedSagaFacts];
      did.length = 0;
      expect(await host.cancel(whole.cancelToken)).toMatchObject({
        status: 'completed',
        result: 'on its way',
      });
      expect(did.splice(0)).toEqual(['ship', 'thank']);
      // The saga ends where it needs its client, and the steps after the pivot are undone.
      expect(await host.cancel(asking.cancelToken)).toMatchObject({
        status: 'failed',
        compensated: [{ stepId: 'pack' }],
        uncompensated: [],
      });
      expect(did).toEqual(['ship', 'unpack']);
      expect(facts.map(({ saga: of, turn }) => `${of} ${turn}`)).toEqual([
        'parcel 2',
        'asking 2',
        'asking 3',
      ]);
    });

    it('[E8] finishes an interrupted turn with the stored request only', async () => {
      expectLogs('busy');
      const { store, elsewhere, now, pass } = await make();
      const kept: string[] = [];
      const keeps = storeWithGuard(
        (guard) => ({
          begin: (claim) => {
            if (claim.request !== undefined) kept.push(claim.request);
            return guard.begin(claim);
          },
          finish: (fence, sealed) => {
            kept.push(sealed);
            return fence.turn === 2 ? false : guard.finish(fence, sealed);
          },
        }),
        store,
      );
      const did: string[] = [];
      const facts: SuspendedSagaFacts[] = [];
      let ahead = 0;
      const two = saga({ name: 'two', version: '1' }, function* () {
        yield* elicit('ship', { message: 'Ship?', schema: Ok });
        yield* elicit('review', { message: 'Good?', schema: Ok });
        yield* step('thank', () => void did.push('thank'));
        return 'done';
      });
      const common = {
        sagas: [two],
        keys: generateKey(),
        name: 'shop',
        testing: { clock: () => now() + ahead },
        hooks: {
          onReject: () => undefined,
          onSuspended: (suspendedSaga: SuspendedSagaFacts) => void facts.push(suspendedSaga),
        },
      };
      const host = createSagaHost({ ...common, store: keeps });
      const one = suspended(await host.start('two', {}));
      const next = suspended(await host.resume(one.token, answer('ship')));
      await expect(host.resume(next.token, answer('review'))).rejects.toMatchObject({
        code: 'busy',
      });
      expect(kept).toHaveLength(4);
      // What a request brought is no response to it.
      const lying = storeWithGuard(
        () => ({ begin: () => ({ response: kept[2] ?? '' }) }),
        elsewhere,
      );
      const deceived = createSagaHost({ ...common, store: lying });
      await expect(deceived.resume(next.token, answer('review'))).rejects.toThrow(TokenRefused);
      ahead = 3 * hour;
      await pass(70_000);
      const { cancelToken } = facts.at(-1) as SuspendedSagaFacts;
      did.length = 0;
      for (const begun of [kept[0], kept[1], kept[3], 'nothing']) {
        const mixed = storeWithGuard(
          (guard) => ({
            begin: async (claim) => {
              const verdict = await guard.begin(claim);
              return typeof verdict === 'object' && 'interrupted' in verdict
                ? { ...verdict, interrupted: begun ?? '' }
                : verdict;
            },
          }),
          elsewhere,
        );
        const other = createSagaHost({ ...common, store: mixed });
        await expect(other.cancel(cancelToken)).rejects.toThrow(TokenRefused);
        expect(did).toEqual([]);
      }
      // It ends there, and nothing is left to be undone.
      const last = createSagaHost({ ...common, store: elsewhere });
      expect(await last.cancel(cancelToken)).toMatchObject({ status: 'completed', result: 'done' });
      expect(did).toEqual(['thank']);
    });
  });
}
