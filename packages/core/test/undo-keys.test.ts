import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { all, compensator, elicit, saga, step } from '../src/index.ts';
import { failed, start, suspended, turn } from './support/drive.ts';
import { runtimeOf, World } from './support/world.ts';

const options = { name: 'trip', version: '1', reuse: 'ok', onMismatch: 'compensate' } as const;

describe('the keys of an undo', () => {
  it.each(['k1', 'a(b)', 'x)#2', 'a/b', 'line\nline'])(
    "[E3] [R3] find a step with the author's key %j by the key it ran with, also without its code",
    async (key) => {
      const ran: string[] = [];
      const undone: string[] = [];
      const world = new World();
      const refund = compensator(
        'refund',
        z.object({}),
        ({ stepKey }) => void undone.push(stepKey),
      );
      world.compensators.set('refund', refund);
      const tripOf = (id: string) =>
        saga(options, function* () {
          for (const _ of [1, 2]) {
            yield* step(id, ({ idempotencyKey }) => void ran.push(idempotencyKey), {
              key,
              compensate: refund.for(() => ({})),
            });
          }
          yield* elicit('sure', { message: 'm', schema: z.object({ ok: z.boolean() }) });
          return '';
        });
      const one = suspended(await start(tripOf('charge'), {}, world));
      const outcome = await turn(tripOf('renamed'), one.state, {}, world);
      expect(failed(outcome)).toMatchObject({ code: 'replay_mismatch' });
      expect(ran).toHaveLength(2);
      expect(undone).toEqual(ran.toReversed());
    },
  );

  it('[T13] claim nothing for a step that ends before it begins', async () => {
    const world = new World();
    const runtime = runtimeOf(world);
    const trip = saga(options, function* () {
      yield* all({
        once: step('once', () => 1, { once: true }),
        fails: step('fails', () => {
          throw new Error('no');
        }),
      });
      return '';
    });
    const outcome = await start(trip, {}, world, {
      replace: {
        // The key of one step is slow, and the other step fails meanwhile.
        idempotencyKey: async (path, ...rest) => {
          if (path === 'once') await world.sleep(10);
          return runtime.effects.idempotencyKey(path, ...rest);
        },
      },
    });
    expect(failed(outcome)).toMatchObject({ message: 'no' });
    expect([...world.claimed]).toEqual([]);
  });
});
