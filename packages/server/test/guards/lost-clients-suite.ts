import {
  ClientCannot,
  createSagaHost,
  elicit,
  generateKey,
  info,
  pivot,
  saga,
  sample,
  sleep,
  step,
  type SagaHost,
  type SagaStore,
  type Steps,
} from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, test as it } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import type { Sent } from '../queue/queued.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import { answer, drivenQueue, gone, hour, Ok } from './guarded-hosts.ts';
import type { Caller } from '../../src/model/caller.ts';
import type { ResumeRequest } from '../../src/model/request-types.ts';
import { coreOf } from '../../src/saga-host.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

/**
 * Turns that begin for one client, are interrupted, and run again for another client or for none.
 * (E1, E8, T13)
 */
export function lostClientsSuite(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`an interrupted turn that is repeated for another client, with a store ${name}`, () => {
    /** A saga with one answer, and its effects after the answer. */
    async function setUp(body: (did: string[]) => Steps<unknown>) {
      const { store, elsewhere, now, pass } = await make();
      const did: string[] = [];
      let ahead = 0;
      const order = saga({ name: 'order', version: '1' }, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
        yield* body(did);
        yield* elicit('more', { message: 'More?', schema: Ok });
        return 'done';
      });
      const keys = generateKey();
      const clock = (): number => now() + ahead;
      const { queue, newest, deliver, drain } = drivenQueue(clock, pass);
      const host = (change: Partial<SagaGuard> = {}, of: SagaStore = elsewhere): SagaHost =>
        createSagaHost({
          sagas: [order],
          keys,
          name: 'shop',
          testing: {
            environment: 'production',
            clock,
            // A wait that is held passes at once.
            sleep: async (ms) => void (ahead += ms),
          },
          answerers: {
            sampling: () => ({
              role: 'assistant',
              model: 'own',
              content: { type: 'text', text: 'yes' },
            }),
          },
          queue,
          hooks: { onError: () => undefined, onTurn: () => undefined },
          store: storeWithGuard(() => change, of),
        });
      const { token } = suspended(await host().start('order', {}));
      const asked = newest();
      return {
        token,
        did,
        host: host(),
        /** Message of the first question: it ends the saga when its client can no longer answer. */
        asked,
        newest,
        deliver: (sent?: Sent) => deliver(host(), sent),
        drain: () => drain(host()),
        lose: async (caller: Caller = {}, request: ResumeRequest = {}) => {
          const lost = host({ finish: gone }, store);
          await expect(
            coreOf(lost).resume(token, answer('sure'), caller, request),
          ).rejects.toMatchObject({
            code: 'guard_down',
          });
          await pass(70_000);
        },
      };
    }

    const undoable = (did: string[], what: string) =>
      step(what, () => void did.push(what), { compensate: () => void did.push(`undo ${what}`) });

    function* inTwo(did: string[]): Steps<void> {
      yield* undoable(did, 'one');
      yield* sleep(5_000);
      did.push('passed');
      yield* undoable(did, 'two');
    }

    it('[E8] [W6] is held for the queue as long as for its client, and undone up to the timer', async () => {
      const { did, lose, asked, deliver } = await setUp(inTwo);
      await lose();
      // The queue has no later message.
      expect(await deliver(asked)).toMatchObject({ status: 'ended' });
      // No effect follows a timer in the same turn. The undo is a turn of its own, which replays
      // the past timer.
      expect(did).toEqual(['one', 'passed', 'one', 'passed', 'passed', 'undo one']);
    });

    it('[E8] [W6] is held for the queue as long as for its client, and goes on behind the timer', async () => {
      const { did, lose, deliver, drain } = await setUp(inTwo);
      await lose();
      expect(await deliver()).toMatchObject({ status: 'waiting' });
      // The turn behind the timer replays the past timer.
      const effects = ['one', 'passed', 'one', 'passed', 'passed', 'two'];
      expect(did).toEqual(effects);
      expect(await drain()).toMatchObject({ status: 'ended' });
      expect(did.slice(effects.length).filter((what) => what !== 'passed')).toEqual([
        'undo two',
        'undo one',
      ]);
    });

    it('[E8] [W6] is not held for the queue if it was not held for its client, and goes on later', async () => {
      const { did, lose, newest, deliver } = await setUp(inTwo);
      await lose({}, { dialect: { maxHold: 1_000 } });
      const { at } = newest();
      const waiting = await deliver();
      expect(waiting).toMatchObject({ status: 'waiting', at: newest().at });
      expect(waiting.at).toBeGreaterThanOrEqual(at + 5_000);
      expect(did).toEqual(['one', 'one']);
      expect(await deliver()).toMatchObject({ status: 'waiting' });
      expect(did).toContain('two');
    });

    it('[E8] [W6] is not held for the queue if it was not held for its client, and undone', async () => {
      const { did, lose, asked, deliver } = await setUp(inTwo);
      await lose({}, { dialect: { maxHold: 1_000 } });
      // The queue has no later message.
      expect(await deliver(asked)).toMatchObject({ status: 'ended' });
      expect(did).toEqual(['one', 'one', 'undo one']);
    });

    it.each([
      ['of the turn', true],
      ['of the first question, if the queue has no later one', false],
    ])(
      '[E8] [W6] fails a long wait for the queue if the wait of its client was limited, by the message %s',
      async (_, hasLater) => {
        const { did, lose, asked, newest, deliver, drain } = await setUp(function* (does) {
          try {
            yield* sleep(hour);
          } catch (error) {
            yield* undoable(does, error instanceof ClientCannot ? 'instead' : 'other');
          }
        });
        await lose({}, { dialect: { maxWait: () => 1_000 } });
        const { status } = await deliver(hasLater ? newest() : asked);
        expect(status).toBe(hasLater ? 'waiting' : 'ended');
        if (hasLater) {
          expect(did).toEqual(['instead', 'instead']);
          await drain();
        }
        expect(did).toEqual(['instead', 'instead', 'undo instead']);
      },
    );

    it('[E1] [W6] is stored with the wait limit of its client, also in turns of the host', async () => {
      const rounds: number[] = [];
      const { token, host } = await setUp(function* (does) {
        yield* undoable(does, 'charge');
        yield* pivot('charged');
        yield* step('ship', () => void does.push('ship'));
      });
      const maxWait = (round: number): number => {
        rounds.push(round);
        return hour;
      };
      suspended(await coreOf(host).resume(token, answer('sure'), {}, { dialect: { maxWait } }));
      expect(rounds.length).toBeGreaterThan(2);
      expect(new Set(rounds)).toEqual(new Set([2]));
    });

    function* advised(did: string[]): Steps<void> {
      yield* sample('advice', { messages: [], maxTokens: 1 });
      yield* undoable(did, 'ship');
    }

    const asksAll = { capabilities: { elicitation: {}, sampling: {} } };
    const large = 'x'.repeat(300_000);

    it.each([
      ['by the same request', answer('sure'), {}, {}],
      ['by the same request, with capabilities too large to store', answer('sure'), { large }, {}],
      ['by a following request', [], {}, { follows: true }],
    ])(
      '[E1] [W3] [T13] asks only the capabilities of the first client, repeated %s',
      async (_, answers, more, request) => {
        const { token, did, host, lose } = await setUp(advised);
        await lose({ capabilities: { elicitation: {}, ...more } });
        const next = suspended(await coreOf(host).resume(token, answers, asksAll, request));
        expect(next.steps).toMatchObject([{ stepId: 'more' }]);
        expect(await host.cancel(next.token)).toMatchObject({ compensated: [{ stepId: 'ship' }] });
        expect(did).toEqual(['ship', 'ship', 'undo ship']);
      },
    );

    it.each([
      ['nothing', {}, asksAll],
      ['something', asksAll, {}],
    ])(
      '[E1] [T13] reads the capabilities of the first client, if they were %s',
      async (_, first, second) => {
        const { token, did, host, lose } = await setUp(function* (does) {
          const { capabilities } = yield* info();
          yield* undoable(does, capabilities === undefined ? 'by-mail' : 'by-form');
        });
        await lose(first);
        suspended(await host.resume(token, answer('sure'), { caller: second }));
        const [before, again] = did;
        expect(again).toBe(before);
      },
    );

    it('[E1] [W7] [T13] runs the same steps if a reading request repeats it', async () => {
      const { token, did, host, lose } = await setUp(function* (does) {
        yield* undoable(does, 'ship');
      });
      await lose();
      const looks = { dialect: { effects: 'never' } } as const;
      const next = suspended(await coreOf(host).resume(token, answer('sure'), {}, looks));
      expect(next.steps).toMatchObject([{ stepId: 'more' }]);
      expect(did).toEqual(['ship', 'ship']);
    });
  });
}
