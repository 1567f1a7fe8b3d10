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
} from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, test as it } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import { minute, type Sent } from '../queue/queued.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import {
  answer,
  drivenQueue,
  gone,
  guardedHosts,
  hour,
  Ok,
  recordedEnds,
} from './guarded-hosts.ts';
import type { HostChanges } from '../fixtures/host-changes.ts';
import { coreOf } from '../../src/saga-host.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

/** Hosts with a shared guard and a queue, whose client does not return. (E8) */
export function absentClientsSuite(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`hosts with absent clients, with a store ${name}`, () => {
    const setUp = (options: HostChanges = {}, change: Partial<SagaGuard> = {}) =>
      guardedHosts(make, options, change);

    it.each([
      ['of the turn', true],
      ['of its question, if the queue has no later one', false],
    ])(
      '[E8] finishes and undoes the unfinished turn of an absent client, by the message %s',
      async (_, hasLater) => {
        const { hosts, token, did, told, asked, newest, deliver, drain, hanging } = await setUp();
        const [one, other] = hosts;
        const hangs = hanging();
        const aborting = new AbortController();
        const left = one.resume(token, answer('ship'), { signal: aborting.signal });
        const goOn = await hangs;
        // The client disconnects while a step runs, and does not return.
        aborting.abort();
        goOn();
        await expect(left).rejects.toThrow('aborted');
        const first = hasLater ? newest() : asked;
        told.length = 0;
        const { status } = await deliver(other, first);
        expect(status).toBe(hasLater ? 'waiting' : 'ended');
        // The client could still answer the next question.
        if (hasLater) {
          expect(did).not.toContain('refund');
          expect(await drain(other)).toMatchObject({ status: 'ended' });
        }
        const [charge, attempt, repetition, ...undone] = did;
        // The outcome of the step was unknown, so it ran again with the same key.
        expect([charge, repetition]).toEqual(['charge', attempt]);
        expect(undone).toEqual(['refund']);
        expect(told).toEqual(['message of turn 3', 'settled', 'removed']);
        // A queue may deliver a message twice.
        await other.deliver(first.message);
        await other.deliver(asked.message);
        expect(did).toHaveLength(4);
      },
    );

    it.each([
      ['of the turn', true],
      ['of its question, if the queue has no later one', false],
    ])(
      '[E8] [W7] runs no more of an interrupted turn than its request, by the message %s',
      async (_, hasLater) => {
        const { hosts, token, did, asked, newest, deliver } = await setUp({}, { finish: gone });
        const [one, other] = hosts;
        const looks = { dialect: { effects: 'never' } } as const;
        await expect(coreOf(one).resume(token, answer('ship'), {}, looks)).rejects.toMatchObject({
          code: 'guard_down',
        });
        const { status } = await deliver(other, hasLater ? newest() : asked);
        expect(status).toBe(hasLater ? 'waiting' : 'ended');
        expect(did).toEqual(hasLater ? ['charge'] : ['charge', 'refund']);
        // The next message continues the saga in a turn of its own.
        if (hasLater) {
          expect(await deliver(other)).toMatchObject({ status: 'waiting' });
          expect(did).toEqual(['charge', expect.stringMatching(/^ship /)]);
        }
      },
    );

    it('[E8] [W3] finishes an interrupted turn with the capabilities of its client', async () => {
      const { store, now, pass } = await make();
      const did: string[] = [];
      const { queue, deliver, drain } = drivenQueue(now, pass);
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
        testing: { environment: 'production', clock: now },
        queue,
        answerers: {
          // The client has no model, and the host has one.
          sampling: () =>
            ({ role: 'assistant', model: 'own', content: { type: 'text', text: 'yes' } }) as const,
        },
        hooks: { onTurn: () => undefined, onError: () => undefined },
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
      const host = createSagaHost({ ...common, store });
      expect(await deliver(host)).toMatchObject({ status: 'waiting' });
      // A client with a model would have been asked for the advice.
      expect(did).toEqual(['send', 'send']);
      expect(await drain(host)).toMatchObject({ status: 'ended' });
      expect(did).toEqual(['send', 'send', 'recall']);
    });

    it('[E8] sends the message of an abandoned turn again if it was lost', async () => {
      const { hosts, token, did, told, asked, newest, deliver } = await setUp();
      const [one, other] = hosts;
      suspended(await one.resume(token, answer('ship')));
      // The process died after the turn was stored, and before the queue had its message.
      told.length = 0;
      const { sagaId } = asked.message;
      expect(await deliver(other, asked)).toEqual({ status: 'outdated', sagaId });
      expect(told).toEqual(['message of turn 3']);
      expect(did).not.toContain('refund');
      const again = newest();
      expect(await deliver(other, again)).toEqual({ status: 'ended', sagaId });
      expect(did.filter((effect) => effect === 'refund')).toHaveLength(1);
      expect(told).toEqual(['message of turn 3', 'settled', 'removed']);
      // A message of an ended saga tells the operator and the queue of the end, and undoes nothing.
      told.length = 0;
      expect(await deliver(other, again)).toEqual({ status: 'ended', sagaId });
      expect(told).toEqual(['settled', 'removed']);
      expect(await deliver(other, asked)).toEqual({ status: 'outdated', sagaId });
      expect(await deliver(other)).toEqual({ status: 'ended', sagaId });
      expect(did.filter((effect) => effect === 'refund')).toHaveLength(1);
    });

    it('[E8] sends the message of an abandoned turn after a committed turn', async () => {
      const { hosts, token, did, told, asked, newest, deliver } = await setUp();
      const [one, other] = hosts;
      const { token: review } = suspended(await one.resume(token, answer('ship')));
      const aborting = new AbortController();
      aborting.abort();
      // An interrupted turn.
      await expect(
        one.resume(review, answer('review'), { signal: aborting.signal }),
      ).rejects.toThrow();
      // The queue was down meanwhile: its message is of the first question.
      told.length = 0;
      expect(await deliver(other, asked)).toMatchObject({ status: 'outdated' });
      expect(told).toEqual(['message of turn 3']);
      expect(did).not.toContain('thank');
      expect(await deliver(other, newest())).toMatchObject({ status: 'ended' });
      // The client had said that all is good, so the saga was completed.
      expect(did).toContain('thank');
      expect(did).not.toContain('refund');
    });

    it('[E8] [W4] sends the message of a turn whose client also sent unknown answers', async () => {
      const { hosts, token, newest } = await setUp();
      const turn = suspended(
        await hosts[0].resume(token, [...answer('ship'), ...answer('made up')]),
      );
      expect(turn.unknown).toEqual(['made up']);
      const { sagaId, expiresAt } = turn;
      expect(newest()).toMatchObject({ at: expiresAt + minute, message: { sagaId, turn: 3 } });
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

    it.each([
      ['in time', 0],
      ['late, of sagas that are abandoned', 3 * hour],
    ])(
      '[E5] [E8] continues past a pivot until the client is needed, by messages that come %s',
      async (_, late) => {
        const { store, now, pass } = await make();
        const did: string[] = [];
        const { queue, newest, deliver, drain } = drivenQueue(now, pass);
        const ended = recordedEnds();
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
          queue,
          testing: { clock: now },
          hooks: ended.hooks,
        });
        const { token } = suspended(await host.start('parcel', {}));
        // For a client that is present, only its own requests run.
        did.length = 0;
        expect(await host.cancel(token)).toMatchObject({
          status: 'failed',
          compensated: [{ stepId: 'pack' }],
        });
        expect(did.splice(0)).toEqual(['unpack']);
        const turns = (): readonly number[] => queue.sent.map(({ message }) => message.turn);
        const begin = async (called: string): Promise<Sent> => {
          suspended(await host.start(called, {}));
          did.length = 0;
          const { message, at } = newest();
          queue.sent.length = 0;
          return { message, at: at + late };
        };
        const first = await begin('parcel');
        const { status } = await deliver(host, first);
        // One message of an abandoned saga ends it, and each other one continues it until it waits.
        expect(status).toBe(late > 0 ? 'ended' : 'waiting');
        if (status === 'waiting') await drain(host);
        expect(ended.last()).toEqual({ status: 'completed', uncompensated: [] });
        expect(did).toEqual(['ship', 'thank']);
        // The queue gets the message of each turn on the way, in case that the process dies.
        expect(turns()).toEqual([first.message.turn + 1]);
        // The saga ends where it needs its client, and the steps after the pivot are undone.
        const asking = await begin('asking');
        expect(await deliver(host, asking)).toMatchObject({ status });
        if (status === 'waiting') {
          expect(await deliver(host)).toMatchObject({ status: 'waiting' });
          expect(did).toEqual(['ship']);
          await drain(host);
        }
        expect(ended.last()).toEqual({ status: 'failed', uncompensated: [] });
        expect(did).toEqual(['ship', 'unpack']);
        const { turn } = asking.message;
        expect(turns().slice(0, 2)).toEqual([turn + 1, turn + 2]);
      },
    );

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
      const { queue, newest, deliver } = drivenQueue(now, pass);
      const ended = recordedEnds();
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
        testing: { clock: now },
        queue,
        hooks: { ...ended.hooks, onReject: () => undefined },
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
      const begunTurn = newest();
      did.length = 0;
      const nonsense = 'nothing';
      for (const begun of [kept[0], kept[1], kept[3], nonsense]) {
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
        const delivery = deliver(other, begunTurn);
        // A record of another turn says that the token was used, so the queue ends the saga later.
        if (begun === nonsense) await expect(delivery).rejects.toThrow(TokenRefused);
        else
          expect(await delivery).toMatchObject({ status: 'waiting', at: next.expiresAt + minute });
        expect(did).toEqual([]);
      }
      // It ends there, and nothing is left to be undone.
      const last = createSagaHost({ ...common, store: elsewhere });
      expect(await deliver(last)).toMatchObject({ status: 'ended' });
      expect(ended.last()).toEqual({ status: 'completed', uncompensated: [] });
      expect(did).toEqual(['thank']);
    });
  });
}
