import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  abort,
  all,
  each,
  elicit,
  poll,
  saga,
  sleep,
  StepError,
  step,
  type Saga,
  type Steps,
} from '../src/index.ts';
import type { ProgramState } from '../src/model/program-state.ts';
import { historyOf } from '../src/journal/read-history.ts';
import { keyInPath } from '../src/values/path.ts';
import { accepted, completed, drive, failed, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

/** Counts the steps that run, and notes the order in which they start. */
class Load {
  running = 0;
  most = 0;
  readonly started: string[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  async run(name: string): Promise<string> {
    this.started.push(name);
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    await this.#world.gate();
    this.running -= 1;
    return name;
  }
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, at) => at);
const pathsOf = (state: ProgramState): readonly string[] =>
  historyOf(state).entries.map(({ path }) => path);

/** A saga without a schema for its result. */
function sagaWith(body: () => Steps<unknown>): Saga<undefined, undefined> {
  return saga({ name: 'test', version: '1' }, body as () => Steps<string>);
}

/** Text of the error that a body throws at once. */
async function toldBy(body: () => Steps<unknown>): Promise<string> {
  return String(failed(await start(sagaWith(body))));
}

describe('each', () => {
  it('[U2] returns the results in the order of the items, whatever ends first', async () => {
    const world = new World();
    world.order = () => 0.99;
    const load = new Load(world);
    const outcome = await start(
      sagaOf(function* () {
        const done = yield* each(['a', 'b', 'c'], (id, at) => step('s', () => load.run(id + at)));
        return done.join();
      }),
      {},
      world,
    );
    expect(completed(outcome)).toBe('a0,b1,c2');
  });

  it('[U1] without items returns an empty list, and goes on', async () => {
    const outcome = await start(
      sagaOf(function* () {
        const none: readonly string[] = [];
        return String((yield* each(none, () => step('s', () => 1))).length);
      }),
    );
    expect(completed(outcome)).toBe('0');
  });

  it('[U1] runs at most ten steps at the same time by default, the first items first', async () => {
    const world = new World();
    const load = new Load(world);
    const outcome = await start(
      sagaOf(function* () {
        yield* each(numbers(25), function* (n) {
          yield* step('load', () => load.run(`load ${n}`));
          yield* step('send', () => load.run(`send ${n}`));
        });
        return 'done';
      }),
      {},
      world,
    );
    expect(completed(outcome)).toBe('done');
    expect(load.most).toBe(10);
    // The first item is sent before the eleventh is loaded.
    expect(load.started.indexOf('send 0')).toBeLessThan(load.started.indexOf('load 10'));
    expect(load.started).toHaveLength(50);
  });

  it.each([
    [1, 1],
    [3, 3],
    [Number.POSITIVE_INFINITY, 12],
  ])('[U1] with the limit %s runs at most %s of twelve steps at once', async (limit, most) => {
    const world = new World();
    const load = new Load(world);
    const program = sagaOf(function* () {
      yield* each(numbers(12), (n) => step('s', () => load.run(`${n}`)), { limit });
      return 'done';
    });
    expect(completed(await start(program, {}, world))).toBe('done');
    expect(load.most).toBe(most);
  });

  it('[U1] counts the steps of groups in its branches, and of the `each` around it', async () => {
    const world = new World();
    const [outer, inner] = [new Load(world), new Load(world)];
    const program = sagaOf(function* () {
      yield* each(
        ['a', 'b', 'c'],
        function* () {
          yield* all([
            step('one', () => outer.run('one')),
            each(numbers(4), (n) => step('two', () => inner.run(`${n}`)), { limit: 2 }),
          ]);
        },
        { limit: 3 },
      );
      return 'done';
    });
    const both = { most: 0 };
    const watch = setInterval(() => {
      both.most = Math.max(both.most, outer.running + inner.running);
    });
    const outcome = await start(program, {}, world);
    clearInterval(watch);
    expect(completed(outcome)).toBe('done');
    expect(both.most).toBeLessThanOrEqual(3);
    expect(inner.started).toHaveLength(12);
    expect(outer.started).toHaveLength(3);
  });

  it('[U1] asks the questions of all branches in one turn, whatever the limit', async () => {
    const world = new World();
    const load = new Load(world);
    const names = ['a', 'b', 'c', 'd'];
    const program = sagaOf(function* () {
      const words = yield* each(
        names,
        function* (name) {
          yield* step('load', () => load.run(name));
          const { word } = yield* ask('word');
          return yield* step('save', () => load.run(word));
        },
        { limit: 1 },
      );
      return words.join();
    });
    const first = suspended(await start(program, {}, world));
    expect(first.steps.map(({ stepId }) => stepId)).toEqual(
      names.map((name) => `each/(${name})/word`),
    );
    const answers = Object.fromEntries(
      first.steps.map(({ stepId }, at) => [stepId, accepted({ word: `w${at}` })]),
    );
    expect(completed(await turn(program, first.state, answers, world))).toBe('w0,w1,w2,w3');
    expect(load.most).toBe(1);
  });

  it('[U1] lets other branches go on while one waits, retries later, or polls', async () => {
    const world = new World();
    let attempts = 0;
    const done: string[] = [];
    const program = sagaOf(function* () {
      yield* each(
        ['sleeps', 'polls', 'retries', 'runs'],
        function* (name) {
          if (name === 'sleeps') yield* sleep('1h');
          if (name === 'polls')
            yield* poll('p', () => (done.length > 0 ? true : undefined), {
              every: '1h',
              timeout: '1d',
            });
          const run = (): void => {
            attempts += Number(name === 'retries');
            if (name === 'retries' && attempts < 2) throw new Error('later');
            done.push(name);
          };
          yield* step('s', run, { retry: { attempts: 2, delay: '1h', jitter: false } });
        },
        { limit: 1 },
      );
      return done.join();
    });
    const end = await drive({
      make: () => program,
      answer: () => undefined,
      world,
      settings: () => ({ budget: 1_000, maxHold: 0 }),
    });
    expect(completed(end.outcome)).toMatch(/^runs,/);
    expect(end.turns.length).toBeGreaterThan(1);
    expect(done.toSorted()).toEqual(['polls', 'retries', 'runs', 'sleeps']);
  });

  it('[U1] gives no slot to a poll, and one to a question that the host answers', async () => {
    const world = new World();
    const [polls, answers] = [new Load(world), new Load(world)];
    const program = sagaOf(function* () {
      yield* each(
        numbers(5),
        function* (n) {
          yield* poll('p', () => polls.run(`${n}`), { every: '1s', timeout: '1m' });
          const fallback = async (): Promise<{ word: string }> => ({
            word: await answers.run(`${n}`),
          });
          yield* elicit('q', { message: 'q?', schema: z.object({ word: z.string() }), fallback });
        },
        { limit: 2 },
      );
      return 'done';
    });
    const replace = { route: () => 'fallback' as const };
    expect(completed(await start(program, {}, world, { replace }))).toBe('done');
    expect([polls.most, answers.most]).toEqual([5, 2]);
  });

  it('[U3] aborts the other branches if one throws, starts none of the rest, and throws its error', async () => {
    const world = new World();
    const load = new Load(world);
    const program = sagaOf(function* () {
      try {
        yield* each(
          numbers(6),
          (n) =>
            step('s', async () => {
              await load.run(`${n}`);
              if (n === 1) throw new Error('one');
            }),
          { limit: 2 },
        );
      } catch (error) {
        return error instanceof StepError ? error.message : 'another error';
      }
      return 'done';
    });
    const outcome = await start(program, {}, world);
    expect(completed(outcome)).toBe('one');
    expect(load.started).toEqual(['0', '1', '2']);
    expect(outcome.status === 'completed' && outcome.state && pathsOf(outcome.state)).toEqual([
      'each/(0)/s',
      'each/(1)/s',
      'each/(3)/s',
      'each/(4)/s',
      'each/(5)/s',
      'each/(2)/s',
    ]);
    expect(
      outcome.status === 'completed' &&
        outcome.state &&
        completed(await turn(program, outcome.state)),
    ).toBe('one');
  });

  it('[U3] undoes the finished steps of all branches if the saga aborts', async () => {
    const undone: string[] = [];
    const program = sagaOf(
      function* () {
        yield* each(['a', 'b'], (id) =>
          step('s', () => id, { compensate: ({ result }) => void undone.push(result) }),
        );
        return yield* abort('no');
      },
      { reuse: 'ok' },
    );
    const outcome = await start(program);
    expect(outcome).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'each/(b)/s' }, { stepId: 'each/(a)/s' }],
    });
    expect(undone).toEqual(['b', 'a']);
  });
});

describe('the keys of each', () => {
  const listOf = (items: readonly { readonly id: string }[]): Saga<undefined, undefined> =>
    sagaOf(function* () {
      const words = yield* each(
        items,
        function* ({ id }) {
          const { word } = yield* ask('word');
          return `${id}=${word}`;
        },
        { key: ({ id }) => id },
      );
      return words.join();
    });

  it('[R3] give each item its own result after the list was reordered', async () => {
    const { state } = suspended(await start(listOf([{ id: 'a' }, { id: 'b' }])));
    const one = suspended(
      await turn(listOf([{ id: 'a' }, { id: 'b' }]), state, {
        'each/(a)/word': accepted({ word: 'for a' }),
      }),
    );
    const reordered = listOf([{ id: 'b' }, { id: 'a' }]);
    const outcome = await turn(reordered, one.state, {
      'each/(b)/word': accepted({ word: 'for b' }),
    });
    expect(completed(outcome)).toBe('b=for b,a=for a');
  });

  it('[R3] a list that lost a recorded item is a mismatch', async () => {
    const { state } = suspended(await start(listOf([{ id: 'a' }, { id: 'b' }])));
    const one = suspended(
      await turn(listOf([{ id: 'a' }, { id: 'b' }]), state, {
        'each/(a)/word': accepted({ word: 'for a' }),
      }),
    );
    const outcome = await turn(listOf([{ id: 'b' }]), one.state);
    expect(failed(outcome)).toMatchObject({ name: 'ReplayMismatch' });
  });

  it('[R3] tell a repeated list apart, and nested lists', async () => {
    const program = sagaOf(function* () {
      yield* each(['a', 'b'], () => step('s', () => 1, { key: 'k' }));
      yield* each(['a', 'a)/each/(x'], () => each(['x'], () => step('s', () => 1)));
      return 'done';
    });
    const outcome = await start(program);
    expect(completed(outcome)).toBe('done');
    const state = outcome.status === 'completed' ? outcome.state : undefined;
    expect(state && pathsOf(state)).toEqual([
      'each/(a)/s(k)',
      'each/(b)/s(k)',
      'each#2/(a)/each/(x)/s',
      'each#2/(a%29%2feach%2f%28x)/each/(x)/s',
    ]);
    expect(state?.structure).not.toContain('(a');
    expect(state && completed(await turn(program, state))).toBe('done');
  });

  it('[T15] stay out of the compressed structure of the token, except those of questions that the client saw', async () => {
    const program = sagaOf(function* () {
      yield* each(['secret'], () => step('s', () => 1));
      yield* each(['shown'], () => ask('word'));
      yield* ask('more');
      return 'done';
    });
    const first = suspended(await start(program));
    const next = suspended(
      await turn(program, first.state, { 'each#2/(shown)/word': accepted({ word: 'w' }) }),
    );
    expect(next.state.structure).not.toContain('secret');
    expect(next.state.structure).toContain('shown');
  });

  it.each([
    ['a)b/c(d#2%', 'each/(a%29b%2fc%28d%232%25)/'],
    ['order 7', 'each/(order 7)/'],
  ])('[R3] write %j so that no other key has its path', async (key, prefix) => {
    const program = sagaOf(function* () {
      yield* each([key], () => ask('word'));
      return 'done';
    });
    const { steps } = suspended(await start(program));
    expect(steps[0]?.stepId).toBe(`${prefix}word`);
  });

  it.each([
    ['charge', undefined],
    ['charge(k)#2', 'k'],
    ['charge(x/(y)/z)', 'x/(y)/z'],
    ['each/(a)/charge', undefined],
    ['each/(a)/charge(k)', 'k'],
    ['each/(a)/each#2/(b)/charge(c(d))#3', 'c(d)'],
  ])('[E1] leave the key of the step in %s', (path, key) => {
    expect(keyInPath(path)).toBe(key);
  });

  it('[U1] may be left out for strings and numbers', async () => {
    const program = sagaOf(function* () {
      yield* each([7, 8], () => ask('n'));
      return 'done';
    });
    expect(suspended(await start(program)).steps.map(({ stepId }) => stepId)).toEqual([
      'each/(7)/n',
      'each/(8)/n',
    ]);
  });

  it.each<[string, () => Steps<unknown>, RegExp]>([
    [
      'equal keys, by their positions only',
      function* () {
        yield* each(['x', 'secret', 'secret'], () => sleep(1));
      },
      /each: items 1 and 2 have the same key/,
    ],
    [
      'a key that is empty',
      function* () {
        yield* each(['x', ''], () => sleep(1));
      },
      /the key of item 1 must be a string of 1 to 256 characters/,
    ],
    [
      'items without a key',
      function* () {
        yield* each([{ id: 1 }], () => sleep(1), {} as never);
      },
      /the key of item 0 .*Set key: each\(items/,
    ],
    [
      'a limit of 0',
      function* () {
        yield* each(['x'], () => sleep(1), { limit: 0 });
      },
      /limit of each must be a whole number from 1, or Infinity/,
    ],
    [
      'an unknown option',
      function* () {
        yield* each(['x'], () => sleep(1), { limits: 2 } as never);
      },
      /limits/,
    ],
    [
      'a list that is none',
      function* () {
        yield* each({ length: 1 } as never as string[], () => sleep(1));
      },
      /each\(\) needs a list and a function/,
    ],
    [
      'a function that returns no branch',
      function* () {
        yield* each(['x'], () => 1 as never);
      },
      /what the function returns for item 0 is neither a command nor a helper/,
    ],
    [
      'a helper that is shared',
      function* () {
        const one = (function* (): Steps<void> {
          yield* sleep(1);
        })();
        yield* each(['x', 'y'], () => one);
      },
      /two branches share a helper/,
    ],
    [
      'that it was never yielded',
      // oxlint-disable-next-line require-yield -- the mistake
      function* () {
        // oxlint-disable-next-line @mcp-saga/require-yield-star -- the mistake
        each(['x'], () => step('s', () => 1));
        return 'done';
      },
      /created each\(…\), but never yielded it/,
    ],
  ])('[D1] refuse %s', async (_, body, message) => {
    const told = await toldBy(body);
    expect(told).toMatch(message);
    expect(told).not.toContain('secret');
  });
});

describe('a list of a thousand items', () => {
  it('[U1] runs in one turn, and its journal replays', async () => {
    const world = new World();
    const load = new Load(world);
    const program = sagaOf(function* () {
      const done = yield* each(numbers(1_000), (n) => step('s', () => load.run(`${n}`)), {
        limit: 10,
      });
      const { word } = yield* ask('more');
      return `${word} ${done.length} ${done[999]}`;
    });
    const { state } = suspended(await start(program, {}, world));
    expect(load.most).toBe(10);
    expect(load.started).toHaveLength(1_000);
    const outcome = await turn(program, state, { more: accepted({ word: 'all' }) });
    expect(completed(outcome)).toBe('all 1000 999');
  });

  it('[U4] goes on in the next turn where the budget of one ended, with the first items', async () => {
    const load: string[] = [];
    const world = new World();
    const program = sagaOf(function* () {
      const run = async (name: string): Promise<void> => {
        load.push(name);
        await world.sleep(1);
      };
      yield* each(
        numbers(100),
        function* (n) {
          yield* step('load', () => run(`load ${n}`));
          yield* step('send', () => run(`send ${n}`));
        },
        { limit: 5 },
      );
      return 'done';
    });
    const { turns, outcome } = await drive({
      make: () => program,
      answer: () => undefined,
      world,
      settings: () => ({ budget: 10 }),
    });
    expect(completed(outcome)).toBe('done');
    expect(turns.length).toBeGreaterThan(3);
    expect(new Set(load).size).toBe(200);
    expect(load).toHaveLength(200);
    const [first] = turns;
    if (first?.outcome.status !== 'suspended') throw new Error('not suspended');
    // Nobody loads an item while an earlier one waits to be sent.
    for (let at = 0; at < 90; at += 1)
      expect(load.indexOf(`send ${at}`)).toBeLessThan(load.indexOf(`load ${at + 10}`));
  });
});
