import { describe, expect, it } from 'vitest';
import { all, elicit, sleep, step, type Steps } from '../src/index.ts';
import { z } from 'zod';
import { accepted, start, suspended, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World, type RuntimeMembers } from './support/world.ts';

/**
 * A request waits for a delay, and pays behind it. Then its process dies. The repetition leaves the
 * delay to a later turn, in which the payment fails as it has been made.
 */
describe('a payment behind a delay that an interrupted run may have waited for', () => {
  const Yes = z.object({});
  it.each<[string, RuntimeMembers]>([
    ['in a saga', {}],
    ['in a saga that commits each step', { commitsEach: true }],
  ])('[E4] is never denied %s', async (_, replace) => {
    const world = new World();
    const did: string[] = [];
    let isSlow = true;
    let isPaid = false;
    const program = sagaOf(
      function* () {
        yield* elicit('well', { message: 'Well?', schema: Yes });
        yield* all([
          (function* (): Steps<void> {
            yield* step('look', async ({ signal }) => {
              if (isSlow) await world.sleep(1000, signal);
            });
          })(),
          (function* (): Steps<void> {
            yield* sleep(10);
            yield* step(
              'pay',
              () => {
                did.push('pay');
                if (isPaid) throw new Error('409 already charged');
              },
              { unknown: 'compensate', compensate: () => void did.push('refund') },
            );
          })(),
        ]);
        return 'done';
      },
      { reuse: 'ok' },
    );
    const { state } = suspended(await start(program, {}, world, { budget: 1e6, maxHold: 0 }));
    const yes = { well: accepted({}) };
    const dies = new AbortController();
    const settings = { budget: 1e6, maxHold: 0, replace };
    const run = turn(program, state, yes, world, { ...settings, signal: dies.signal });
    const died = run.catch((error: unknown) => error);
    while (!did.includes('pay')) await new Promise((resolve) => setImmediate(resolve));
    dies.abort(new Error('died'));
    await died;
    isSlow = false;
    isPaid = true;
    const repeated = { ...settings, replace: { ...replace, isInterrupted: true } };
    const later = suspended(await turn(program, state, yes, world, repeated));
    world.time += 10;
    let outcome = await turn(program, later.state, {}, world, settings);
    while (outcome.status === 'suspended')
      outcome = await turn(program, outcome.state, {}, world, settings);
    expect(outcome).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: '1/pay' }],
      uncompensated: [{ stepId: 'turn 2' }],
    });
    expect(did).toEqual(['pay', 'pay', 'refund']);
  });
});
