import {
  all,
  createSagaHost,
  elicit,
  generateKey,
  patched,
  pivot,
  race,
  saga,
  sleep,
  step,
  type SagaHost,
  type SagaStore,
  type SagaTurn,
  type StepAnswer,
  type Steps,
} from '@mcp-saga/server';
import type { Command, SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, test as it } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import type { Sent } from '../queue/queued.ts';
import type { StoreUnderTest } from '../../../testing/src/stores.ts';
import {
  answer,
  drivenQueue,
  gone,
  hour,
  Ok,
  recordedEnds,
  type RecordedEnds,
} from './guarded-hosts.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

type Change = (guard: SagaGuard) => Partial<SagaGuard>;

function* charges({ does }: Shop): Steps<void> {
  yield* does('charge');
}

/** Ships; a newer release stamps the receipt first. */
const stamps = (release: { readonly isNew: boolean }) =>
  function* ({ does }: Shop): Steps<void> {
    if (release.isNew && (yield* patched('stamp'))) yield* does('stamp');
    yield* does('ship');
  };

/** The world of a saga: its effects, and the effects that fail from now on. */
interface Shop {
  readonly did: string[];
  /** Steps whose provider is down, by name. */
  readonly down: Set<string>;
  /** Time passes for the hosts. */
  readonly wait: (ms: number) => void;
  /** A step whose outcome the saga can look up. */
  readonly does: (what: string) => Command<void>;
}

function whenAborted(signal: AbortSignal, then: () => void): void {
  if (signal.aborted) then();
  signal.addEventListener('abort', then, { once: true });
}

/**
 * Turns that a process began and did not finish, and whose repetition meets a provider that is
 * down. (E9)
 */
export function interruptedTurnsSuite(name: string, make: () => Promise<StoreUnderTest>): void {
  describe(`a turn that was interrupted, with a store ${name}`, () => {
    async function setUp(
      body: (shop: Shop) => Steps<unknown>,
      options: {
        readonly commitEach?: boolean;
        readonly turnBudget?: number;
        readonly passes?: () => boolean;
      } = {},
    ) {
      const { store, elsewhere, now, pass } = await make();
      const ended = recordedEnds();
      const down = new Set<string>();
      const did: string[] = [];
      let ahead = 0;
      const wait = (ms: number): void => void (ahead += ms);
      const does = (what: string): Command<void> =>
        step(
          what,
          () => {
            if (down.has(what)) throw new Error('503');
            did.push(what);
          },
          {
            compensate: ({ outcome }) =>
              void did.push(`${outcome === 'done' ? 'undo' : 'look up'} ${what}`),
            unknown: 'compensate',
          },
        );
      const { commitEach = false, turnBudget, passes = () => true } = options;
      const order = saga({ name: 'order', version: '1', commitEach }, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
        yield* body({ did, down, wait, does });
        return 'done';
      });
      const keys = generateKey();
      const clock = (): number => now() + ahead;
      const { queue, newest, deliver } = drivenQueue(clock, pass);
      const host = (change: Change = () => ({}), of: SagaStore = elsewhere): SagaHost =>
        createSagaHost({
          sagas: [order],
          keys,
          name: 'shop',
          testing: {
            environment: 'production',
            clock,
            // A wait that is held passes at once, or never.
            sleep: async (ms, signal) =>
              passes()
                ? wait(ms)
                : await new Promise<void>((resolve) => whenAborted(signal, resolve)),
          },
          ...(turnBudget === undefined ? {} : { limits: { turnBudget: turnBudget } }),
          hooks: {
            ...ended.hooks,
            onError: () => undefined,
            onReject: () => undefined,
          },
          queue,
          store: storeWithGuard(change, of),
        });
      const { token } = suspended(await host().start('order', {}));
      const asked = newest();
      const endBy = async ({ message, at }: Sent): Promise<ReturnType<RecordedEnds['last']>> => {
        let delivery = await deliver(host(), { message, at: at + 3 * hour });
        // The message of an older turn leads to that of the newest one.
        if (delivery.status === 'outdated') delivery = await deliver(host());
        expect(delivery).toMatchObject({ status: 'ended' });
        return ended.last();
      };
      return {
        did,
        down,
        token,
        store,
        host,
        pass,
        /** Sends the answer to a process that dies before the guard stores the response. */
        killed: async (change: Change = () => ({ finish: gone })): Promise<void> => {
          await expect(host(change, store).resume(token, answer('sure'))).rejects.toThrow();
          await pass(70_000);
        },
        repeat: (): Promise<SagaTurn> => host().resume(token, answer('sure')),
        /** The queue continues what the client left behind, to its end. The message comes late. */
        queue: () => endBy(newest()),
        /** As `queue`, if the queue has no later message than that of the first question. */
        abandon: () => endBy(asked),
      };
    }

    const steps = (...ids: readonly string[]): readonly object[] =>
      ids.map((stepId) => ({ stepId }));

    it.each([true, false])(
      '[E9] looks up a charge whose repetition the bank rejects, with commitEach %s',
      async (commitEach) => {
        const { did, down, killed, repeat } = await setUp(charges, {
          commitEach,
        });
        await killed();
        down.add('charge');
        expect(await repeat()).toMatchObject({
          status: 'failed',
          compensated: steps('charge'),
          uncompensated: commitEach ? [] : steps('turn 2'),
        });
        expect(did).toEqual(['charge', 'look up charge']);
      },
    );

    it.each([true, false])(
      '[E9] [R3] skips a new patch in a repetition, with commitEach %s',
      async (commitEach) => {
        const release = { isNew: false };
        const { did, down, killed, repeat } = await setUp(stamps(release), { commitEach });
        await killed();
        release.isNew = true;
        down.add('ship');
        expect(await repeat()).toMatchObject({ status: 'failed', compensated: steps('ship') });
        expect(did).toEqual(['ship', 'look up ship']);
      },
    );

    it.each([true, false])(
      '[E9] [R3] stores a new patch before the next effect, with commitEach %s',
      async (commitEach) => {
        const release = { isNew: true };
        const { did, killed, repeat } = await setUp(stamps(release), { commitEach });
        await killed();
        expect(did).toEqual([]);
        expect(await repeat()).toMatchObject({ status: 'completed' });
        expect(did).toEqual(['ship']);
      },
    );

    it('[E9] reports a charge that no step can look up', async () => {
      const { down, killed, repeat } = await setUp(
        function* (shop) {
          yield* step(
            'charge',
            () => {
              if (shop.down.has('charge')) throw new Error('503');
            },
            { compensate: () => undefined },
          );
        },
        { commitEach: true },
      );
      await killed();
      down.add('charge');
      expect(await repeat()).toMatchObject({
        status: 'failed',
        compensated: [],
        uncompensated: steps('charge'),
      });
    });

    it.each([
      ['of the turn', 'queue'],
      ['of its question', 'abandon'],
    ] as const)(
      '[E9] is finished by the queue, which looks up a charge that the bank rejects to repeat, by the message %s',
      async (_, finish) => {
        const { did, down, killed, ...then } = await setUp(charges, {
          commitEach: true,
        });
        await killed();
        down.add('charge');
        expect(await then[finish]()).toEqual({ status: 'failed', uncompensated: [] });
        expect(did).toEqual(['charge', 'look up charge']);
      },
    );

    it('[E9] is reported after a failed repetition, because later steps may have run', async () => {
      const { did, down, killed, repeat } = await setUp(function* ({ does }) {
        yield* does('charge');
        yield* does('ship');
      });
      await killed();
      expect(did).toEqual(['charge', 'ship']);
      down.add('charge');
      expect(await repeat()).toMatchObject({
        status: 'failed',
        compensated: steps('charge'),
        uncompensated: steps('turn 2'),
      });
    });

    it('[E9] is reported in a later failure, too', async () => {
      const { down, killed, repeat, host } = await setUp(function* ({ does }) {
        try {
          yield* does('charge');
          yield* does('ship');
        } catch {
          yield* elicit('by-cash', { message: 'Cash?', schema: Ok });
        }
      });
      await killed();
      down.add('charge');
      const { token } = suspended(await repeat());
      expect(await host().resume(token, answer('by-cash', false))).toMatchObject({
        status: 'failed',
        compensated: steps('charge'),
        uncompensated: steps('turn 2'),
      });
    });

    it('[E9] [E5] reports no step before a pivot', async () => {
      const { down, killed, repeat } = await setUp(function* ({ does }) {
        try {
          yield* does('charge');
        } catch {
          yield* pivot('by-cash');
        }
        yield* does('ship');
      });
      await killed();
      down.add('charge').add('ship');
      expect(await repeat()).toMatchObject({
        status: 'failed',
        compensated: [],
        uncompensated: [],
      });
    });

    it('[E9] is not reported if the repetition succeeds', async () => {
      const { down, killed, repeat, host } = await setUp(function* ({ does }) {
        yield* does('charge');
        yield* does('ship');
        yield* elicit('review', { message: 'Good?', schema: Ok });
        yield* does('thank');
      });
      await killed();
      const { token } = suspended(await repeat());
      down.add('thank');
      // It runs in a turn that nothing has interrupted: it failed, and that is all.
      expect(await host().resume(token, answer('review'))).toMatchObject({
        status: 'failed',
        compensated: steps('ship', 'charge'),
        uncompensated: [],
      });
    });

    it('[E1] [E9] uses up its token, also if it and the request behind it change nothing', async () => {
      const { did, host, store, token, pass } = await setUp(charges);
      const invalid = (ok: string): StepAnswer[] => [
        { stepId: 'sure', result: { action: 'accept', content: { ok } } },
      ];
      const dying = host(() => ({ forget: gone }), store);
      await expect(dying.resume(token, invalid('yes'))).rejects.toThrow();
      await pass(70_000);
      const next = suspended(await host().resume(token, invalid('no')));
      expect(next.steps).toMatchObject([{ stepId: 'sure' }]);
      expect(next.token).not.toBe(token);
      // Another request of this token would not know that a run was interrupted, so it goes on from
      // the newest turn.
      const { turn } = suspended(await host().resume(token, invalid('yes')));
      expect(turn).toBeGreaterThanOrEqual(next.turn);
      expect(await host().resume(token, answer('sure'))).toMatchObject({ result: 'done' });
      expect(did).toEqual(['charge']);
    });

    it('[E9] counts an attempt of an aborted request', async () => {
      const aborting = new AbortController();
      const { did, down, host, token } = await setUp(function* ({ does }) {
        yield* does('charge');
        yield* step('abort', () => aborting.abort());
      });
      const { signal } = aborting;
      await expect(host().resume(token, answer('sure'), { signal })).rejects.toThrow();
      down.add('charge');
      expect(await host().resume(token, answer('sure'))).toMatchObject({
        compensated: steps('charge'),
        uncompensated: steps('turn 2'),
      });
      expect(did).toEqual(['charge', 'look up charge']);
    });

    it('[E9] runs no effect after a timer before the end of the timer is stored', async () => {
      let isLate = true;
      const { did, killed, repeat } = await setUp(
        function* ({ does }) {
          const { winner } = yield* race({
            work: step('work', ({ signal }) =>
              isLate ? new Promise<void>((resolve) => whenAborted(signal, resolve)) : undefined,
            ),
            late: sleep(10_000),
          });
          if (winner === 'late') yield* does('apologize');
        },
        { passes: () => isLate },
      );
      await killed();
      // The step takes no time the second time, so that the timer does not pass.
      isLate = false;
      expect(await repeat()).toMatchObject({ status: 'completed' });
      expect(did).toEqual([]);
    });

    it('[E9] continues after a timer in the same request, after a commit', async () => {
      const { did, repeat } = await setUp(function* ({ does }) {
        yield* does('one');
        yield* sleep(5_000);
        yield* does('two');
      });
      expect(await repeat()).toMatchObject({ status: 'completed', result: 'done' });
      expect(did).toEqual(['one', 'two']);
    });

    it('[E9] reports steps that a slower repetition did not reach, if cancelled', async () => {
      let slow = 0;
      const { did, killed, repeat, host } = await setUp(
        function* ({ does, wait }) {
          yield* does('charge');
          yield* step('look', () => wait(slow));
          yield* does('ship');
          yield* does('thank');
          yield* elicit('review', { message: 'Good?', schema: Ok });
        },
        { turnBudget: 1_000 },
      );
      await killed();
      slow = 2_000;
      const { token, steps: asked } = suspended(await repeat());
      expect(asked).toEqual([]);
      expect(did).toEqual(['charge', 'ship', 'thank', 'charge']);
      expect(await host().cancel(token)).toMatchObject({
        compensated: steps('ship', 'charge'),
        uncompensated: steps('turn 2'),
      });
      expect(did.slice(4)).toEqual(['look up ship', 'undo charge']);
    });

    it('[E9] reports steps that a slower repetition did not reach, if the next turn fails', async () => {
      let slow = 0;
      const { down, killed, repeat, host } = await setUp(
        function* ({ does, wait }) {
          yield* step('look', () => wait(slow));
          yield* does('ship');
          yield* does('thank');
        },
        { turnBudget: 1_000 },
      );
      await killed();
      slow = 2_000;
      const { token } = suspended(await repeat());
      slow = 0;
      down.add('thank');
      // Steps of the interrupted turn are known again after their repetition, up to where that turn
      // may have come.
      expect(await host().resume(token, [])).toMatchObject({
        compensated: steps('thank', 'ship'),
        uncompensated: steps('turn 2'),
      });
    });

    it('[E9] withdraws a possibly begun step as a step of unknown outcome', async () => {
      let slow = 0;
      const { did, down, killed, repeat, host } = await setUp(
        function* ({ does, wait }) {
          yield* all({
            work: (function* (): Steps<void> {
              yield* step('look', () => wait(slow));
              yield* does('ship');
            })(),
            asks: elicit('review', { message: 'Good?', schema: Ok }),
          });
        },
        { turnBudget: 1_000 },
      );
      await killed();
      slow = 2_000;
      down.add('ship');
      const { token } = suspended(await repeat());
      expect(await host().resume(token, answer('review', false))).toMatchObject({
        status: 'failed',
        compensated: steps('work/ship'),
        uncompensated: steps('turn 2'),
      });
      expect(did).toEqual(['ship', 'look up ship']);
    });

    it('[E9] [E6] counts the steps of an interrupted cancel', async () => {
      const { did, down, host, token, pass } = await setUp(function* ({ does }) {
        try {
          yield* elicit('review', { message: 'Good?', schema: Ok });
        } finally {
          yield* does('unlock');
        }
      });
      const { token: asked } = suspended(await host().resume(token, answer('sure')));
      await expect(host(() => ({ finish: gone })).cancel(asked)).rejects.toThrow();
      await pass(70_000);
      down.add('unlock');
      did.length = 0;
      expect(await host().cancel(asked)).toMatchObject({
        status: 'failed',
        compensated: steps('unlock'),
      });
      expect(did).toEqual(['look up unlock']);
    });

    it('[E9] [T13] counts a `once` step only if it was claimed', async () => {
      let isDown = true;
      const { did, killed, repeat } = await setUp(
        function* ({ did: notes }) {
          yield* step(
            'charge',
            () => {
              if (isDown) throw new Error('503');
              notes.push('charge');
            },
            {
              once: true,
              compensate: () => void notes.push('look up charge'),
              unknown: 'compensate',
            },
          );
        },
        { commitEach: true },
      );
      // The process dies before it can claim the step.
      await killed(() => ({ claim: gone, release: gone }));
      expect(await repeat()).toMatchObject({
        status: 'failed',
        compensated: [],
        uncompensated: [],
      });
      isDown = false;
      expect(did).toEqual([]);
    });

    it.each([
      ['a repeated request', 'repeat'],
      ['the message of the turn', 'queue'],
      ['the message of its question', 'abandon'],
    ] as const)(
      '[E9] [T13] stores that a `once` step has run before the next step runs, by %s',
      async (_, bring) => {
        const { did, killed, ...then } = await setUp(function* ({ does, did: notes }) {
          yield* step('stamp', () => void notes.push('stamp'), { once: true });
          yield* does('charge');
        });
        await killed((guard) => ({
          // The process dies after the charge, before the guard stores the response.
          finish: (...kept) => (did.includes('charge') ? gone() : guard.finish(...kept)),
        }));
        expect(did).toEqual(['stamp', 'charge']);
        then.down.add('charge');
        expect(await then[bring]()).toMatchObject({ status: 'failed' });
        expect(did).toEqual(['stamp', 'charge', 'look up charge']);
      },
    );
  });
}
