import {
  abort,
  all,
  approval,
  elicit,
  poll,
  saga,
  sleep,
  step,
  type Program,
} from '@mcp-saga/server';
import { machineSaga, step as effect } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { testClock } from '../fixtures/clock.ts';
import { completed, failed, hostOf } from '../fixtures/host.ts';
import { minute, Ok, queued, type Queued } from './queued.ts';

const holds = { limits: { maxHold: 20_000 } };
const did: string[] = [];

const offering = (ms: number): Program =>
  saga({ name: 'offer', version: '1' }, function* () {
    yield* step('offer', () => void did.push('offer'), {
      compensate: () => void did.push('recall'),
    });
    yield* sleep(ms);
    yield* step('remind', () => void did.push('remind'));
    return 'done';
  });

const machine = setup({
  types: { output: {} as string },
  actors: {
    offer: effect(() => void did.push('offer'), { compensate: () => void did.push('recall') }),
    remind: effect(() => void did.push('remind')),
  },
}).createMachine({
  id: 'offer',
  output: 'done',
  initial: 'offering',
  states: {
    offering: { invoke: { id: 'offer', src: 'offer', onDone: 'waiting' } },
    waiting: { after: { 5_000: 'reminding' } },
    reminding: { invoke: { id: 'remind', src: 'remind', onDone: 'done' } },
    done: { type: 'final' },
  },
});
const offeringMachine = machineSaga({ name: 'offer', version: '1' }, machine);

describe('the first turn', () => {
  it.each([
    ['a generator', offering(5_000)],
    ['a machine', offeringMachine],
  ])('holds a wait of %s after an effect with an undo: the queue knows of it', async (_, offer) => {
    did.length = 0;
    const world = queued(offer, holds);
    completed(await world.host.start('offer', {}));
    expect(did).toEqual(['offer', 'remind']);
    expect(world.queue.sent).toMatchObject([{ message: { turn: 1 } }]);
  });

  it('ends an undo that waits in the same request, without a guard', async () => {
    let polls = 0;
    const clock = testClock();
    const offer = saga({ name: 'offer', version: '1', reuse: 'ok' }, function* () {
      yield* step('mail', () => undefined, { compensate: () => undefined });
      yield* step('offer', () => undefined, {
        *compensate() {
          const options = { every: 2_000, timeout: 60_000 };
          yield* poll('recalled', () => ((polls += 1) < 3 ? undefined : true), options);
        },
      });
      yield* abort('No offer today.');
      return 'done';
    });
    const { host } = hostOf(offer, {
      clock,
      testing: { sleep: async (ms) => void (clock.now += ms) },
    });
    expect(failed(await host.start('offer', {}))).toMatchObject({
      compensated: [{ stepId: 'offer' }, { stepId: 'mail' }],
    });
    expect(polls).toBe(3);
  });

  describe('with a wait that is over when the turn ends', () => {
    // Deliveries and steps that take longer than the first wait.
    const late = minute;
    const reminded: string[] = [];

    const asksManager = (): Queued => {
      const world: Queued = queued(
        saga({ name: 'offer', version: '1' }, function* () {
          const { approved } = yield* approval('manager', {
            message: 'Offer?',
            timeout: 10 * minute,
            remindEvery: 1_000,
            deliver: ({ isReminder }) => {
              if (isReminder) reminded.push('manager');
              else world.clock.now += late;
            },
          });
          return String(approved);
        }),
        { url: 'https://shop.example' },
      );
      return world;
    };

    const asksClient = (): Queued => {
      const world: Queued = queued(
        saga({ name: 'offer', version: '1' }, function* () {
          yield* all({
            sure: elicit('sure', { message: 'Sure?', schema: Ok }),
            waited: (function* () {
              yield* sleep(1_000);
              yield* step('remind', () => void reminded.push('client'));
            })(),
            offered: step('offer', () => void (world.clock.now += late)),
          });
          return 'done';
        }),
        { limits: { maxHold: 0, turnBudget: 1_000 } },
      );
      return world;
    };

    it.each([
      ['an approval', 'manager', asksManager],
      ['a question', 'client', asksClient],
    ])('goes on beside %s: a repeated call with a key finds the saga', async (_, who, asks) => {
      reminded.length = 0;
      const world = asks();
      await world.host.start('offer', {}, { idempotencyKey: 'one' });
      await world.next();
      expect(reminded).toEqual([who]);
    });
  });
});
