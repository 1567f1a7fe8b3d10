import { abort, saga, sleep, step, type Program } from '@mcp-saga/server';
import { machineSaga, step as effect } from '@mcp-saga/xstate';
import { describe, expect, it } from 'vitest';
import { setup } from 'xstate';
import { completed, failed, suspended } from '../fixtures/host.ts';
import { queued } from './queued.ts';

const holds = { limits: { maxHoldMs: 20_000 } };
const did: string[] = [];

const offering = (ms: number, compensates: boolean): Program =>
  saga({ name: 'offer', version: '1', forks: 'refuse' }, function* () {
    const undo = { compensate: () => void did.push('recall') };
    yield* step('offer', () => void did.push('offer'), compensates ? undo : {});
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
const offeringMachine = machineSaga({ name: 'offer', version: '1', forks: 'refuse' }, machine);

describe('the first turn', () => {
  it.each([
    ['a generator', offering(5_000, true)],
    ['a machine', offeringMachine],
  ])(
    '[E8] does not hold a wait of %s after an effect with an undo, so a queue can continue',
    async (_, offer) => {
      did.length = 0;
      const world = queued(offer, holds);
      const { sagaId, retryAfterMs } = suspended(await world.host.start('offer', {}));
      expect(retryAfterMs).toBe(5_000);
      expect(did).toEqual(['offer']);
      // The client never got the token.
      expect(await world.next()).toEqual({ status: 'ended', sagaId });
      expect(did).toEqual(['offer', 'remind']);
    },
  );

  it.each([
    ['a short wait', offering(999, true)],
    ['a wait without anything to undo', offering(5_000, false)],
  ])('holds %s', async (_, offer) => {
    const world = queued(offer, holds);
    completed(await world.host.start('offer', {}));
  });

  it('ends an undo, with its retries, in the same request', async () => {
    let attempts = 0;
    const undo = (): void => {
      attempts += 1;
      if (attempts < 3) throw new Error('The shop is busy.');
    };
    const world = queued(
      saga({ name: 'offer', version: '1', forks: 'refuse' }, function* () {
        yield* step('mail', () => undefined, { compensate: () => undefined });
        yield* step('offer', () => undefined, {
          compensate: undo,
          undo: { retry: { attempts: 3, delayMs: 2_000 } },
        });
        yield* abort('No offer today.');
      }),
      holds,
    );
    expect(failed(await world.host.start('offer', {}))).toMatchObject({
      compensated: [{ stepId: 'offer' }, { stepId: 'mail' }],
    });
    expect(attempts).toBe(3);
  });

  it('leaves waits of later turns held', async () => {
    const world = queued(
      saga({ name: 'offer', version: '1', forks: 'refuse' }, function* () {
        yield* step('offer', () => undefined, { compensate: () => undefined });
        yield* sleep(5_000);
        yield* sleep(5_000);
        return 'done';
      }),
      holds,
    );
    const { token } = suspended(await world.host.start('offer', {}));
    world.clock.now += 5_000;
    completed(await world.host.resume(token));
  });
});
