import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  ClientCannot,
  elicit,
  poll,
  race,
  random,
  sleep,
  step,
  StepTimedOut,
  type Saga,
} from '../src/index.ts';
import type { Steps } from '../src/model/command.ts';
import { answerGraceMs } from '../src/program-parts.ts';
import { accepted, completed, failed, start, suspended, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

const Ok = z.object({ ok: z.boolean() });
const ok = accepted({ ok: true });
const question = (ttl?: number) =>
  elicit('sure', {
    message: 'Sure?',
    schema: Ok,
    ...(ttl === undefined ? {} : { timeout: ttl }),
  });
const minute = 60_000;
const day = 24 * 60 * minute;
const unheld: TurnSettings = { budget: minute, maxHold: 0 };

/** Takes one more turn, so much later, with or without an answer to the question. */
async function later(
  body: (world: World) => Steps<string>,
  ms: number,
  { answers = true, lost = 0 }: { readonly answers?: boolean; readonly lost?: number } = {},
): Promise<{ readonly outcome: Awaited<ReturnType<typeof turn>>; readonly world: World }> {
  const world = new World();
  const program: Saga<undefined, undefined> = sagaOf(() => body(world));
  const { state } = suspended(await start(program, {}, world, unheld));
  world.time += ms;
  const receivedAt = world.time;
  world.time += lost;
  const settings = { ...unheld, ...(lost === 0 ? {} : { replace: { receivedAt } }) };
  const outcome = await turn(program, state, answers ? { sure: ok } : {}, world, settings);
  return { outcome, world };
}

describe('a late answer', () => {
  const racing = function* (): Steps<string> {
    return (yield* race({ answer: question(), late: sleep(minute) })).winner;
  };

  it.each([
    [minute - 1, 'answer'],
    [minute, 'answer'],
    [minute + answerGraceMs, 'answer'],
    [minute + answerGraceMs + 1, 'late'],
    [60 * minute, 'late'],
  ])(
    '[W6] after %d ms, in a race with a minute of sleep, loses or wins: %s',
    async (ms, winner) => {
      expect(completed((await later(racing, ms)).outcome)).toBe(winner);
      // The same for a turn that was lost and is repeated: it goes by the time of the first
      // request.
      expect(completed((await later(racing, ms, { lost: 20 * minute })).outcome)).toBe(winner);
    },
  );

  it('[W6] that is missing lets the sleep win as soon as it ends', async () => {
    expect(completed((await later(racing, minute, { answers: false })).outcome)).toBe('late');
  });

  it.each([
    [minute + answerGraceMs, 'true'],
    [minute + answerGraceMs + 1, 'StepTimedOut'],
  ])(
    '[W6] after %d ms, to a question with a timeout of a minute, leads to %s',
    async (ms, result) => {
      const asked = function* (): Steps<string> {
        try {
          return String((yield* question(minute)).ok);
        } catch (error) {
          return (error as Error).name;
        }
      };
      expect(completed((await later(asked, ms)).outcome)).toBe(result);
      expect(completed((await later(asked, ms, { lost: minute })).outcome)).toBe(result);
    },
  );

  it('[W6] that is invalid and within the grace ends an overdue question', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      return String((yield* question(minute)).ok);
    });
    const { state } = suspended(await start(program, {}, world, unheld));
    world.time += minute + 1;
    const outcome = await turn(program, state, { sure: accepted({ ok: 'maybe' }) }, world, unheld);
    expect(failed(outcome)).toBeInstanceOf(StepTimedOut);
  });

  it('[W6] is reported as ignored if an overdue event has ended its question', async () => {
    const { outcome } = await later(racing, 60 * minute);
    expect(outcome.ignored).toEqual([{ stepId: 'sure', why: 'unknown' }]);
  });
});

describe('an overdue event', () => {
  it('[W6] runs in the order of the due times', async () => {
    const first = function* (): Steps<string> {
      const timers = race({ slow: sleep(2 * minute), fast: sleep(minute), never: sleep(day) });
      return (yield* timers).winner;
    };
    expect(completed((await later(first, 60 * minute, { answers: false })).outcome)).toBe('fast');
  });

  it('[W6] has its own time: a second sleep begins at the end of the first', async () => {
    const body = function* (): Steps<string> {
      const two = function* (): Steps<void> {
        yield* sleep(minute);
        yield* sleep(minute / 2);
      };
      return (yield* race({ one: sleep(2 * minute), two: two(), answer: question() })).winner;
    };
    expect(completed((await later(body, 10 * minute)).outcome)).toBe('two');
    const { outcome, world } = await later(body, minute, { answers: false });
    expect(suspended(outcome).due).toBe(world.time + minute / 2);
  });

  it('[W6] runs its following steps before a late answer is accepted', async () => {
    const did: string[] = [];
    const body = function* (): Steps<string> {
      const remind = function* (): Steps<void> {
        yield* sleep(minute);
        yield* step('remind', () => void did.push('reminded'));
      };
      return (yield* race({ answer: question(), remind: remind() })).winner;
    };
    expect(completed((await later(body, 10 * minute)).outcome)).toBe('remind');
    expect(did).toEqual(['reminded']);
    expect(completed((await later(body, minute + 1)).outcome)).toBe('answer');
    expect(did).toEqual(['reminded']);
  });

  it('[W6] gives a question that follows it the full time', async () => {
    const body = function* (): Steps<string> {
      yield* sleep(minute);
      return String((yield* question(minute)).ok);
    };
    const { outcome, world } = await later(body, 60 * minute, { answers: false });
    expect(suspended(outcome).due).toBe(world.time + minute);
  });
});

describe('a poll with a late client', () => {
  const asked: number[] = [];
  const polls = (isDone: () => boolean) =>
    function* (): Steps<string> {
      try {
        const job = poll(
          'job',
          ({ attempt }) => (asked.push(attempt), isDone() && attempt > 1 ? 'done' : undefined),
          { every: 10_000, timeout: minute },
        );
        return (yield* race({ job, answer: question() })).winner;
      } catch (error) {
        return (error as Error).name;
      }
    };

  it.each([
    [true, 'job'],
    [false, 'StepTimedOut'],
  ])(
    '[W6] runs once more before it times out (done: %s), and before late answers',
    async (done, end) => {
      for (const answers of [true, false]) {
        asked.length = 0;
        const { outcome } = await later(
          polls(() => done),
          60 * minute,
          { answers },
        );
        expect(completed(outcome)).toBe(end);
        expect(asked).toEqual([1, 2]);
      }
    },
  );

  it('[W6] is not repeated if the client returns at the reported time', async () => {
    let times = 0;
    const world = new World();
    const program = sagaOf(function* () {
      yield* poll('job', () => void (times += 1), { every: minute, timeout: minute });
      return '';
    });
    const { state, retryAfterMs } = suspended(await start(program, {}, world, unheld));
    expect(retryAfterMs).toBe(minute);
    world.time += minute;
    expect(failed(await turn(program, state, {}, world, unheld))).toBeInstanceOf(StepTimedOut);
    expect(times).toBe(1);
  });
});

describe('a wait of fractional milliseconds', () => {
  it('[W6] rounds a wait up to whole milliseconds', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* sleep(3_600_000 / 7);
      yield* sleep(1_000 * (yield* random()));
      yield* poll('p', ({ attempt }) => (attempt > 1 ? true : undefined), {
        every: 0.3,
        timeout: 1.7,
      });
      yield* question(1_000 / 3);
      return 'done';
    });
    const waits: (number | undefined)[] = [];
    let outcome = suspended(await start(program, {}, world, unheld));
    while (outcome.steps.length === 0) {
      waits.push(outcome.retryAfterMs);
      world.time += outcome.retryAfterMs ?? Number.NaN;
      outcome = suspended(await turn(program, outcome.state, {}, world, unheld));
    }
    expect(waits.map((ms) => Number.isInteger(ms))).toEqual([true, true, true]);
    expect(waits[0]).toBe(514_286);
    expect(outcome.due).toBe(world.time + 334);
    expect(completed(await turn(program, outcome.state, { sure: ok }, world, unheld))).toBe('done');
  });

  it('[E2] is rounded up between two attempts', async () => {
    const world = new World();
    const failing = step('flaky', () => Promise.reject(new Error('no')), {
      retry: { attempts: 2, delay: 1_000 / 3, jitter: false },
    });
    const program = sagaOf(function* () {
      yield* failing;
      return '';
    });
    expect(suspended(await start(program, {}, world, unheld)).retryAfterMs).toBe(334);
  });

  it.each<[string, () => unknown]>([
    ['sleep', () => sleep(Number.NaN)],
    ['sleep', () => sleep(-0.5)],
    ['sleep', () => sleep(Number.POSITIVE_INFINITY)],
    ["'p'", () => poll('p', () => 1, { every: Number.NaN, timeout: 1 })],
    ["'p'", () => poll('p', () => 1, { every: 1, timeout: Number.POSITIVE_INFINITY })],
    ["'p'", () => poll('p', () => 1, { every: -1, timeout: 1 })],
    ["'sure'", () => question(Number.NaN)],
    ["'sure'", () => question(0)],
    ["'s'", () => step('s', () => 1, { retry: { attempts: 2, delay: Number.POSITIVE_INFINITY } })],
    ["'s'", () => step('s', () => 1, { retry: { attempts: 2, delay: 1, factor: Number.NaN } })],
  ])('refuses an invalid duration with the name of its step: %s', (named, make) => {
    expect(make).toThrow(expect.objectContaining({ code: 'authoring_error' }));
    expect(make).toThrow(named);
  });
});

describe('a wait that ends after the lifetime of its saga', () => {
  const world = new World();
  const living: TurnSettings = { ...unheld, replace: { lifeEndsAt: world.time + 7 * day } };
  const caught = function* (wait: Steps<unknown>): Steps<string> {
    try {
      yield* wait;
      return 'waited';
    } catch (error) {
      return error instanceof ClientCannot ? `${error.need} ${error.stepId}` : String(error);
    }
  };
  const within = (steps: () => Iterable<unknown>): Saga<undefined, undefined> =>
    sagaOf(function* () {
      const said = yield* caught(steps() as Steps<unknown>);
      yield* question();
      return said;
    });

  it.each<[string, () => Iterable<unknown>, string]>([
    ['a sleep', () => sleep(30 * day), 'wait sleep'],
    ['a sleep until a date', () => sleep(new Date(world.time + 7 * day + 1)), 'wait sleep'],
    ['a sleep beside a question', () => all([sleep(30 * day), question()]), 'wait sleep'],
    ['a poll', () => poll('p', () => undefined, { every: 8 * day, timeout: 9 * day }), 'wait p'],
  ])(
    '[W6] is refused at the step with a warning, and replayed as refused: %s',
    async (_, make, said) => {
      world.warnings.length = 0;
      // `yield*` takes a command as it takes a generator.
      const program = within(function* () {
        yield* make();
      });
      const first = suspended(await start(program, {}, world, living));
      expect(world.warnings.filter((warning) => warning.includes('maxLifetime'))).toHaveLength(1);
      const [asked] = first.steps;
      const last = await turn(program, first.state, { [asked?.stepId ?? '']: ok }, world, unheld);
      expect(completed(last)).toBe(said);
    },
  );

  it('[W6] causes only a warning for the deadline of a question or the timeout of a poll', async () => {
    world.warnings.length = 0;
    const program = sagaOf(function* () {
      const job = poll('job', () => undefined, { every: day, timeout: 30 * day });
      return (yield* race({ answer: question(30 * day), job })).winner;
    });
    const first = suspended(await start(program, {}, world, living));
    expect(world.warnings.filter((warning) => warning.includes('maxLifetime'))).toHaveLength(2);
    const second = suspended(await turn(program, first.state, {}, world, living));
    expect(world.warnings.filter((warning) => warning.includes('maxLifetime'))).toHaveLength(2);
    expect(completed(await turn(program, second.state, { sure: ok }, world, living))).toBe(
      'answer',
    );
  });

  it('[E2] fails a step without another attempt', async () => {
    const program = sagaOf(function* () {
      yield* step('flaky', () => Promise.reject(new Error('no')), {
        retry: { attempts: 3, delay: 8 * day, maxDelay: 8 * day, jitter: false },
      });
      return '';
    });
    expect(failed(await start(program, {}, world, living))).toMatchObject({
      stepId: 'flaky',
      message: 'no',
    });
  });

  it('[E3] is waited for by an undo', async () => {
    const program = sagaOf(
      function* () {
        yield* step('ship', () => 1, {
          compensate: function* () {
            yield* sleep(8 * day);
          },
        });
        throw new Error('no');
      },
      { reuse: 'ok' },
    );
    expect(suspended(await start(program, {}, world, living)).retryAfterMs).toBe(8 * day);
  });
});
