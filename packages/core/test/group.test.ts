import { engineOf } from '@mcp-saga/core/program';
/* oxlint-disable unicorn/consistent-function-scoping -- a saga stands in the test that it is for */
import { describe, expect, it } from 'vitest';
import {
  all,
  allSettled,
  call,
  checkpoint,
  now,
  saga,
  scope,
  step,
  StepError,
} from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Program } from '../src/model/program.ts';
import { deferred, settle } from './support/deferred.ts';
import {
  accepted,
  completed,
  failed,
  refused,
  start,
  suspended,
  turn,
  type Suspended,
} from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

const word = accepted({ word: 'w' });

function lines(program: Program, { state }: Suspended): string[] {
  return engineOf(program)
    .timeline(state)
    .slice(1)
    .map(({ path, outcome }) => `${path} ${outcome}`);
}

/**
 * Ends with a question, so that what the body noted can be compared with a replay of it on a fresh
 * instance.
 */
async function twice(
  body: (note: (text: string) => void, world: World) => Steps<void>,
  before: (first: Suspended, make: () => Program, world: World) => Promise<Suspended> = (first) =>
    Promise.resolve(first),
  settings?: TurnSettings,
): Promise<{ first: string[]; replayed: string[]; lines: string[] }> {
  const world = new World();
  const runs: string[][] = [];
  const make = (): Program =>
    sagaOf(function* () {
      const notes: string[] = [];
      runs.push(notes);
      yield* body((text) => void notes.push(text), world);
      yield* ask('end');
      return 'done';
    });
  const last = await before(suspended(await start(make(), {}, world, settings)), make, world);
  expect(last.steps.map(({ stepId }) => stepId)).toEqual(['end']);
  const first = [...(runs.at(-1) as string[])];
  expect(completed(await turn(make(), last.state, { end: word }, world))).toBe('done');
  return { first, replayed: runs.at(-1) as string[], lines: lines(make(), last) };
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

describe('all', () => {
  it('returns results in the given shape, in whatever order the branches end', async () => {
    const results: unknown[] = [];
    const gates = [deferred(), deferred()];
    const program = sagaOf(function* () {
      const work = (index: 0 | 1): Command<number> =>
        step('work', async () => {
          await gates[index]?.promise;
          return index;
        });
      results.push(yield* all([work(0), work(1)]));
      results.push(yield* all({ b: step('b', () => 'b'), a: step('a', () => 'a') }));
      results.push(yield* all([]));
      results.push(yield* all({}));
      results.push(yield* all([all([]), allSettled({})]));
      return 'done';
    });
    const run = start(program);
    await settle();
    gates[1]?.resolve();
    await settle();
    gates[0]?.resolve();
    completed(await run);
    expect(results).toEqual([[0, 1], { b: 'b', a: 'a' }, [], {}, [[], {}]]);
    expect(Object.keys(results[1] as object)).toEqual(['b', 'a']);
  });

  it('keeps a branch named __proto__ as an own key', async () => {
    const program = sagaOf(function* () {
      const result = yield* all({ ['__proto__']: step('a', () => 1), b: step('b', () => 2) });
      return JSON.stringify([
        Object.keys(result),
        Object.getPrototypeOf(result) === Object.prototype,
      ]);
    });
    expect(completed(await start(program))).toBe('[["__proto__","b"],true]');
  });

  it('[U3] aborts the siblings of the first failing branch, awaits and records them, then throws', async () => {
    const world = new World();
    const notes: string[] = [];
    const program = sagaOf(function* () {
      try {
        yield* all({
          failing: step('failing', async () => {
            await world.sleep(10);
            throw new Error('first');
          }),
          polite: step('polite', async ({ signal }) => {
            await world.sleep(1_000_000, signal);
            notes.push(`polite aborted ${signal.aborted}`);
            throw new Error('second');
          }),
          deaf: step('deaf', async ({ signal }) => {
            await world.sleep(500);
            notes.push(`deaf aborted ${signal.aborted}`);
            return 'late';
          }),
        });
      } catch (error) {
        notes.push(`caught ${nameOf(error)}`);
      }
      yield* ask('end');
      return 'done';
    });
    const first = suspended(await start(program, {}, world));
    expect(notes).toEqual(['polite aborted true', 'deaf aborted true', 'caught first']);
    expect(lines(program, first)).toEqual([
      'failing failed',
      'polite failed, outcome unknown',
      'deaf done',
    ]);
    expect(world.time).toBe(1_500);
    notes.length = 0;
    expect(completed(await turn(program, first.state, { end: word }, world))).toBe('done');
    expect(notes).toEqual(['caught first']);
  });

  it('[U3] throws only the first error if siblings fail while they end', async () => {
    const result = await twice(function* (note) {
      const failing = function* (id: string): Steps<void> {
        try {
          yield* step(id, () => {
            throw new Error(id);
          });
        } finally {
          note(`finally ${id}`);
        }
      };
      try {
        yield* all([failing('a'), failing('b'), failing('c')]);
      } catch (error) {
        note(`caught ${nameOf(error)}`);
      }
    });
    expect(result.first).toEqual(['finally a', 'finally b', 'finally c', 'caught a']);
    expect(result.replayed).toEqual(result.first);
  });

  it('[U3] throws the first error, whatever siblings throw or return in their finally', async () => {
    const result = await twice(function* (note) {
      const throwing = function* (): Steps<string> {
        try {
          yield* ask('never');
        } finally {
          note('finally throws');
          // oxlint-disable-next-line no-unsafe-finally -- that is what is tested
          throw new Error('from finally');
        }
      };
      const returning = function* (): Steps<string> {
        try {
          yield* ask('never');
        } finally {
          // oxlint-disable-next-line no-unsafe-finally -- that is what is tested
          return 'from finally';
        }
      };
      const failing = (): Command<string> =>
        step('failing', () => {
          throw new Error('first');
        });
      try {
        yield* all({ a: throwing(), b: returning(), c: failing() });
      } catch (error) {
        note(`caught ${nameOf(error)}`);
      }
      const settled = yield* allSettled([all({ a: throwing(), b: returning(), c: failing() })]);
      note(settled[0].status === 'rejected' ? nameOf(settled[0].reason) : 'fulfilled');
    });
    expect(result.first).toEqual(['finally throws', 'caught first', 'finally throws', 'first']);
    expect(result.replayed).toEqual(result.first);
  });

  it('[U3] fails at once if a branch throws before its first step, and withdraws commands of siblings', async () => {
    const runs: string[] = [];
    const result = await twice(function* (note) {
      const issuing = function* (): Steps<void> {
        try {
          yield* step('issued', () => void runs.push('issued'));
        } finally {
          note('finally');
        }
      };
      // oxlint-disable-next-line require-yield
      const throwing = function* (): Steps<void> {
        throw new Error('at once');
      };
      const unstarted = function* (): Steps<void> {
        note('started');
        yield* step('never', () => void runs.push('never'));
      };
      try {
        yield* all({ a: issuing(), b: throwing(), c: unstarted() });
      } catch (error) {
        note(`caught ${nameOf(error)}`);
      }
    });
    expect(runs).toEqual([]);
    expect(result.first).toEqual(['finally', 'caught at once']);
    expect(result.replayed).toEqual(result.first);
    expect(result.lines).toEqual(['a/issued withdrawn']);
  });

  it('[U3] ends nested groups from the outside in, and waits for all of them', async () => {
    const result = await twice(function* (note, world) {
      const inner = function* (id: string): Steps<void> {
        try {
          yield* all([
            step('long', ({ signal }) => world.sleep(1_000_000, signal)),
            scope(
              'deep',
              all({
                x: ask('asked'),
                y: step('other', ({ signal }) => world.sleep(2_000_000, signal)),
              }),
            ),
          ]);
          note(`never ${id}`);
        } catch {
          note(`never caught ${id}`);
        } finally {
          note(`finally ${id}`);
        }
      };
      try {
        yield* all({
          a: inner('a'),
          b: inner('b'),
          c: step('failing', async () => {
            await world.sleep(5);
            throw new Error('boom');
          }),
        });
      } catch (error) {
        note(`caught ${nameOf(error)}`);
      }
    });
    expect(result.first).toEqual(['finally a', 'finally b', 'caught boom']);
    expect(result.replayed).toEqual(result.first);
  });

  it('[U3] runs server steps in the finally of a sibling before it throws', async () => {
    const runs: string[] = [];
    const result = await twice(function* (note) {
      const cleaning = function* (id: string): Steps<void> {
        try {
          yield* ask('never');
        } finally {
          const cleaned = yield* step('clean', () => {
            runs.push(id);
            return `cleaned ${id}`;
          });
          note(cleaned);
        }
      };
      try {
        yield* all({
          a: cleaning('a'),
          b: cleaning('b'),
          c: step('failing', () => {
            throw new Error('boom');
          }),
        });
      } catch (error) {
        note(`caught ${nameOf(error)}`);
      }
    });
    expect(runs).toEqual(['a', 'b']);
    expect(result.first).toEqual(['cleaned a', 'cleaned b', 'caught boom']);
    expect(result.replayed).toEqual(result.first);
  });

  it('[U3] continues in a finally after a group, a scope, and a call in the finally', async () => {
    const other = saga({ name: 'other', version: '1' }, function* () {
      return yield* step('called', () => 'called');
    });
    const result = await twice(function* (note) {
      const cleaning = function* (): Steps<void> {
        try {
          yield* ask('never');
        } finally {
          note((yield* all([step('a', () => 'x'), step('b', () => 'y')])).join());
          note(
            yield* scope(
              'inside',
              step('scoped', () => 'scoped'),
            ),
          );
          note(JSON.stringify(yield* call(other, undefined)));
          try {
            yield* all([
              step('bad', () => {
                throw new Error('inner');
              }),
            ]);
          } catch (error) {
            note(`caught ${nameOf(error)}`);
          }
          yield* step('last', () => note('last'));
        }
      };
      try {
        yield* all({
          a: cleaning(),
          b: step('failing', () => {
            throw new Error('boom');
          }),
        });
      } catch (error) {
        note(`caught ${nameOf(error)}`);
      }
    });
    expect(result.first).toEqual([
      'x,y',
      'scoped',
      '"called"',
      'caught inner',
      'last',
      'caught boom',
    ]);
    expect(result.replayed).toEqual(result.first.filter((note) => note !== 'last'));
  });

  it('[U3] asks the client nothing in the finally of a sibling, however deep', async () => {
    const result = await twice(function* (note) {
      const cleaning = function* (): Steps<void> {
        try {
          yield* ask('never');
        } finally {
          for (const question of [
            () => ask('q'),
            () => scope('s', ask('q')),
            () => all([ask('q')]),
            checkpoint,
          ]) {
            try {
              yield* question();
            } catch (error) {
              note(nameOf(error));
            }
          }
        }
      };
      try {
        yield* all({
          a: cleaning(),
          b: step('failing', () => {
            throw new Error('boom');
          }),
        });
      } catch {
        note('caught');
      }
    });
    const refusal = expect.stringMatching(/^'q' cannot be asked while its branch is ended/);
    expect(result.first).toEqual([
      refusal,
      refusal,
      refusal,
      expect.stringMatching(/^'checkpoint' cannot be asked while its branch is ended/),
      'caught',
    ]);
    expect(result.replayed).toEqual(result.first);
  });

  it('[U3] abandons a sibling with an endless finally', async () => {
    let commands = 0;
    const program = sagaOf(function* () {
      const stubborn = function* (): Steps<void> {
        try {
          yield* ask('never');
        } finally {
          for (;;) {
            commands += 1;
            yield* step('more', () => 1);
          }
        }
      };
      try {
        yield* all({
          a: stubborn(),
          b: step('failing', () => {
            throw new Error('boom');
          }),
        });
      } catch (error) {
        return nameOf(error);
      }
      return 'never';
    });
    expect(completed(await start(program))).toBe('boom');
    expect(commands).toBeLessThan(200);
  });

  it('[U3] withdraws a sibling that waits for its next attempt', async () => {
    const result = await twice(
      function* (note) {
        const waiting = function* (): Steps<void> {
          try {
            yield* step(
              'flaky',
              () => {
                throw new Error('down');
              },
              { retry: { attempts: 3, delay: 100_000 } },
            );
          } finally {
            note('finally a');
          }
        };
        const asking = function* (id: string): Steps<void> {
          try {
            yield* ask('question');
          } finally {
            note(`finally ${id} ${(yield* now()) > 0}`);
          }
        };
        try {
          yield* all({ a: waiting(), b: asking('b'), c: asking('c') });
        } catch (error) {
          note(`caught ${nameOf(error)}`);
        }
      },
      async (first, make, world) => {
        expect(first.steps.map(({ stepId }) => stepId)).toEqual(['b/question', 'c/question']);
        return suspended(await turn(make(), first.state, { 'b/question': refused() }, world));
      },
      { budget: 1_000 },
    );
    expect(result.first).toEqual([
      'finally b true',
      'finally a',
      'finally c true',
      "caught The user declined the question 'b/question'.",
    ]);
    expect(result.replayed).toEqual(result.first);
    expect(result.lines).toEqual([
      'a/flaky to be tried again',
      'b/question declined',
      'b/now read',
      'a/flaky withdrawn',
      'c/now read',
    ]);
  });

  it('[U3] does not retry a branch if its sibling fails at the same time', async () => {
    const both = deferred();
    const world = new World();
    const notes: string[] = [];
    const make = (): Program =>
      sagaOf(function* () {
        try {
          yield* all([
            step('failing', async () => {
              await both.promise;
              throw new Error('boom');
            }),
            step(
              'flaky',
              async () => {
                await both.promise;
                throw new Error('down');
              },
              { retry: { attempts: 3, delay: 100_000 } },
            ),
          ]);
        } catch (error) {
          notes.push(`caught ${nameOf(error)}`);
        }
        yield* ask('end');
        return 'done';
      });
    const run = start(make(), {}, world, { budget: 1_000 });
    await settle();
    both.resolve();
    const first = suspended(await run);
    expect(first.steps.map(({ stepId }) => stepId)).toEqual(['end']);
    expect(lines(make(), first)).toEqual([
      'failing failed',
      'flaky to be tried again',
      'flaky withdrawn',
    ]);
    expect(completed(await turn(make(), first.state, { end: word }, world))).toBe('done');
    expect(notes).toEqual(['caught boom', 'caught boom']);
  });

  it('[U3] does not run a sibling step whose idempotency key arrives after the failure', async () => {
    const late = deferred<string>();
    const runs: string[] = [];
    const make = (): Program =>
      sagaOf(function* () {
        try {
          yield* all([
            step('failing', () => {
              throw new Error('boom');
            }),
            step('late', () => void runs.push('late')),
          ]);
        } catch (error) {
          runs.push(nameOf(error));
        }
        yield* ask('end');
        return 'done';
      });
    const run = start(make(), {}, new World(), {
      replace: { idempotencyKey: (path) => (path === 'late' ? late.promise : path) },
    });
    await settle();
    late.resolve('key');
    const { state } = suspended(await run);
    expect(runs).toEqual(['boom']);
    expect(completed(await turn(make(), state, { end: word }))).toBe('done');
    expect(runs).toEqual(['boom', 'boom']);
  });

  it('[U3] records the finished steps of a sibling that ends between two steps', async () => {
    const gates = { a: deferred(), b: deferred() };
    const runs: string[] = [];
    const make = (): Program =>
      sagaOf(function* () {
        const branch = function* (): Steps<void> {
          yield* step('first', () => gates.b.promise);
          yield* step('second', () => void runs.push('second'));
        };
        const outcome = yield* allSettled({
          group: all({
            failing: step('failing', () => gates.a.promise),
            working: branch(),
          }),
        });
        yield* ask('end');
        return outcome.group.status;
      });
    const run = start(make());
    await settle();
    gates.a.reject(new Error('boom'));
    gates.b.resolve();
    const first = suspended(await run);
    expect(lines(make(), first)).toEqual(['group/failing failed', 'group/working/first done']);
    expect(runs).toEqual([]);
    expect(completed(await turn(make(), first.state, { end: word }))).toBe('rejected');
  });

  it('[U3] a nested group may fail alone if its error is caught', async () => {
    const result = await twice(function* (note) {
      const inner = function* (): Steps<string> {
        try {
          yield* all([
            step('bad', () => {
              throw new Error('inner');
            }),
            ask('never'),
          ]);
        } catch (error) {
          note(nameOf(error));
        }
        return yield* step('after', () => 'after');
      };
      note(JSON.stringify(yield* all({ a: inner(), b: step('fine', () => 'fine') })));
    });
    expect(result.first).toEqual(['inner', '{"a":"after","b":"fine"}']);
    expect(result.replayed).toEqual(result.first);
  });

  it('[U3] ignores the answer to a question that an earlier answer of the same turn withdrew', async () => {
    const program = sagaOf(function* () {
      try {
        yield* all([ask('a'), ask('b')]);
      } catch {
        return 'refused';
      }
      return 'never';
    });
    const { state } = suspended(await start(program));
    const outcome = await turn(program, state, { b: word, a: refused() });
    expect(completed(outcome)).toBe('refused');
    expect(outcome.ignored).toEqual([{ stepId: 'b', why: 'unknown' }]);
  });

  it('[R3] refuses one helper in two branches, and accepts one command in two', async () => {
    const helper = function* (): Steps<number> {
      return yield* step('x', () => 1);
    };
    const program = sagaOf(function* () {
      const called = helper();
      const command = step('y', () => 2);
      try {
        yield* all([called, called]);
      } catch (error) {
        const [message] = nameOf(error).split('\n');
        return `${message} ${(yield* all([command, command])).join()}`;
      }
      return 'never';
    });
    expect(completed(await start(program))).toBe(
      'all: two branches share a helper. Call the helper once for each branch. 2,2',
    );
  });

  it('refuses branches that are neither commands nor called helpers', async () => {
    const helper = function* (): Steps<number> {
      return yield* step('x', () => 1);
    };
    // oxlint-disable-next-line require-yield
    const asynchronous = async function* (): AsyncGenerator<never, void> {};
    const bad: unknown[] = [
      helper,
      Promise.resolve(1),
      5,
      null,
      undefined,
      asynchronous(),
      { next: () => 1 },
    ];
    const program = sagaOf(function* () {
      const messages = new Set<string>();
      for (const branch of bad) {
        for (const make of [
          () => all({ a: branch } as never),
          () => allSettled([branch] as never),
          () => scope('a', branch as never),
        ]) {
          try {
            yield* make();
          } catch (error) {
            messages.add(`${(error as Error).name} ${nameOf(error).split('\n')[0]}`);
          }
        }
      }
      return [...messages].join('\n');
    });
    expect(completed(await start(program))).toBe(
      [
        "AuthoringError all: branch 'a' is neither a command nor a helper that was called.",
        "AuthoringError allSettled: branch '0' is neither a command nor a helper that was called.",
        "AuthoringError scope('a') is neither a command nor a helper that was called.",
      ]
        .map((said) => `${said} Write step('id', async () => …), or helper(…), without yield*.`)
        .join('\n'),
    );
  });
});

describe('allSettled', () => {
  it('returns how each branch ended, and ends none of them', async () => {
    const result = await twice(function* (note) {
      const settled = yield* allSettled({
        good: step('good', () => 1),
        bad: step('bad', () => {
          throw Object.assign(new Error('boom'), { code: 'E_BAD' });
        }),
      });
      note(settled.good.status);
      note(
        settled.bad.status === 'rejected' && settled.bad.reason instanceof StepError
          ? String(settled.bad.reason.code)
          : 'no error',
      );
    });
    expect(result.first).toEqual(['fulfilled', 'E_BAD']);
    expect(result.replayed).toEqual(result.first);
  });
});

describe('call', () => {
  it('throws early errors of a called body into the caller, and rejects a body that is not a generator', async () => {
    const destructuring = saga({ name: 'destructuring', version: '1' }, (({ a }: { a: never }) =>
      inner(a)) as never);
    const inner = function* ({ b }: { b: string }): Steps<string> {
      return yield* step('b', () => b);
    };
    const plain = saga({ name: 'plain', version: '1' }, (() => 'x') as never);
    const asynchronous = saga({ name: 'asynchronous', version: '1' }, (() =>
      (async function* () {})()) as never);
    const throwing = saga({ name: 'throwing', version: '1' }, () => {
      throw new Error('too early');
    });
    const result = await twice(function* (note) {
      for (const other of [destructuring, plain, asynchronous, throwing]) {
        try {
          yield* call(other, undefined);
        } catch (error) {
          note(nameOf(error));
        }
      }
    });
    expect(result.first).toEqual([
      expect.stringContaining('undefined'),
      expect.stringContaining("body of saga 'plain' is not a generator function"),
      expect.stringContaining("body of saga 'asynchronous' is not a generator function"),
      'too early',
    ]);
    expect(result.replayed).toEqual(result.first);
  });
  it('throws the failure of a called saga into its caller', async () => {
    const other = saga({ name: 'other', version: '1' }, function* () {
      yield* step('fine', () => 1);
      yield* ask('question');
      return yield* step('bad', (): string => {
        throw new Error('boom');
      });
    });
    const world = new World();
    const program = sagaOf(function* () {
      try {
        return JSON.stringify(yield* call(other, undefined));
      } catch (error) {
        return `${(error as StepError).stepId}: ${nameOf(error)}`;
      }
    });
    const { state, steps } = suspended(await start(program, {}, world));
    expect(steps.map(({ stepId }) => stepId)).toEqual(['other/question']);
    expect(completed(await turn(program, state, { 'other/question': word }, world))).toBe(
      'other/bad: boom',
    );
    expect(
      failed(
        await start(
          sagaOf(function* () {
            return JSON.stringify(yield* call(plainThrow, undefined));
          }),
        ),
      ),
    ).toEqual(new Error('own'));
  });
});

// oxlint-disable-next-line require-yield
const plainThrow = saga({ name: 'own', version: '1' }, function* () {
  throw new Error('own');
});
