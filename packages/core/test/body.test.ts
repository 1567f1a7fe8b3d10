import { engineOf } from '@mcp-saga/core/program';
/* oxlint-disable unicorn/consistent-function-scoping -- a saga stands in the test that it is for */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  call,
  checkpoint,
  elicit,
  elicitUrl,
  listRoots,
  now,
  progress,
  random,
  saga,
  SagaLimitExceeded,
  sample,
  scope,
  step,
} from '../src/index.ts';
import type { Program } from '../src/model/program.ts';
import { AuthoringError } from '../src/values/errors.ts';
import type { Steps } from '../src/model/command.ts';
import { accepted, completed, drive, failed, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const word = accepted({ word: 'w' });
const one = (): number => 1;

/** The paths of all steps that a body runs. */
async function pathsOf(body: () => Steps<unknown>): Promise<string[]> {
  const program = sagaOf(function* () {
    yield* body();
    yield* ask('END');
    return 'done';
  });
  const { state } = suspended(await start(program));
  return engineOf(program)
    .timeline(state)
    .slice(1)
    .map(({ path }) => path);
}

describe('IDs', () => {
  it('are unchanged at first, and numbered from the second use on, whatever the kind', async () => {
    expect(
      await pathsOf(function* () {
        yield* step('a', one);
        yield* step('a', one);
        yield* random();
        yield* step('random', one);
        yield* random();
        yield* now();
        yield* step('now', one);
        yield* step('a', one);
      }),
    ).toEqual(['a', 'a#2', 'random', 'random#2', 'random#3', 'now', 'now#2', 'a#3']);
  });

  it('follow the keys of `all`, the IDs of scopes, and the names of called sagas', async () => {
    const child = saga({ name: 'child', version: '1' }, function* () {
      return `${yield* step('a', one)}`;
    });
    const helper = function* (): Steps<void> {
      yield* step('a', one);
      yield* step('a', one);
    };
    expect(
      await pathsOf(function* () {
        yield* helper();
        yield* all({ x: helper(), y: step('a', one) });
        yield* all([helper()]);
        yield* scope('s', helper());
        yield* scope('s', step('a', one));
        yield* call(child, undefined);
        yield* call(child, undefined);
        yield* scope('s', scope('s', all({ s: helper() })));
      }),
    ).toEqual([
      'a',
      'a#2',
      'x/a',
      'a#3',
      'x/a#2',
      '0/a',
      '0/a#2',
      's/a',
      's/a#2',
      's#2/a',
      'child',
      'child/a',
      'child#2',
      'child#2/a',
      's#3/s/s/a',
      's#3/s/s/a#2',
    ]);
  });

  it('of commands in `all` are numbered in the order of the branches, however they end', async () => {
    const world = new World();
    world.order = () => 0.99;
    const program = sagaOf(function* () {
      const results = yield* all({
        c: step('s', async ({ idempotencyKey }) => {
          await world.gate();
          return idempotencyKey;
        }),
        b: step('s', ({ idempotencyKey }) => idempotencyKey),
        a: step('s', async ({ idempotencyKey }) => {
          await world.gate();
          return idempotencyKey;
        }),
      });
      return JSON.stringify(results);
    });
    expect(completed(await start(program, {}, world))).toBe(
      '{"c":"do:s","b":"do:s#2","a":"do:s#3"}',
    );
  });

  const bad = [
    '',
    '1a',
    'a b',
    'a/b',
    'a#2',
    'a(b)',
    'ä',
    'x'.repeat(65),
    '-a',
    '.a',
    'a\n',
    5,
    undefined,
    null,
  ];
  it.each(bad)('are refused with an AuthoringError: %j', async (value) => {
    const id = value as string;
    const makes: (() => unknown)[] = [
      () => step(id, one),
      () => ask(id),
      () => elicit.outcome(id, { message: 'm', schema: z.object({}) }),
      () => elicitUrl(id, { message: 'm', url: 'https://a.example' }),
      () => sample(id, { messages: [], maxTokens: 1 }),
      () => listRoots(id),
      () => scope(id, step('a', one)),
      ...(typeof value === 'string' && value !== '1a' ? [() => all({ [id]: step('a', one) })] : []),
    ];
    for (const make of makes)
      expect(make).toThrow(expect.objectContaining({ code: 'authoring_error' }));
  });

  it('of commands are checked together with their options', () => {
    const makes: (() => unknown)[] = [
      () => step('a', 5 as never),
      () => step('a', one, { input: new Date() as never }),
      () => step('a', one, { input: { x: undefined } as never }),
      () => elicit('a', { message: 5 as never, schema: z.object({}) }),
      () => elicit('a', { message: 'm', schema: {} as never }),
      () => elicit('a', { message: 'm', schema: undefined as never }),
      () => elicitUrl('a', { message: 'm', url: 'not a url' }),
      () => sample('a', { messages: 5 as never, maxTokens: 1 }),
      () => sample('a', { messages: [], maxTokens: 1.5 }),
      () =>
        saga({ name: '', version: '1' }, function* () {
          yield* checkpoint();
          return 'x';
        }),
      () =>
        saga({ name: 'x'.repeat(129), version: '1' }, function* () {
          yield* checkpoint();
          return 'x';
        }),
      () =>
        saga({ name: 'x', version: '' }, function* () {
          yield* checkpoint();
          return 'x';
        }),
      () => saga({ name: 'x', version: '1' }, undefined as never),
      () =>
        call(
          saga({ name: 'no id', version: '1' }, function* () {
            yield* checkpoint();
            return 'x';
          }),
          undefined,
        ),
    ];
    for (const make of makes) expect(make).toThrow(AuthoringError);
  });
});

describe('a body that yields a foreign value', () => {
  const junk: [string, () => unknown, RegExp][] = [
    ['a promise', () => Promise.resolve(1), /yielded a promise\..*yield\* step\('id', async/],
    [
      'a helper without yield*',
      () => helper(),
      /yielded a generator \(write yield\* before the helper\)/,
    ],
    ['undefined', () => undefined, /yielded undefined\./],
    ['null', () => null, /yielded null\./],
    ['a number', () => 5, /yielded a value of type number/],
    ['an array', () => [one], /yielded an array \(write yield\* all\(/],
    ['an object', () => ({}), /yielded a value of type object\./],
    ['a function', () => one, /yielded a function \(call the helper: yield\* helper/],
  ];
  function* helper(): Steps<void> {
    yield* step('a', one);
  }

  it.each(junk)('fails with an AuthoringError at the yield: %s', async (_, make, message) => {
    const program = sagaOf(function* () {
      yield make() as never;
      return 'never';
    });
    const error = failed(await start(program));
    expect(error).toMatchObject({ code: 'authoring_error' });
    expect((error as Error).message).toMatch(message);
  });

  it.each(junk)('may catch the error and continue, also on replay: %s', async (_, make) => {
    const fresh = (): Program =>
      sagaOf(function* () {
        let caught = '';
        try {
          yield make() as never;
        } catch (error) {
          caught = (error as Error).name;
        }
        yield* step('after', one);
        yield* ask('end');
        return caught;
      });
    const { state } = suspended(await start(fresh()));
    expect(completed(await turn(fresh(), state, { end: word }))).toBe('AuthoringError');
  });

  it('runs a command that is yielded with plain `yield`', async () => {
    const program = sagaOf(function* () {
      const result = yield step('a', () => 'plain');
      const [both] = (yield all([step('b', () => 'b')])) as [string];
      return `${String(result)} ${both}`;
    });
    expect(completed(await start(program))).toBe('plain b');
  });

  it('runs a command each time it is yielded', async () => {
    const program = sagaOf(function* () {
      const again = step('a', ({ idempotencyKey }) => idempotencyKey);
      return [yield* again, yield* again, ...(yield* all([again, again]))].join();
    });
    expect(completed(await start(program))).toBe('do:a,do:a#2,do:a#3,do:a#4');
  });
});

describe('a body that is not a generator', () => {
  it.each<[string, unknown]>([
    ['a function', () => 'x'],
    ['a function that gives a promise', () => Promise.resolve('x')],
    ['a function that gives an async generator', () => (async function* () {})()],
    ['a function that gives nothing', () => undefined],
    ['a function that gives a list', () => []],
  ])('fails with an AuthoringError that explains the fix: %s', async (_, body) => {
    const error = failed(await start(sagaOf(body as never)));
    expect(error).toMatchObject({ code: 'authoring_error' });
    expect((error as Error).message).toBe(
      "The body of saga 'test' is not a generator function. Write: saga({…}, function* (input) { … }).\n" +
        'See docs/reference/errors.md#bodies',
    );
  });

  it('may be a function that returns a generator', async () => {
    const helper = function* (): Steps<string> {
      return yield* step('a', () => 'x');
    };
    expect(completed(await start(sagaOf(() => helper())))).toBe('x');
  });

  it('fails with an error thrown before the first step', async () => {
    const program = sagaOf(() => {
      throw new RangeError('too early');
    });
    expect(failed(await start(program))).toEqual(new RangeError('too early'));
  });
});

describe('the limits of a turn', () => {
  const steps = (count: number): Program =>
    sagaOf(function* () {
      for (let index = 0; index < count; index += 1) yield* step('s', one);
      return 'done';
    });

  it('[T11] allow maxJournalEntries entries, and not one more', async () => {
    const limits = { maxJournalEntries: 5 };
    expect(completed(await start(steps(5), {}, undefined, { limits }))).toBe('done');
    const error = failed(await start(steps(6), {}, undefined, { limits }));
    expect(error).toBeInstanceOf(SagaLimitExceeded);
    expect(error).toMatchObject({ code: 'limit_exceeded', public: false });
  });

  it('[T11] count the journal entries of all turns', async () => {
    const make = (): Program =>
      sagaOf(function* () {
        for (let index = 0; index < 4; index += 1) yield* checkpoint();
        yield* now();
        return 'done';
      });
    const settings = (maxJournalEntries: number) => () => ({ limits: { maxJournalEntries } });
    const world = new World();
    const base = { make, world, answer: () => undefined };
    expect(completed((await drive({ ...base, settings: settings(5) })).outcome)).toBe('done');
    expect(failed((await drive({ ...base, settings: settings(4) })).outcome)).toBeInstanceOf(
      SagaLimitExceeded,
    );
  });

  it('[T11] allow maxCommands commands in a turn, replayed ones included', async () => {
    const make = (): Program =>
      sagaOf(function* () {
        yield* step('a', one);
        yield* progress(1);
        yield* ask('go');
        yield* all([step('b', one), step('c', one)]);
        return 'done';
      });
    const { state } = suspended(await start(make(), {}, undefined, { limits: { maxCommands: 3 } }));
    const go = { go: word };
    expect(
      completed(await turn(make(), state, go, undefined, { limits: { maxCommands: 6 } })),
    ).toBe('done');
    const error = failed(await turn(make(), state, go, undefined, { limits: { maxCommands: 5 } }));
    expect(error).toBeInstanceOf(SagaLimitExceeded);
    expect((error as Error).message).toContain('more than 5 commands');
  });

  it('[T11] stop an endless loop, even one that catches every error', async () => {
    const program = sagaOf(function* () {
      for (;;) {
        try {
          yield 5 as never;
        } catch {
          // continues
        }
      }
    });
    expect(failed(await start(program))).toBeInstanceOf(SagaLimitExceeded);
  });

  it('[T11] await running steps when exceeded', async () => {
    const world = new World();
    let ended = false;
    const program = sagaOf(function* () {
      yield* all([
        step('long', async () => {
          await world.gate();
          ended = true;
        }),
        loop(),
      ]);
      return 'never';
    });
    function* loop(): Steps<never> {
      yield* step('once', one);
      for (;;) yield* progress(0);
    }
    expect(failed(await start(program, {}, world))).toBeInstanceOf(SagaLimitExceeded);
    expect(ended).toBe(true);
  });
});
