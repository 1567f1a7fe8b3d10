import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  allSettled,
  elicit,
  poll,
  race,
  sample,
  sleep,
  StepTimedOut,
  type PollOptions,
  type Saga,
} from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import { accepted, completed, failed, refused, start, suspended, turn } from './support/drive.ts';
import { answerGraceMs } from '../src/turn/time/waits.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

const Ok = z.object({ ok: z.boolean() });
const ok = accepted({ ok: true });

/** Returns at each reported time, until the end. */
async function patient(
  program: Saga<undefined, undefined>,
  world: World,
  settings: TurnSettings,
): Promise<[Outcome, number[]]> {
  const waits: number[] = [];
  let outcome = await start(program, {}, world, settings);
  while (outcome.status === 'suspended') {
    const { retryAfterMs = Number.NaN } = outcome;
    waits.push(retryAfterMs);
    world.time += retryAfterMs;
    outcome = await turn(program, outcome.state, {}, world, settings);
    if (waits.length > 50) throw new Error('it does not end');
  }
  return [outcome, waits];
}

describe('sleep', () => {
  const sleeper = (ms: number): Saga<undefined, undefined> =>
    sagaOf(function* () {
      yield* sleep(ms);
      return 'awake';
    });

  it('[W6] is held in the request if short', async () => {
    const world = new World();
    let slept = 0;
    const replace = {
      sleep: (ms: number, signal: AbortSignal) => {
        slept += 1;
        return world.sleep(ms, signal);
      },
    };
    const outcome = await start(sleeper(400), {}, world, { budget: 1_000, maxHold: 500, replace });
    expect(completed(outcome)).toBe('awake');
    expect(world.time).toBe(1_400);
    expect(slept).toBe(1);
  });

  it('[W6] returns a token with the time to return if long, and waits in full', async () => {
    const world = new World();
    const settings = { budget: 60_000, maxHold: 500 };
    const { state, retryAfterMs, steps } = suspended(
      await start(sleeper(10_000), {}, world, settings),
    );
    expect([retryAfterMs, steps]).toEqual([10_000, []]);
    world.time += 4_000;
    const early = suspended(await turn(sleeper(10_000), state, {}, world, settings));
    expect(early.retryAfterMs).toBe(6_000);
    world.time += 6_000;
    expect(completed(await turn(sleeper(10_000), early.state, {}, world, settings))).toBe('awake');
  });

  it('[W6] is held within maxHold and within the budget of its turn', async () => {
    const world = new World();
    const twice = sagaOf(function* () {
      yield* sleep(400);
      yield* sleep(400);
      return '';
    });
    expect(
      suspended(await start(twice, {}, world, { budget: 60_000, maxHold: 500 })).retryAfterMs,
    ).toBe(400);
    expect(
      suspended(await start(sleeper(400), {}, world, { budget: 300, maxHold: 500 })).retryAfterMs,
    ).toBe(400);
  });

  it('[W6] is held to its end if the dialect cannot return a token', async () => {
    const world = new World();
    expect(completed(await start(sleeper(100_000), {}, world))).toBe('awake');
    expect(world.time).toBe(101_000);
  });

  it('ends at once with 0 ms, or with a date in the past', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* sleep(0);
      yield* sleep(new Date(5));
      return 'awake';
    });
    expect(completed(await start(program, {}, world, { budget: 1, maxHold: 0 }))).toBe('awake');
    expect(world.time).toBe(1_000);
  });

  it('lasts until a date, and until the longest of parallel waits', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* all([sleep(new Date(9_000)), sleep(2_000)]);
      return 'awake';
    });
    const [outcome, waits] = await patient(program, world, { budget: 60_000, maxHold: 0 });
    expect(completed(outcome)).toBe('awake');
    expect(waits).toEqual([2_000, 6_000]);
  });

  it('is not held in the request beside a question', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* all([sleep(10), ask('a')]);
      return '';
    });
    expect(suspended(await start(program, {}, world)).steps).toHaveLength(1);
    expect(world.time).toBe(1_000);
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY])('refuses %d ms', (ms) => {
    expect(() => sleep(ms)).toThrow(expect.objectContaining({ code: 'authoring_error' }));
    expect(() => sleep(new Date(Number.NaN))).toThrow(
      expect.objectContaining({ code: 'authoring_error' }),
    );
  });
});

describe('poll', () => {
  const poller = (
    question: (attempt: number) => unknown,
    options: Partial<PollOptions> = {},
  ): Saga<undefined, undefined> =>
    sagaOf(function* () {
      const got = yield* poll('p', ({ attempt }) => question(attempt), {
        every: 100,
        timeout: 1_000,
        ...options,
      });
      return String(got);
    });

  it('[W6] runs until it has a result, and journals only the last attempt', async () => {
    const world = new World();
    const program = poller((attempt) => (attempt < 4 ? undefined : `yes ${attempt}`));
    const [outcome, waits] = await patient(program, world, { budget: 60_000, maxHold: 0 });
    expect(completed(outcome)).toBe('yes 4');
    expect(waits).toEqual([100, 100, 100]);
    const { state } = suspended(
      await start(program, {}, new World(), { budget: 60_000, maxHold: 0 }),
    );
    expect(state.structure).toBe('');
  });

  it('[W6] does not run early, however often the client returns', async () => {
    const world = new World();
    let asked = 0;
    const program = poller(() => {
      asked += 1;
      return undefined;
    });
    let { state } = suspended(await start(program, {}, world, { budget: 60_000, maxHold: 0 }));
    for (let index = 0; index < 5; index += 1) {
      ({ state } = suspended(
        await turn(program, state, {}, world, { budget: 60_000, maxHold: 0 }),
      ));
    }
    expect(asked).toBe(1);
  });

  it('[W6] reports a text for the user during the wait', async () => {
    const world = new World();
    const reports: unknown[] = [];
    const program = poller(() => undefined, {
      report: ({ asked, elapsedMs }) => `asked ${asked} in ${elapsedMs}`,
    });
    let outcome = suspended(await start(program, {}, world, { budget: 60_000, maxHold: 0 }));
    for (let index = 0; index < 2; index += 1) {
      reports.push(outcome.content);
      world.time += outcome.retryAfterMs ?? 0;
      outcome = suspended(
        await turn(program, outcome.state, {}, world, { budget: 60_000, maxHold: 0 }),
      );
    }
    expect(reports).toEqual([['asked 1 in 0'], ['asked 2 in 100']]);
  });

  it('[W6] throws StepTimedOut at its total timeout, counted from the first attempt, over turns', async () => {
    const world = new World();
    const [outcome, waits] = await patient(
      poller(() => undefined, { every: 400 }),
      world,
      { budget: 60_000, maxHold: 0 },
    );
    expect(failed(outcome)).toMatchObject({ name: 'StepTimedOut', stepId: 'p' });
    expect(waits).toEqual([400, 400, 200]);
    expect(world.time).toBe(2_000);
  });

  it('throws its error as a StepError, once', async () => {
    let asked = 0;
    const program = poller(() => {
      asked += 1;
      throw Object.assign(new Error('no'), { code: 'E' });
    });
    expect(failed(await start(program))).toMatchObject({ name: 'Error', code: 'E', stepId: 'p' });
    expect(asked).toBe(1);
  });

  it('[U3] is aborted by a sibling while it runs, and while it waits', async () => {
    const world = new World();
    const seen: string[] = [];
    const program = sagaOf(function* () {
      const asking = yield* race({
        p: poll(
          'p',
          async ({ signal }) =>
            void (await world.sleep(1_000, signal), seen.push(`aborted ${signal.aborted}`)),
          {
            every: 10,
            timeout: 9_000,
          },
        ),
        s: sleep(5),
      });
      const waiting = yield* race({
        q: poll('q', () => undefined, { every: 5_000, timeout: 9_000 }),
        s: sleep(5),
      });
      yield* ask('end');
      return `${asking.winner} ${waiting.winner}`;
    });
    const outcome = suspended(await start(program, {}, world));
    expect(
      completed(await turn(program, outcome.state, { end: accepted({ word: 'w' }) }, world)),
    ).toBe('s s');
    expect(seen).toEqual(['aborted true']);
    expect(world.time).toBeLessThan(3_100);
  });

  it.each([{ every: 0 }, { timeout: 0 }, { every: Number.NaN }])('refuses %j', (options) => {
    expect(() => poll('p', () => 1, { every: 1, timeout: 1, ...options })).toThrow(
      expect.objectContaining({ code: 'authoring_error' }),
    );
  });
});

describe('the timeout of a question', () => {
  const asker = (ttl = 1_000): Saga<undefined, undefined> =>
    sagaOf(function* () {
      try {
        return String((yield* elicit('q', { message: 'm', schema: Ok, timeout: ttl })).ok);
      } catch (error) {
        return `${(error as Error).name} ${error instanceof StepTimedOut ? error.stepId : ''}`;
      }
    });

  it('[W6] accepts an answer in time, and throws StepTimedOut at the step for a late one', async () => {
    const world = new World();
    const { state, deadline } = suspended(await start(asker(), {}, world));
    expect(deadline).toBe(2_000);
    world.time = 1_999;
    expect(completed(await turn(asker(), state, { q: ok }, world))).toBe('true');
    world.time = 2_000 + answerGraceMs + 1;
    expect(completed(await turn(asker(), state, { q: ok }, world))).toBe('StepTimedOut q');
  });

  it('[W6] is counted from the first question, also after invalid answers', async () => {
    const world = new World();
    let { state } = suspended(await start(asker(), {}, world));
    world.time += 900;
    const again = suspended(await turn(asker(), state, { q: accepted({ ok: 'perhaps' }) }, world));
    expect(again.steps[0]?.reason).toContain('ok');
    ({ state } = again);
    world.time += 101 + answerGraceMs;
    expect(completed(await turn(asker(), state, { q: ok }, world))).toBe('StepTimedOut q');
  });

  it('[W6] applies to each of several questions, a sample too, and in a race', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      const settled = yield* allSettled([
        elicit('a', { message: 'm', schema: Ok, timeout: 100 }),
        sample('b', { messages: [], maxTokens: 1 }, { timeout: 100_000 }),
        elicit('c', { message: 'm', schema: Ok }),
      ]);
      return settled.map(({ status }) => status).join(' ');
    });
    const { state } = suspended(await start(program, {}, world));
    world.time += 101 + answerGraceMs;
    const two = suspended(await turn(program, state, { a: ok, c: ok }, world));
    expect(two.steps.map(({ stepId }) => stepId)).toEqual(['b']);
    world.time += 100_000;
    expect(completed(await turn(program, two.state, {}, world))).toBe(
      'rejected rejected fulfilled',
    );
    const racing = sagaOf(function* () {
      yield* race({
        q: elicit('q', { message: 'm', schema: Ok, timeout: 10 }),
        other: ask('other'),
      });
      return '';
    });
    const before = suspended(await start(racing, {}, world));
    world.time += 11 + answerGraceMs;
    expect(failed(await turn(racing, before.state, { q: refused() }, world))).toMatchObject({
      code: 'step_timed_out',
    });
  });
});
