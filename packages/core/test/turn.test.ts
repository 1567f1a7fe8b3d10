import { engineOf } from '@mcp-saga/core/program';
/* oxlint-disable unicorn/consistent-function-scoping -- a saga stands in the test that it is for */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  allSettled,
  elicit,
  progress,
  saga,
  step,
  TurnAborted,
  type Schema,
} from '../src/index.ts';
import type { CommitPoint, CommittedTurn } from '../src/model/outcome.ts';
import type { Steps } from '../src/model/command.ts';
import { deferred, settle } from './support/deferred.ts';
import { accepted, completed, drive, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

describe('the end of a turn', () => {
  it('[U1] waits for all server steps: a running step delays the question of a parallel branch', async () => {
    const work = deferred<string>();
    const program = sagaOf(function* () {
      const { a, b } = yield* all({ a: ask('a'), b: step('b', () => work.promise) });
      return `${a.word} ${b}`;
    });
    let ended = false;
    const first = start(program).finally(() => {
      ended = true;
    });
    await settle();
    await settle();
    expect(ended).toBe(false);
    work.resolve('built');
    const { steps, state } = suspended(await first);
    expect(steps.map(({ stepId }) => stepId)).toEqual(['a']);
    expect(completed(await turn(program, state, { a: accepted({ word: 'yes' }) }))).toBe(
      'yes built',
    );
  });

  it('[U1] waits for steps after the running step, and for questions after these steps', async () => {
    const program = sagaOf(function* () {
      const helper = function* (): Steps<string> {
        yield* step('one', () => 1);
        yield* step('two', async () => 2);
        return (yield* ask('late')).word;
      };
      const [early, late] = yield* all([ask('early'), helper()]);
      return `${early.word} ${late}`;
    });
    const { steps } = suspended(await start(program));
    expect(steps.map(({ stepId }) => stepId)).toEqual(['early', '1/late']);
  });

  it('[U1] asks all questions of parallel branches in one turn', async () => {
    const program = sagaOf(function* () {
      const words = yield* all([ask('a'), ask('b'), ask('c')]);
      return words.map(({ word }) => word).join('');
    });
    expect(suspended(await start(program)).steps).toHaveLength(3);
  });

  it('[U2] delivers answers in the order asked, whatever the order of the map', async () => {
    const order: string[] = [];
    const program = sagaOf(function* () {
      const branch = function* (id: string): Steps<void> {
        yield* ask(id);
        order.push(id);
      };
      yield* all({ x: branch('first'), y: branch('second'), z: branch('third') });
      return order.join();
    });
    const { state } = suspended(await start(program));
    const word = accepted({ word: 'w' });
    const answers = new Map([
      ['z/third', word],
      ['x/first', word],
      ['y/second', word],
    ]);
    completed(await turn(program, state, answers));
    expect(order).toEqual(['first', 'second', 'third']);
  });

  it('[U2] records server results in the order of completion, and keeps that order on replay', async () => {
    const orders: string[][] = [];
    const gates = { a: deferred(), b: deferred(), c: deferred() };
    const make = () =>
      sagaOf(function* () {
        const order: string[] = [];
        orders.push(order);
        const branch = function* (id: 'a' | 'b' | 'c'): Steps<void> {
          yield* step('work', () => gates[id].promise);
          order.push(id);
          yield* step('more', () => 1);
          order.push(`${id}2`);
        };
        yield* all({ a: branch('a'), b: branch('b'), c: branch('c') });
        yield* ask('go');
        return order.join();
      });
    const first = start(make());
    await settle();
    gates.c.resolve();
    await settle();
    gates.a.resolve();
    await settle();
    gates.b.resolve();
    const { state } = suspended(await first);
    completed(await turn(make(), state, { go: accepted({ word: 'w' }) }));
    expect(orders[0]).toEqual(['c', 'c2', 'a', 'a2', 'b', 'b2']);
    expect(orders[1]).toEqual(orders[0]);
  });

  it('[U2] records a simultaneous result at its own place', async () => {
    const both = deferred();
    const orders: string[][] = [];
    const make = () =>
      sagaOf(function* () {
        const order: string[] = [];
        orders.push(order);
        const branch = function* (id: string): Steps<void> {
          yield* step('work', () => both.promise);
          order.push(id);
        };
        yield* all({ a: branch('a'), b: branch('b') });
        yield* ask('go');
        return order.join();
      });
    const first = start(make());
    await settle();
    both.resolve();
    const { state } = suspended(await first);
    completed(await turn(make(), state, { go: accepted({ word: 'w' }) }));
    expect(orders[1]).toEqual(orders[0]);
  });
});

describe('the budget of a turn', () => {
  const slow = (world: World, runs: string[]) =>
    sagaOf(function* () {
      for (const id of ['a', 'b', 'c']) {
        yield* step(id, () => {
          runs.push(id);
          world.time += 10;
        });
      }
      return 'done';
    });

  it('[U4] returns a checkpoint between steps when it is used up', async () => {
    const world = new World();
    const runs: string[] = [];
    const first = suspended(await start(slow(world, runs), {}, world, { budget: 15 }));
    expect(runs).toEqual(['a', 'b']);
    expect(first).toMatchObject({ steps: [], retryAfterMs: 0, accepted: 0 });
    expect(completed(await turn(slow(world, runs), first.state, {}, world, { budget: 15 }))).toBe(
      'done',
    );
    expect(runs).toEqual(['a', 'b', 'c']);
  });

  it('[U4] starts a step one millisecond before its end, and none at its end', async () => {
    const world = new World();
    const runs: string[] = [];
    suspended(await start(slow(world, runs), {}, world, { budget: 10 }));
    expect(runs).toEqual(['a']);
    runs.length = 0;
    suspended(await start(slow(world, runs), {}, world, { budget: 11 }));
    expect(runs).toEqual(['a', 'b']);
  });

  it('[U4] never ends a turn if the dialect has no checkpoints', async () => {
    const world = new World();
    const runs: string[] = [];
    expect(completed(await start(slow(world, runs), {}, world))).toBe('done');
  });

  it('[U4] includes the steps that run when it is used up', async () => {
    const world = new World();
    const program = sagaOf(function* () {
      const long = function* (): Steps<void> {
        yield* step('long', () => world.sleep(100));
        yield* step('after', () => 1);
      };
      yield* all([long(), long()]);
      return 'done';
    });
    const { state } = suspended(await start(program, {}, world, { budget: 50 }));
    expect(
      engineOf(program)
        .timeline(state)
        .map(({ path, outcome }) => `${path} ${outcome}`),
    ).toEqual([' parsed', '0/long done', '1/long done']);
  });

  const vital = { replace: { defersEffects: 'vital' } } as const;
  const undo = { compensate: () => undefined };
  const reuse = 'ok';

  it('[E1] runs no step with an undo or once before somebody has a token', async () => {
    for (const options of [undo, { once: true }]) {
      const runs: string[] = [];
      const program = saga({ name: 'vital', version: '1', reuse }, function* () {
        yield* step('read', () => void runs.push('read'));
        yield* step('a', () => void runs.push('a'), options);
        yield* step('b', () => void runs.push('b'), options);
        return 'done';
      });
      const world = new World();
      const { state, steps, retryAfterMs } = suspended(await start(program, {}, world, vital));
      expect({ steps, retryAfterMs, runs }).toEqual({ steps: [], retryAfterMs: 0, runs: ['read'] });
      expect(completed(await turn(program, state, {}, world))).toBe('done');
      expect(runs).toEqual(['read', 'a', 'b']);
    }
  });

  it('[E1] runs no step of a saga that commits each before somebody has a token', async () => {
    const runs: string[] = [];
    const program = sagaOf(function* () {
      yield* step('a', () => void runs.push('a'));
      return 'done';
    });
    const replace = { defersEffects: 'vital', commitsEach: true } as const;
    suspended(await start(program, {}, undefined, { replace }));
    expect(runs).toEqual([]);
  });

  it('[E1] commits before the first step with an undo if somebody else can continue', async () => {
    const runs: string[] = [];
    const program = saga({ name: 'vital', version: '1', reuse }, function* () {
      yield* step('read', () => void runs.push('read'));
      yield* all([
        step('a', () => void runs.push('a'), undo),
        step('b', () => void runs.push('b'), undo),
      ]);
      return 'done';
    });
    const commit = async ({ reason }: CommitPoint): Promise<CommittedTurn> => {
      runs.push(reason);
      return { turn: 2, tokenBytes: 9, deadline: undefined };
    };
    const replace = { defersEffects: 'vital', commit } as const;
    expect(completed(await start(program, {}, undefined, { replace }))).toBe('done');
    expect(runs).toEqual(['read', 'vital', 'a', 'b']);
  });
});

describe('an aborted request', () => {
  it('[U4] rejects with TurnAborted, awaits aborted steps, and records nothing', async () => {
    const world = new World();
    const controller = new AbortController();
    const started = deferred();
    const release = deferred();
    const signals: boolean[] = [];
    const runs: string[] = [];
    const program = sagaOf(function* () {
      yield* ask('go');
      yield* step('first', () => void runs.push('first'));
      yield* all([
        step('polite', ({ signal }) => {
          const aborted = deferred();
          signal.addEventListener('abort', () => aborted.resolve());
          return aborted.promise;
        }),
        step('deaf', async ({ signal }) => {
          started.resolve();
          await release.promise;
          signals.push(signal.aborted);
        }),
      ]);
      yield* step('never', () => void runs.push('never'));
      return 'done';
    });
    const { state } = suspended(await start(program, {}, world));
    const before = JSON.stringify(state);
    let ended = false;
    const aborted = turn(program, state, { go: accepted({ word: 'w' }) }, world, {
      signal: controller.signal,
      // The abort grace does not end.
      replace: { sleep: () => new Promise(() => undefined) },
    }).finally(() => {
      ended = true;
    });
    const outcome = aborted.then(
      () => 'no error',
      (error: unknown) => error,
    );
    await started.promise;
    controller.abort(new Error('gone'));
    await settle();
    expect(ended).toBe(false);
    release.resolve();
    const error = await outcome;
    expect(error).toBeInstanceOf(TurnAborted);
    expect((error as TurnAborted).cause).toEqual(new Error('gone'));
    expect(signals).toEqual([true]);
    expect(runs).toEqual(['first']);
    expect(JSON.stringify(state)).toBe(before);
    expect(world.told).toEqual([]);

    // The token before it is still good.
    const again = sagaOf(function* () {
      yield* ask('go');
      yield* step('first', () => void runs.push('first'));
      yield* all([step('polite', () => 1), step('deaf', () => 1)]);
      return 'done';
    });
    expect(completed(await turn(again, state, { go: accepted({ word: 'w' }) }))).toBe('done');
  });

  it('[U4] runs nothing if it was aborted before it began', async () => {
    const runs: string[] = [];
    const program = sagaOf(function* () {
      runs.push('body');
      yield* step('a', () => void runs.push('a'));
      return 'done';
    });
    await expect(
      start(program, {}, undefined, { signal: AbortSignal.abort('why') }),
    ).rejects.toMatchObject({
      code: 'turn_aborted',
      cause: 'why',
    });
    expect(runs).toEqual([]);
  });

  it('[U4] starts no other step if a running step aborts it', async () => {
    const controller = new AbortController();
    const runs: string[] = [];
    const program = sagaOf(function* () {
      try {
        yield* step('a', () => controller.abort());
      } finally {
        runs.push('finally');
      }
      yield* step('b', () => void runs.push('b'));
      return 'done';
    });
    await expect(
      start(program, {}, undefined, { signal: controller.signal }),
    ).rejects.toBeInstanceOf(TurnAborted);
    expect(runs).toEqual([]);
  });

  it('[U4] aborts all running steps if one of them aborts it at its start', async () => {
    const controller = new AbortController();
    const polite = step(
      'polite',
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    );
    const program = sagaOf(function* () {
      yield* all([polite, step('aborts', () => controller.abort())]);
      return 'done';
    });
    await expect(
      start(program, {}, undefined, { signal: controller.signal }),
    ).rejects.toBeInstanceOf(TurnAborted);
  });

  it('[U4] accepts no answer that was parsed after the abort', async () => {
    const controller = new AbortController();
    const parsed = deferred();
    const world = new World();
    const form = z.object({ word: z.string() })['~standard'];
    const schema: Schema = {
      '~standard': { ...form, validate: (value) => parsed.promise.then(() => ({ value })) },
    };
    const program = sagaOf(function* () {
      yield* elicit('form', { message: 'm', schema });
      yield* progress(1);
      return 'done';
    });
    const { state } = suspended(await start(program));
    const answers = { form: accepted({ word: 'w' }) };
    const outcome = turn(program, state, answers, world, { signal: controller.signal }).catch(
      (error: unknown) => error,
    );
    await settle();
    controller.abort();
    parsed.resolve();
    expect(await outcome).toBeInstanceOf(TurnAborted);
    expect(world.told).toEqual([]);
    expect(world.events).toEqual([]);
  });

  it('[U4] does not run a step whose idempotency key arrives after the abort', async () => {
    const controller = new AbortController();
    const key = deferred<string>();
    const runs: string[] = [];
    const program = sagaOf(function* () {
      yield* step('a', () => void runs.push('a'));
      return 'done';
    });
    const outcome = start(program, {}, undefined, {
      signal: controller.signal,
      replace: { idempotencyKey: () => key.promise },
    }).catch((error: unknown) => error);
    await settle();
    controller.abort();
    key.resolve('key');
    expect(await outcome).toBeInstanceOf(TurnAborted);
    expect(runs).toEqual([]);
  });

  it('[U4] does not retry a step that failed because of the abort', async () => {
    const world = new World();
    const controller = new AbortController();
    let attempts = 0;
    const program = sagaOf(function* () {
      yield* step(
        'a',
        () => {
          attempts += 1;
          controller.abort();
          throw new Error('aborted');
        },
        { retry: 5 },
      );
      return 'done';
    });
    await expect(start(program, {}, world, { signal: controller.signal })).rejects.toBeInstanceOf(
      TurnAborted,
    );
    expect(attempts).toBe(1);
  });
});

describe('a saga on many instances', () => {
  it('[R1] continues from its state and the answers alone', async () => {
    const world = new World();
    const make = () =>
      sagaOf(function* () {
        let text = '';
        for (const id of ['a', 'b', 'c']) {
          const { word } = yield* ask('word', `${text}+${id}?`);
          text += yield* step('append', ({ input }) => `${input}${id}`, { input: word });
        }
        const settled = yield* allSettled([step('x', () => text.length)]);
        return `${text} ${JSON.stringify(settled)}`;
      });
    const { outcome, turns } = await drive({
      make,
      world,
      answer: ({ stepId }) => accepted({ word: stepId }),
    });
    expect(completed(outcome)).toBe('wordaword#2bword#3c [{"status":"fulfilled","value":19}]');
    expect(turns).toHaveLength(4);
  });
});
