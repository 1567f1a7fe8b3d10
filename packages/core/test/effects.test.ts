/* oxlint-disable unicorn/consistent-function-scoping -- a saga stands in the test that it is for */
import { describe, expect, it } from 'vitest';
import { all, step, StepError, type RetryPolicy, type StepContext } from '../src/index.ts';
import type { Program } from '../src/model/program.ts';
import type { Steps } from '../src/model/command.ts';
import { deferred } from './support/deferred.ts';
import { accepted, completed, failed, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const word = accepted({ word: 'w' });

describe('the context of a step', () => {
  it('[E1] has the same idempotency key in a repeated turn, and no step before the token runs again', async () => {
    const keys: string[] = [];
    const note = ({ idempotencyKey }: StepContext<undefined>): void =>
      void keys.push(idempotencyKey);
    const make = (): Program =>
      sagaOf(function* () {
        yield* step('before', note);
        yield* ask('go');
        yield* step('after', note);
        yield* step('after', note);
        return 'done';
      });
    const { state } = suspended(await start(make()));
    completed(await turn(make(), state, { go: word }));
    completed(await turn(make(), state, { go: word }));
    completed(await turn(make(), state, { go: word }));
    expect(keys).toEqual([
      'do:before',
      ...Array.from({ length: 3 }, () => ['do:after', 'do:after#2']).flat(),
    ]);
  });

  it('[E1] keeps the idempotency key in a copy, and shares its getter with all steps', async () => {
    const copies: object[] = [];
    const getters = new Set<unknown>();
    const names = new Set(['attempt', 'idempotencyKey', 'input', 'services', 'signal', 'user']);
    const program = sagaOf(function* () {
      const note = (context: StepContext<undefined>): void => {
        copies.push({ ...context });
        expect(new Set(Reflect.ownKeys({ ...context }))).toEqual(names);
        // V8 keeps a getter of one step, and what the getter refers to, until a full garbage
        // collection.
        getters.add(
          Reflect.get(Object.getOwnPropertyDescriptor(context, 'idempotencyKey') ?? {}, 'get'),
        );
      };
      yield* step('first', note);
      yield* step('second', note);
      return 'done';
    });
    completed(await start(program));
    expect(copies).toMatchObject([{ idempotencyKey: 'do:first' }, { idempotencyKey: 'do:second' }]);
    expect(getters.size).toBe(1);
  });

  it('[E1] has an idempotency key for each item of a loop, whatever the order of the items', async () => {
    const keys: string[][] = [];
    const make = (items: string[]): Program => {
      const seen: string[] = [];
      keys.push(seen);
      return sagaOf(function* () {
        for (const key of items) {
          yield* step('item', ({ idempotencyKey }) => void seen.push(idempotencyKey), { key });
        }
        return 'done';
      });
    };
    completed(await start(make(['x', 'y', 'x'])));
    completed(await start(make(['y', 'x'])));
    expect(keys).toEqual([
      ['do:item(x)|x', 'do:item(y)|y', 'do:item(x)#2|x'],
      ['do:item(y)|y', 'do:item(x)|x'],
    ]);
  });

  it("[E1] has an idempotency key that never collides, whatever the author's key", async () => {
    const keys: string[] = [];
    const program = sagaOf(function* () {
      const note = ({ idempotencyKey }: StepContext<undefined>): void =>
        void keys.push(idempotencyKey.split('|', 1)[0] as string);
      for (const key of ['a', 'a', 'a)#2', 'a#2', 'a)', '(a', 'x/y', ' ', '😀'])
        yield* step('s', note, { key });
      yield* step('s', note);
      yield* step('s', note);
      return 'done';
    });
    completed(await start(program));
    expect(new Set(keys).size).toBe(11);
  });

  it('[E1] has the same idempotency key for every attempt', async () => {
    const keys: string[] = [];
    const program = sagaOf(function* () {
      yield* step(
        's',
        ({ idempotencyKey, attempt }) => {
          keys.push(`${attempt} ${idempotencyKey}`);
          if (attempt < 3) throw new Error('again');
        },
        { retry: 3 },
      );
      return 'done';
    });
    completed(await start(program));
    expect(keys).toEqual(['1 do:s', '2 do:s', '3 do:s']);
  });

  it.each(['', 'x'.repeat(257), '\ud800', 5])('refuses %j as a key', async (key) => {
    const program = sagaOf(function* () {
      yield* step('s', () => 1, { key: key as string });
      return 'never';
    });
    expect(failed(await start(program))).toMatchObject({ code: 'authoring_error' });
  });

  it('contains the request context, which no journal stores', async () => {
    const seen: unknown[] = [];
    const program = sagaOf(function* () {
      yield* step('s', ({ services }) => void seen.push(services));
      yield* ask('end');
      return 'done';
    });
    const { state } = suspended(
      await start(program, {}, undefined, { services: { secret: 'hunter2' } }),
    );
    expect(seen).toEqual([{ secret: 'hunter2' }]);
    expect(JSON.stringify(state)).not.toContain('hunter2');
  });
});

/** Runs a step that always fails, and gives when it was tried. */
async function tried(
  retry: RetryPolicy | number,
  random = 0.5,
  error: () => unknown = () => new Error('down'),
): Promise<{ times: number[]; error: unknown }> {
  const world = new World();
  world.time = 0;
  const times: number[] = [];
  const program = sagaOf(function* () {
    yield* step(
      's',
      () => {
        times.push(world.time);
        throw error();
      },
      { retry },
    );
    return 'never';
  });
  const outcome = await start(program, {}, world, { replace: { random: () => random } });
  return { times, error: failed(outcome) };
}

describe('attempts', () => {
  it('[E2] run one after the other with a growing backoff, randomly between half and all of it', async () => {
    expect((await tried(1)).times).toEqual([0]);
    expect((await tried({ attempts: 4, delay: 100 }, 0)).times).toEqual([0, 50, 150, 350]);
    expect((await tried({ attempts: 4, delay: 100 }, 0.999_999)).times).toEqual([0, 100, 300, 700]);
    expect((await tried({ attempts: 4, delay: 100, jitter: false }, 0)).times).toEqual([
      0, 100, 300, 700,
    ]);
    expect((await tried({ attempts: 4, delay: 100, factor: 1, jitter: false })).times).toEqual([
      0, 100, 200, 300,
    ]);
    expect((await tried({ attempts: 4, delay: 100, maxDelay: 150, jitter: false })).times).toEqual([
      0, 100, 250, 400,
    ]);
    expect((await tried(3)).times).toEqual([0, 150, 450]);
  });

  it('[E2] end with the error of the last attempt', async () => {
    let count = 0;
    const { error } = await tried(3, 0, () => new Error(`attempt ${(count += 1)}`));
    expect(error).toBeInstanceOf(StepError);
    expect((error as Error).message).toBe('attempt 3');
  });

  it('[E2] run again for errors that the predicate accepts, as they were thrown', async () => {
    const seen: unknown[] = [];
    class Fatal extends Error {}
    const errors = [new Error('a'), 'b', new Fatal('c')];
    let count = 0;
    const when = (error: unknown): boolean => {
      seen.push(error);
      return !(error instanceof Fatal);
    };
    const { times } = await tried({ attempts: 9, when }, 0, () => errors[count++]);
    expect(times).toHaveLength(3);
    expect(seen).toEqual(errors);
    expect(seen[2]).toBe(errors[2]);
  });

  it('[E2] end with the error of a predicate that throws', async () => {
    const when = (): boolean => {
      throw new Error('predicate');
    };
    const { times, error } = await tried({ attempts: 3, when });
    expect(times).toHaveLength(1);
    expect((error as Error).message).toBe('predicate');
  });

  it.each([
    0,
    1.5,
    -1,
    Number.NaN,
    { attempts: 2, delay: -1 },
    { attempts: 2, factor: 0.5 },
    { attempts: 2, maxDelay: Number.NaN },
  ])('[E2] refuses %j as a policy', async (retry) => {
    const { error, times } = await tried(retry);
    expect(error).toMatchObject({ code: 'authoring_error' });
    expect(times).toEqual([]);
  });

  it('[E2] have a timeout each, which aborts the signal of that attempt only', async () => {
    const world = new World();
    const signals: AbortSignal[] = [];
    const program = sagaOf(function* () {
      try {
        yield* step(
          's',
          ({ signal }) => {
            signals.push(signal);
            return deferred().promise;
          },
          { timeout: 50, retry: { attempts: 2, delay: 100, jitter: false } },
        );
      } catch (error) {
        const { name, code, stepId } = error as StepError;
        return [name, code, stepId, world.time].join();
      }
      return 'never';
    });
    expect(completed(await start(program, {}, world))).toBe('TimeoutError,timeout,s,1200');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    expect(signals[0]?.reason).toBeInstanceOf(StepError);
  });

  it('[E2] that end in time are not affected by their timeout', async () => {
    const world = new World();
    let aborted = false;
    const program = sagaOf(function* () {
      yield* step(
        's',
        async ({ signal }) => {
          signal.addEventListener('abort', () => {
            aborted = true;
          });
          await world.sleep(49);
        },
        { timeout: 50 },
      );
      yield* step('t', () => world.sleep(1_000));
      return 'done';
    });
    expect(completed(await start(program, {}, world))).toBe('done');
    expect({ aborted, time: world.time }).toEqual({ aborted: false, time: 2_049 });
  });

  it.each([0, -1, Number.NaN])('[E2] refuses %j as a timeout', async (timeout) => {
    const program = sagaOf(function* () {
      yield* step('s', () => 1, { timeout: timeout });
      return 'never';
    });
    expect(failed(await start(program))).toMatchObject({ code: 'authoring_error' });
  });

  it('[E2] are reported to observers with the thrown error', async () => {
    const world = new World();
    const errors = [new Error('a'), new Error('b')];
    let count = 0;
    const program = sagaOf(function* () {
      yield* step(
        's',
        () => {
          const error = errors[count++];
          if (error !== undefined) throw error;
        },
        { retry: 3 },
      );
      return 'done';
    });
    completed(await start(program, {}, world));
    expect(world.events.map(({ type, attempt, error }) => [type, attempt, error])).toEqual([
      ['started', 1, undefined],
      ['retrying', 1, errors[0]],
      ['started', 2, undefined],
      ['retrying', 2, errors[1]],
      ['started', 3, undefined],
      ['succeeded', 3, undefined],
    ]);
  });
});

describe('an unreadable error, or a policy that throws', () => {
  it('[E2] fails a step like other errors, and is reported to observers', async () => {
    const thrown = {
      get code(): never {
        throw new Error('not to be read');
      },
    };
    const own = new Error('own fault');
    const when = (): never => {
      throw own;
    };
    const program = sagaOf(function* () {
      try {
        yield* step('unread', () => Promise.reject(thrown));
      } catch {
        yield* step('policy', () => Promise.reject(new Error('no')), {
          retry: { attempts: 2, when },
        });
      }
      return 'done';
    });
    const world = new World();
    expect(failed(await start(program, {}, world))).toMatchObject({
      message: 'own fault',
      stepId: 'policy',
    });
    expect(world.events.map(({ path, type, error }) => [path, type, error])).toEqual([
      ['unread', 'started', undefined],
      ['unread', 'failed', thrown],
      ['policy', 'started', undefined],
      ['policy', 'failed', own],
    ]);
  });
});

describe('a backoff longer than the turn', () => {
  function flaky(world: World, failures: number, notes: string[]): Program {
    return sagaOf(function* () {
      const result = yield* step(
        's',
        ({ attempt, idempotencyKey }) => {
          notes.push(`${attempt} ${idempotencyKey} at ${world.time}`);
          if (attempt <= failures) throw new Error(`down ${attempt}`);
          return attempt;
        },
        { retry: { attempts: 4, delay: 10_000, factor: 2, jitter: false } },
      );
      return `done ${result}`;
    });
  }

  it('[E2] becomes a checkpoint, and continues its attempts on another instance', async () => {
    const world = new World();
    world.time = 0;
    const notes: string[] = [];
    const settings = { budget: 1_000 };
    const first = suspended(await start(flaky(world, 3, notes), {}, world, settings));
    expect(first).toMatchObject({ steps: [], retryAfterMs: 10_000 });
    world.time = 10_000;
    const second = suspended(await turn(flaky(world, 3, notes), first.state, {}, world, settings));
    expect(second.retryAfterMs).toBe(20_000);
    world.time = 31_000;
    const third = suspended(await turn(flaky(world, 3, notes), second.state, {}, world, settings));
    expect(third.retryAfterMs).toBe(40_000);
    world.time = 80_000;
    expect(completed(await turn(flaky(world, 3, notes), third.state, {}, world, settings))).toBe(
      'done 4',
    );
    expect(notes).toEqual(['1 do:s at 0', '2 do:s at 10000', '3 do:s at 31000', '4 do:s at 80000']);
  });

  it('[E2] runs nothing if the client returns too early, and reports the rest of the wait', async () => {
    const world = new World();
    world.time = 0;
    const notes: string[] = [];
    const settings = { budget: 1_000, maxHold: 0 };
    const first = suspended(await start(flaky(world, 1, notes), {}, world, settings));
    world.time = 4_000;
    const early = suspended(await turn(flaky(world, 1, notes), first.state, {}, world, settings));
    expect(early.retryAfterMs).toBe(6_000);
    world.time = 9_999;
    const earlier = suspended(await turn(flaky(world, 1, notes), early.state, {}, world, settings));
    expect(earlier.retryAfterMs).toBe(1);
    expect(notes).toHaveLength(1);
    world.time = 10_000;
    expect(completed(await turn(flaky(world, 1, notes), earlier.state, {}, world, settings))).toBe(
      'done 2',
    );
  });

  it('[E2] ends with the last error after as many attempts as without it', async () => {
    const world = new World();
    const notes: string[] = [];
    let outcome = await start(flaky(world, 9, notes), {}, world, { budget: 1 });
    while (outcome.status === 'suspended') {
      world.time += outcome.retryAfterMs ?? 0;
      outcome = await turn(flaky(world, 9, notes), outcome.state, {}, world, { budget: 1 });
    }
    expect((failed(outcome) as Error).message).toBe('down 4');
    expect(notes).toHaveLength(4);
  });

  it('[E2] waits in the turn if the dialect has no checkpoints or the turn is long enough', async () => {
    for (const budget of [undefined, 10_000]) {
      const world = new World();
      const settings = budget === undefined ? {} : { budget };
      const outcome = await start(flaky(world, 1, []), {}, world, settings);
      if (budget === undefined) expect(completed(outcome)).toBe('done 2');
      // The time of the attempt is the end of the turn: it waits, and the next attempt is made in
      // time.
      else expect(outcome.status).toBe('completed');
    }
  });

  it('[E2] delays neither a question nor the steps of a parallel branch', async () => {
    const world = new World();
    world.time = 0;
    const notes: string[] = [];
    const make = (): Program =>
      sagaOf(function* () {
        const asking = function* (): Steps<void> {
          yield* ask('go');
          yield* step('next', () => void notes.push('next'));
        };
        yield* all({
          flaky: step(
            's',
            ({ attempt }) => {
              notes.push(`attempt ${attempt}`);
              if (attempt === 1) throw new Error('down');
            },
            { retry: { attempts: 2, delay: 10_000, jitter: false } },
          ),
          asking: asking(),
        });
        return 'done';
      });
    const first = suspended(await start(make(), {}, world, { budget: 100 }));
    expect(first.steps.map(({ stepId }) => stepId)).toEqual(['asking/go']);
    const second = suspended(
      await turn(make(), first.state, { 'asking/go': word }, world, { budget: 100 }),
    );
    expect(second).toMatchObject({ steps: [], retryAfterMs: 10_000 });
    world.time = 10_000;
    expect(completed(await turn(make(), second.state, {}, world, { budget: 100 }))).toBe('done');
    expect(notes).toEqual(['attempt 1', 'next', 'attempt 2']);
  });
});
