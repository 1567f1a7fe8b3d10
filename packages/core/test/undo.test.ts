import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  abort,
  all,
  compensate,
  compensator,
  elicit,
  pivot,
  saga,
  step,
  race,
  sleep,
  poll,
  continueAs,
  SagaCancelled,
  type SagaOptions,
} from '../src/index.ts';
import { accepted, answered, failed, refused, start, suspended, turn, completed } from './support/drive.ts';
import { runtimeOf, World } from './support/world.ts';

const options = { name: 'trip', version: '1', forks: 'accept' } satisfies SagaOptions<undefined, undefined>;
const Ok = z.object({ ok: z.boolean() });

describe('compensation', () => {
  it('[E3] undoes what was done, last first, when the body fails', async () => {
    const done: string[] = [];
    const trip = saga(options, function* () {
      for (const what of ['hotel', 'car', 'plane']) {
        yield* step(what, () => (done.push(`book ${what}`), what), {
          compensate: ({ result, idempotencyKey, stepKey }) =>
            void done.push(`undo ${result} ${idempotencyKey} ${stepKey}`),
        });
      }
      yield* step('pay', () => {
        throw new Error('no money');
      });
      return '';
    });
    const world = new World();
    const outcome = await start(trip, {}, world);
    expect(done.slice(3)).toEqual([
      'undo plane undo:~plane do:plane',
      'undo car undo:~car do:car',
      'undo hotel undo:~hotel do:hotel',
    ]);
    expect(outcome).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'plane' }, { stepId: 'car' }, { stepId: 'hotel' }],
      residue: [],
    });
  });
  it('[E3] goes on with undoing where it was, on a fresh instance', async () => {
    const done: string[] = [];
    const trip = saga(options, function* () {
      for (const what of ['a', 'b']) {
        yield* step(what, () => what, {
          label: `the ${what}`,
          *compensate({ result, stepKey }) {
            yield* step('one', () => void done.push(`${result} one ${stepKey}`));
            yield* step('two', () => void done.push(`${result} two`));
          },
        });
      }
      yield* elicit('sure', { message: 'm', schema: Ok });
      return '';
    });
    const world = new World();
    let outcome = await start(trip, {}, world);
    let turns = 0;
    outcome = await turn(trip, suspended(outcome).state, { sure: refused() }, world, { budget: 0 });
    while (outcome.status === 'suspended') {
      turns++;
      const before = done.length;
      outcome = await turn(trip, outcome.state, {}, world, {
        budget: 1,
        replace: { now: () => (world.time += 0.4) },
      });
      if (turns > 20) throw new Error('loop' + before);
    }
    expect(done).toEqual(['b one do:b', 'b two', 'a one do:a', 'a two']);
    expect(outcome).toMatchObject({ compensated: [{ stepId: 'b', label: 'the b' }, { stepId: 'a' }] });
    expect(turns).toBeGreaterThan(1);
  });
  it('[E5] [E6] stops at a pivot; abort cannot be swallowed', async () => {
    const done: string[] = [];
    const trip = saga(options, function* () {
      yield* step('a', () => 1, { compensate: () => void done.push('undo a') });
      yield* pivot('paid');
      yield* compensate(() => void done.push('undo extra'), { id: 'extra' });
      try {
        try {
          yield* abort('enough');
        } catch {
          done.push('swallowed');
        }
        done.push('went on');
      } finally {
        yield* step('f', () => void done.push('finally'));
      }
      return '';
    });
    const outcome = await start(trip, {});
    expect(String(failed(outcome))).toBe('SagaAborted: enough');
    expect(done).toEqual(['finally', 'undo extra']);
    expect(outcome).toMatchObject({ compensated: [{ stepId: 'extra' }], residue: [] });
  });
  it('[E4] undoes the unknown by its own compensation, or calls it residue', async () => {
    const done: string[] = [];
    const trip = saga(options, function* () {
      const steps = { retry: 1, timeout: 5, undo: { retry: 1 } };
      yield* all({
        a: step(
          'a',
          ({ signal }) =>
            new Promise<number>((_, no) => {
              signal.addEventListener('abort', () => no(signal.reason));
            }),
          {
            ...steps,
            compensate: () => {
              done.push('never');
            },
            compensateUnknown: ({ stepKey }) => {
              done.push('lookup ' + stepKey);
            },
          },
        ),
        b: step(
          'b',
          ({ signal }) =>
            new Promise<number>((_, no) => {
              signal.addEventListener('abort', () => no(signal.reason));
            }),
          { ...steps, compensate: () => undefined },
        ),
      });
      return '';
    });
    const outcome = await start(trip, {});
    expect(done).toEqual(['lookup do:a']);
    expect(outcome).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'a' }],
      residue: [{ stepId: 'b' }],
    });
  });
  it('[E7] refuses to compensate before it runs where forks are not declared', async () => {
    const { forks: _, ...undeclared } = options;
    let ran = false;
    const outcome = await start(
      saga(undeclared, function* () {
        yield* step(
          'a',
          () => {
            ran = true;
          },
          { compensate: () => undefined },
        );
        return '';
      }),
      {},
    );
    expect(String(failed(outcome))).toContain("forks: 'refuse'");
    expect(ran).toBe(false);
  });
  it('[E6] cancels: finally runs, then undo, also across turns', async () => {
    const done: string[] = [];
    const trip = saga(options, function* () {
      yield* step('a', () => 1, { compensate: () => void done.push('undo a') });
      try {
        yield* elicit('sure', { message: 'm', schema: Ok });
      } catch {
        done.push('caught');
      } finally {
        yield* step('f', () => void done.push('finally'));
      }
      return 'x';
    });
    const world = new World();
    const one = suspended(await start(trip, {}, world));
    let outcome = await trip.advance(one.state, new Map(), runtimeOf(world, { budget: 0 }), {
      error: new SagaCancelled('bored'),
    });
    expect(outcome.status).toBe('suspended');
    outcome = await turn(trip, suspended(outcome).state, {}, world);
    expect(done).toEqual(['finally', 'undo a']);
    expect(String(failed(outcome))).toContain('bored');
  });
  it('[R3] undoes what fits and what has a name after a mismatch', async () => {
    const done: string[] = [];
    const refund = compensator(
      'refund',
      z.object({ id: z.number() }),
      ({ args, idempotencyKey }) => void done.push(`refund ${args.id} ${idempotencyKey}`),
    );
    const make = (first: string) =>
      saga({ ...options, onMismatch: 'compensate' }, function* () {
        yield* step('hotel', () => 'h', { compensate: () => void done.push('undo hotel') });
        yield* step(first, () => 7, { compensate: refund.for(({ result }) => ({ id: result })) });
        yield* step('mail', () => 7);
        yield* elicit('sure', { message: 'm', schema: Ok });
        return '';
      });
    const world = new World();
    world.compensators.set('refund', refund);
    const one = suspended(await start(make('charge'), {}, world));
    let outcome = await turn(make('renamed'), one.state, { sure: accepted({ ok: true }) }, world, {
      budget: 0,
    });
    for (let n = 0; outcome.status === 'suspended' && n < 9; n++)
      outcome = await turn(make('renamed'), outcome.state, {}, world, {
        budget: 1,
        replace: { now: () => (world.time += 0.4) },
      });
    expect(done).toEqual(['refund 7 undo:~charge', 'undo hotel']);
    expect(outcome).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'charge' }, { stepId: 'hotel' }],
      residue: [{ stepId: 'mail' }],
    });
  });
  it('[W6] sleeps, polls, races, times out', async () => {
    const world = new World();
    let asked = 0;
    const s = saga(options, function* () {
      yield* sleep(1000);
      const got = yield* poll('p', () => (++asked === 3 ? 'yes' : undefined), {
        every: 100,
        timeout: 1000,
        report: 'waiting',
      });
      const won = yield* race({
        ask: elicit('q', { message: 'm', schema: Ok, ttl: 5000 }),
        late: sleep(60_000),
      });
      return `${got} ${won.winner}`;
    });
    const one = suspended(await start(s, {}, world, { budget: 20_000, maxHold: 500 }));
    expect(one.retryAfterMs).toBe(1000);
    world.time += 900;
    const two = suspended(await turn(s, one.state, {}, world, { budget: 20_000, maxHold: 50 }));
    expect(two.retryAfterMs).toBe(100);
    world.time += 100;
    const three = suspended(await turn(s, two.state, {}, world, { budget: 20_000, maxHold: 50 }));
    expect(three).toMatchObject({ retryAfterMs: 100, content: ['waiting'] });
    const four = suspended(await turn(s, three.state, {}, world, { budget: 20_000, maxHold: 500 }));
    expect(four.steps).toHaveLength(1);
    expect(completed(await turn(s, four.state, { q: accepted({ ok: true }) }, world))).toBe('yes ask');
    world.time += 6000;
    expect(String(failed(await turn(s, four.state, { q: accepted({ ok: true }) }, world)))).toContain(
      'StepTimedOut',
    );
  });
  it('continues as itself', async () => {
    const loop = saga({ ...options, input: z.object({ n: z.number() }) }, function* ({ n }): Generator<
      never,
      string,
      never
    > {
      if (n > 3) return 'end';
      // @ts-expect-error recursion
      return yield* continueAs(loop, { n: n + 1 });
    });
    const outcome = await start(loop as never, { n: 0 });
    expect(outcome).toMatchObject({ status: 'continued', args: { n: 1 } });
    void answered;
  });
});
