import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  allSettled,
  checkpoint,
  ClientCannot,
  elicit,
  poll,
  race,
  saga,
  sample,
  sleep,
  step,
  uuid,
  type Saga,
} from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { Steps } from '../src/model/command.ts';
import { accepted, completed, failed, refused, start, suspended, turn } from './support/drive.ts';
import { answerGraceMs } from '../src/turn/time/waits.ts';
import { sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

const Ok = z.object({ ok: z.boolean() });
const waits = (settings: TurnSettings['replace'], more: TurnSettings = {}): TurnSettings => ({
  budget: 60_000,
  maxHold: 500,
  ...more,
  replace: settings ?? {},
});

describe('a wait that is too long for the client', () => {
  const tried = function* (steps: Steps<unknown>): Steps<string> {
    try {
      yield* steps;
      return 'waited';
    } catch (error) {
      expect(error).toBeInstanceOf(ClientCannot);
      const { need, stepId, message } = error as ClientCannot;
      return `${need} ${stepId} ${message}`;
    }
  };
  const asleep = function* (ms: number): Steps<void> {
    yield* sleep(ms);
  };
  const sleeper = (ms: number): Saga<undefined, undefined> =>
    sagaOf(function* () {
      const said = yield* tried(asleep(ms));
      yield* checkpoint();
      return said;
    });

  it('[W6] throws ClientCannot at the sleep, and the turn continues, also on replay', async () => {
    const world = new World();
    const first = suspended(await start(sleeper(9_001), {}, world, waits({ maxWait: 9_000 })));
    expect([world.time, first.retryAfterMs]).toEqual([1_000, 0]);
    expect(completed(await turn(sleeper(9_001), first.state, {}, world))).toBe(
      "wait sleep 'sleep' takes longer than the client of this call can wait.",
    );
  });

  it('[W6] returns a token if the client returns in time', async () => {
    const world = new World();
    const { retryAfterMs } = suspended(
      await start(sleeper(9_000), {}, world, waits({ maxWait: 9_000 })),
    );
    expect(retryAfterMs).toBe(9_000);
  });

  it('[W6] is held in the request if short enough, whatever the client supports', async () => {
    const world = new World();
    suspended(await start(sleeper(500), {}, world, waits({ maxWait: 0 })));
    expect(world.time).toBe(1_500);
  });

  it('[W6] does not begin in a request that cannot return a token', async () => {
    const world = new World();
    const settings = { replace: { maxWait: 9_000 } };
    const outcome = await start(sleeper(9_001), {}, world, settings);
    expect(suspended(outcome).accepted).toBe(0);
    expect(world.time).toBe(1_000);
    await start(sleeper(9_000), {}, world, settings);
    expect(world.time).toBe(10_000);
  });

  it('[W6] throws ClientCannot at a poll that would run again too late', async () => {
    const world = new World();
    let asked = 0;
    const ask = (): undefined => void (asked += 1);
    const program = sagaOf(function* () {
      yield* poll('job', ask, { every: 10_000, timeout: 100_000 });
      return '';
    });
    const outcome = await start(program, {}, world, waits({ maxWait: 9_000 }));
    expect(failed(outcome)).toMatchObject({ code: 'client_cannot', need: 'wait', stepId: 'job' });
    expect(asked).toBe(1);
  });

  it('[W6] does not fail beside a question or a checkpoint', async () => {
    const settings = waits({ maxWait: 10 });
    const asking = sagaOf(function* () {
      yield* all([sleep(9_000), elicit('ok', { message: 'm', schema: Ok })]);
      return '';
    });
    expect(suspended(await start(asking, {}, undefined, settings)).steps).toHaveLength(1);
    const passing = sagaOf(function* () {
      yield* all([sleep(9_000), checkpoint()]);
      return '';
    });
    expect(suspended(await start(passing, {}, undefined, settings)).retryAfterMs).toBe(0);
  });

  it('[W6] fails each of several parallel waits', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      const ends = yield* allSettled([sleep(9_000), sleep(8_000)]);
      const { winner } = yield* race({ long: tried(asleep(9_000)), short: sleep(400) });
      return `${ends.map(({ status }) => status).join()} ${winner}`;
    });
    expect(completed(await start(program, {}, world, waits({ maxWait: 5_000 })))).toBe(
      'rejected,rejected short',
    );
  });

  it('[W6] [E2] does not change the backoff of a step', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* all([
        step('flaky', () => Promise.reject(new Error('no')), {
          retry: { attempts: 3, delay: 30_000 },
        }),
        sleep(90_000),
      ]);
      return '';
    });
    const { retryAfterMs } = suspended(await start(program, {}, world, waits({ maxWait: 10 })));
    expect(retryAfterMs).toBeGreaterThan(10);
  });

  it('[W6] is waited for in the request during an undo that cannot be stored', async () => {
    const world = new World();
    const program = saga({ name: 'undone', version: '1', reuse: 'ok' }, function* () {
      yield* step('ship', () => 1, {
        compensate: function* () {
          yield* sleep(9_000);
        },
      });
      yield* step('more', () => 1);
      yield* step('most', () => 1);
      return '';
    });
    const settings = waits({ maxWait: 10 }, { limits: { maxJournalEntries: 2 } });
    const outcome = await start(program, {}, world, settings);
    expect(outcome).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'ship' }],
      uncompensated: [],
    });
    expect(world.time).toBe(10_000);
  });

  it('[W6] is partly held if the client would return at once', async () => {
    const world = new World();
    const settings = waits({ holdsParts: true });
    const first = suspended(await start(sleeper(1_200), {}, world, settings));
    expect([world.time, first.retryAfterMs]).toEqual([1_500, 700]);
    const second = suspended(await turn(sleeper(1_200), first.state, {}, world, settings));
    expect([world.time, second.retryAfterMs]).toEqual([2_000, 200]);
    suspended(await turn(sleeper(1_200), second.state, {}, world, settings));
    expect(world.time).toBe(2_200);
  });

  it('[W6] is partly held within the budget of its request, and not at all if it cannot continue', async () => {
    const world = new World();
    suspended(await start(sleeper(1_200), {}, world, waits({ holdsParts: true }, { budget: 300 })));
    expect(world.time).toBe(1_300);
    suspended(await start(sleeper(1_200), {}, world, waits({ holdsParts: true, maxWait: 1_000 })));
    expect(world.time).toBe(1_300);
  });
});

describe('a turn that only reads', () => {
  const looking: TurnSettings = { budget: Number.NEGATIVE_INFINITY };
  const started: string[] = [];
  const program = sagaOf(function* () {
    const note = (what: string) => (): undefined => void started.push(what);
    yield* elicit('first', { message: 'm', schema: Ok });
    const ends = yield* allSettled({
      step: step('step', note('step')),
      poll: poll('poll', () => started.push('poll'), { every: 1, timeout: 9_000 }),
      sample: sample('sample', { messages: [], maxTokens: 1 }),
      form: elicit('form', {
        message: 'm',
        schema: Ok,
        fallback: () => {
          started.push('fallback');
          return { ok: true };
        },
      }),
      cannot: elicit('cannot', { message: 'm', schema: Ok }),
      sleep: sleep(0),
      uuid: uuid(),
      checkpoint: checkpoint(),
    });
    return Object.values(ends)
      .flatMap((end) => (end.status === 'rejected' ? [String(end.reason)] : []))
      .join();
  });
  const replace: NonNullable<TurnSettings['replace']> = {
    route: ({ need, hasFallback }) =>
      need === 'sampling' ? 'host' : hasFallback ? 'fallback' : 'cannot',
    sample: () => {
      started.push('sample');
      throw new Error('no');
    },
    randomBytes: () => {
      started.push('uuid');
      return new Uint8Array(32);
    },
    maxWait: 0,
  };

  it('[W7] runs nothing and records nothing, whatever is due', async () => {
    const world = new World();
    const first = suspended(await start(program, {}, world));
    const answers = { first: accepted({ ok: true }) };
    const second = suspended(
      await turn(program, first.state, answers, world, { ...looking, replace }),
    );
    // A poll, a sleep, and the checkpoint are due by now.
    world.time += 100_000;
    const third = suspended(await turn(program, second.state, {}, world, { ...looking, replace }));
    expect(started).toEqual([]);
    expect(third.steps).toEqual([]);
    expect(third.retryAfterMs).toBe(0);
    const { head: _, ...texts } = second.state;
    expect(third.state).toMatchObject(texts);
    expect(world.events.filter(({ type }) => type === 'started')).toEqual([]);
  });

  it('[W7] leaves all work to the next turn', async () => {
    const world = new World();
    const first = suspended(await start(program, {}, world));
    const answers = { first: accepted({ ok: true }) };
    const second = suspended(
      await turn(program, first.state, answers, world, { ...looking, replace }),
    );
    expect(completed(await turn(program, second.state, {}, world, { replace }))).toBe(
      "Error: no,ClientCannot: 'cannot' cannot be asked: the client offers no elicitation for this call.",
    );
    expect(started.toSorted()).toEqual(['fallback', 'poll', 'sample', 'step', 'uuid']);
  });

  it('[W7] reports open questions even after their deadline', async () => {
    const world = new World();
    const timed = sagaOf(function* () {
      const outcome = yield* elicit.outcome('ok', { message: 'm', schema: Ok, timeout: 50 });
      return outcome.action;
    });
    const { state } = suspended(await start(timed, {}, world));
    world.time += 60;
    expect(suspended(await turn(timed, state, {}, world, looking)).steps).toHaveLength(1);
    world.time += answerGraceMs;
    expect(failed(await turn(timed, state, { ok: refused() }, world, looking))).toMatchObject({
      code: 'step_timed_out',
    });
  });
});

describe('a turn that ends after a server step', () => {
  const settings: TurnSettings = { replace: { commitsEach: true } };
  /** Returns the effects of each turn. */
  async function ran(
    program: (run: (what: string) => string) => Saga<undefined, undefined>,
    more: TurnSettings = settings,
  ): Promise<[string[], Outcome, (number | undefined)[]]> {
    const world = new World();
    const turns: string[] = [];
    const after: (number | undefined)[] = [];
    let now: string[] = [];
    const run = (what: string): string => {
      now.push(what);
      return what;
    };
    let outcome = await start(program(run), {}, world, more);
    turns.push(now.join(' '));
    while (outcome.status === 'suspended' && turns.length < 20) {
      const { steps, state, retryAfterMs } = outcome;
      after.push(retryAfterMs);
      world.time += retryAfterMs ?? 0;
      now = [];
      const answers = Object.fromEntries(
        steps.map(({ stepId }) => [stepId, accepted({ ok: true })]),
      );
      outcome = await turn(program(run), state, answers, world, more);
      turns.push(now.join(' '));
    }
    return [turns, outcome, after];
  }

  it('[U4] runs one step, or several in parallel, and makes progress', async () => {
    const [turns, outcome, after] = await ran((run) =>
      sagaOf(function* () {
        yield* step('a', () => run('a'));
        yield* uuid();
        yield* all([step('b', () => run('b')), step('c', () => run('c'))]);
        yield* poll('d', () => run('d'), { every: 1, timeout: 9 });
        yield* elicit('ok', { message: 'm', schema: Ok });
        yield* step('e', () => run('e'));
        return 'done';
      }),
    );
    expect(turns).toEqual(['a', 'b c', 'd', 'e']);
    expect(after).toEqual([0, 0, undefined]);
    expect(completed(outcome)).toBe('done');
  });

  it('[U4] reports if a step is left that waits for nothing', async () => {
    const program = sagaOf(function* () {
      yield* all({
        ok: elicit('ok', { message: 'm', schema: Ok }),
        done: (function* (): Steps<void> {
          yield* step('a', () => undefined);
          yield* step('b', () => undefined);
        })(),
      });
      yield* sleep(5_000);
      return 'done';
    });
    const world = new World();
    const first = suspended(await start(program, {}, world, settings));
    expect([first.due, first.steps.length]).toEqual([0, 1]);
    const second = suspended(await turn(program, first.state, {}, world, settings));
    expect([second.due, second.steps.length]).toEqual([undefined, 1]);
    const third = suspended(
      await turn(program, second.state, { ok: accepted({ ok: true }) }, world, {
        ...settings,
        ...waits({}),
      }),
    );
    expect([third.due, third.retryAfterMs]).toEqual([undefined, 5_000]);
  });

  it('[U4] counts a fallback and a sampling of the host as a step', async () => {
    const replace: NonNullable<TurnSettings['replace']> = {
      commitsEach: true,
      route: ({ need, hasFallback }) =>
        need === 'sampling' ? 'host' : hasFallback ? 'fallback' : 'cannot',
      sample: () => ({ role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' }),
    };
    const [turns, outcome] = await ran(
      (run) =>
        sagaOf(function* () {
          const fallback = (): { ok: boolean } => ({ ok: run('fallback') === '' });
          yield* elicit('ok', { message: 'm', schema: Ok, fallback });
          yield* step('a', () => run('a'));
          try {
            yield* elicit('none', { message: 'm', schema: Ok });
          } catch {
            yield* sample('model', { messages: [], maxTokens: 1 });
          }
          yield* step('b', () => run('b'));
          return 'done';
        }),
      { replace },
    );
    expect(turns).toEqual(['fallback', 'a', '', 'b']);
    expect(completed(outcome)).toBe('done');
  });

  it('[U4] [E2] counts an attempt with a later retry as a step, and reports when it is due', async () => {
    const [turns, outcome, after] = await ran((run) =>
      sagaOf(function* () {
        const flaky = step(
          'flaky',
          ({ attempt }) => {
            run(`flaky${attempt}`);
            if (attempt < 3) throw new Error('no');
            return attempt;
          },
          { retry: { attempts: 3, delay: 40, jitter: false } },
        );
        yield* all([flaky, step('a', () => run('a'))]);
        return 'done';
      }),
    );
    expect(turns).toEqual(['flaky1 a', 'flaky2', 'flaky3']);
    expect(after.every((ms) => ms !== undefined && ms > 0)).toBe(true);
    expect(completed(outcome)).toBe('done');
  });

  it('[U4] [W6] holds no wait after the step, and holds waits before it as usual', async () => {
    const [turns, outcome, after] = await ran(
      (run) =>
        sagaOf(function* () {
          yield* sleep(100);
          yield* step('a', () => run('a'));
          yield* sleep(100);
          return 'done';
        }),
      { ...settings, budget: 60_000, maxHold: 500 },
    );
    expect([turns, after]).toEqual([['a', ''], [100]]);
    expect(completed(outcome)).toBe('done');
  });

  it('[U4] finishes the compensation of a saga that cannot be stored', async () => {
    const undone: string[] = [];
    const program = saga({ name: 'undone', version: '1', reuse: 'ok' }, function* () {
      for (const id of ['a', 'b']) {
        yield* step(id, () => 1, { compensate: () => void undone.push(id) });
      }
      yield* step('c', () => 1);
      return '';
    });
    const world = new World();
    const limits = { maxJournalEntries: 2 };
    const first = suspended(await start(program, {}, world, { ...settings, limits }));
    const second = suspended(await turn(program, first.state, {}, world, { ...settings, limits }));
    expect(await turn(program, second.state, {}, world, { ...settings, limits })).toMatchObject({
      status: 'failed',
      uncompensated: [],
    });
    expect(undone).toEqual(['b', 'a']);
  });
});
