import { engineOf } from '@mcp-saga/core/program';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  abort,
  all,
  allSettled,
  call,
  continueAs,
  race,
  saga,
  SagaAborted,
  SagaCancelled,
  scope,
  step,
  type Saga,
} from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Outcome } from '../src/model/outcome.ts';
import { accepted, failed, refused, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { runtimeOf, World, type TurnSettings } from './support/world.ts';

const trip = (body: () => Steps<string>): Saga<undefined, undefined> =>
  sagaOf(body, { reuse: 'ok' });
const word = accepted({ word: 'w' });

const book = (done: string[], id: string) =>
  step(id, () => void done.push(id), { compensate: () => void done.push(`undo ${id}`) });

/** Ends a suspended saga from outside. */
function end(
  program: Saga<undefined, undefined>,
  before: Outcome,
  error: unknown,
  world = new World(),
  settings: TurnSettings = {},
): Promise<Outcome> {
  return engineOf(program).advance(
    suspended(before).state,
    new Map(),
    runtimeOf(world, { turn: 2, ...settings }),
    {
      error,
    },
  );
}

function* aborting(done: string[]): Steps<string> {
  try {
    try {
      yield* abort('enough');
    } catch {
      done.push('caught');
    }
    done.push('went on');
    return 'went on';
  } finally {
    yield* step('last', () => void done.push('finally'));
  }
}

describe('abort', () => {
  const places: [string, (done: string[]) => Steps<unknown>][] = [
    ['the body', aborting],
    ['a helper in a scope', (done) => one(scope('s', aborting(done)))],
    [
      'a saga that is called',
      (done) =>
        one(
          call(
            saga({ name: 'child', version: '1' }, () => aborting(done)),
            {},
          ),
        ),
    ],
    [
      'a branch of all',
      (done) => one(all([ask('other'), aborting(done), step('sibling', () => 1)])),
    ],
    ['a branch of allSettled', (done) => one(allSettled([aborting(done), ask('other')]))],
    ['a branch of race', (done) => one(race({ a: ask('other'), b: aborting(done) }))],
    [
      'a catch',
      function* (done) {
        try {
          yield* step('fails', () => Promise.reject(new Error('no')));
        } catch {
          yield* aborting(done);
        }
      },
    ],
    [
      'a finally',
      function* (done) {
        try {
          yield* step('fails', () => Promise.reject(new Error('no')));
        } finally {
          yield* aborting(done);
        }
      },
    ],
    [
      'the finally of a branch that its sibling ended',
      function* (done) {
        try {
          yield* all([
            (function* (): Steps<void> {
              try {
                yield* ask('other');
              } finally {
                yield* step('last', () => void done.push('finally'));
                yield* abort('enough');
              }
            })(),
            step('fails', () => Promise.reject(new Error('no'))),
          ]);
        } catch {
          done.push('caught');
        }
      },
    ],
  ];
  it.each(places)(
    '[E6] in %s ends the saga: no catch stops it, finally runs, and then the undo',
    async (_, body) => {
      const done: string[] = [];
      const outcome = await start(
        trip(function* () {
          yield* book(done, 'a');
          try {
            // In a fiber of its own: see the test of helpers below.
            yield* scope('in', body(done) as Steps<void>);
            done.push('went on');
          } catch {
            done.push('caught');
          }
          return 'went on';
        }),
      );
      expect(failed(outcome)).toBeInstanceOf(SagaAborted);
      expect(failed(outcome)).toMatchObject({ message: 'enough', public: true });
      expect(done).toEqual(['a', 'finally', 'undo a']);
      expect(outcome).toMatchObject({ compensated: [{ stepId: 'a' }], uncompensated: [] });
    },
  );

  it('[E6] undoes steps of its finally', async () => {
    const done: string[] = [];
    const outcome = await start(
      trip(function* () {
        try {
          yield* abort('enough');
        } finally {
          yield* book(done, 'late');
          yield* step('extra', () => undefined, {
            compensate: () => void done.push('undo extra'),
          });
        }
        return '';
      }),
    );
    expect(outcome).toMatchObject({ compensated: [{ stepId: 'extra' }, { stepId: 'late' }] });
    expect(done).toEqual(['late', 'undo extra', 'undo late']);
  });

  it('[E6] overrides errors of finally, and limits the commands of finally', async () => {
    let ran = 0;
    const outcome = await start(
      trip(function* () {
        try {
          yield* abort('enough');
        } finally {
          for (;;) {
            yield* step('more', () => {
              ran += 1;
            });
          }
        }
      }),
    );
    expect(failed(outcome)).toBeInstanceOf(SagaAborted);
    expect(ran).toBe(100);
    const thrown = trip(function* () {
      try {
        yield* abort('enough');
      } finally {
        // oxlint-disable-next-line no-unsafe-finally -- what an author may do
        throw new Error('own');
      }
    });
    expect(failed(await start(thrown))).toBeInstanceOf(SagaAborted);
  });

  // A generator's return() does not pass through yield* after a finally inside has yielded
  // (ECMA-262, 15.5.5).
  it('[E6] in a helper with a yielding finally also ends the caller', async () => {
    const done: string[] = [];
    await start(
      trip(function* () {
        yield* aborting(done);
        yield* step('forward', () => void done.push('forward'));
        return '';
      }),
    );
    expect(done).toEqual(['finally']);
  });

  it('[E6] in the body runs all of its finally, whatever the outcome of its commands', async () => {
    const done: string[] = [];
    await start(
      trip(function* () {
        try {
          yield* scope('in', abort('enough'));
        } finally {
          yield* step('one', () => void done.push('one'));
          try {
            yield* step('two', () => Promise.reject(new Error('no')));
          } catch {
            done.push('two failed');
          }
          yield* step('three', () => void done.push('three'));
        }
        yield* step('forward', () => void done.push('forward'));
        return '';
      }),
    );
    expect(done).toEqual(['one', 'two failed', 'three']);
  });

  it('[E6] in a helper runs all of its finally, and nothing after it', async () => {
    const done: string[] = [];
    function* locked(): Steps<void> {
      try {
        yield* abort('enough');
      } finally {
        yield* step('unlock', () => void done.push('unlock'));
        yield* step('second', () => void done.push('second'));
      }
    }
    await start(
      trip(function* () {
        try {
          yield* locked();
          yield* step('forward', () => void done.push('forward'));
        } finally {
          yield* step('one', () => void done.push('one'));
          yield* step('two', () => void done.push('two'));
        }
        return '';
      }),
    );
    expect(done).toEqual(['unlock', 'second', 'one', 'two']);
  });

  it('[E6] ends a finally early if helpers and bodies cannot be distinguished', async () => {
    const done: string[] = [];
    const prototype = Object.getPrototypeOf(function* () {}.prototype) as { return: unknown };
    const own = Object.getOwnPropertyDescriptor(prototype, 'return') as PropertyDescriptor;
    Object.defineProperty(prototype, 'return', { ...own, writable: false });
    try {
      await start(
        trip(function* () {
          yield* aborting(done);
          yield* step('forward', () => void done.push('forward'));
          return '';
        }),
      );
    } finally {
      Object.defineProperty(prototype, 'return', own);
    }
    expect(done).toEqual(['finally']);
  });

  it('requires a reason', () => {
    expect(() => abort('')).toThrow(expect.objectContaining({ code: 'authoring_error' }));
  });
});

function* one<T>(command: Command<T>): Steps<T> {
  return yield* command;
}

describe('cancelling', () => {
  const program = (done: string[]) =>
    trip(function* () {
      yield* book(done, 'a');
      yield* book(done, 'b');
      try {
        yield* ask('sure');
      } catch {
        done.push('caught');
      } finally {
        yield* step('last', () => void done.push('finally'));
      }
      done.push('went on');
      return '';
    });

  it('[E6] ends a waiting saga: runs finally, and then compensates', async () => {
    const done: string[] = [];
    const outcome = await end(
      program(done),
      await start(program(done)),
      new SagaCancelled('bored'),
    );
    expect(failed(outcome)).toMatchObject({ code: 'saga_cancelled', reason: 'bored' });
    expect(done).toEqual(['a', 'b', 'finally', 'undo b', 'undo a']);
  });

  it('[E6] continues over several turns, and ignores a second cancellation', async () => {
    const done: string[] = [];
    const world = new World();
    const tick = { budget: 1, replace: { now: () => (world.time += 0.4) } };
    let outcome = await end(
      program(done),
      await start(program(done), {}, world),
      new SagaCancelled('bored'),
      world,
      tick,
    );
    for (let turns = 0; outcome.status === 'suspended' && turns < 20; turns += 1) {
      const error = new SagaCancelled(`again ${turns}`);
      outcome = await end(program(done), outcome, error, world, tick);
    }
    expect(failed(outcome)).toMatchObject({ reason: 'bored' });
    expect(done).toEqual(['a', 'b', 'finally', 'undo b', 'undo a']);
  });

  it('[E6] undoes once and keeps the first reason if cancelled during compensation', async () => {
    const done: string[] = [];
    const world = new World();
    const { state } = suspended(await start(program(done), {}, world));
    const refusal = await turn(program(done), state, { sure: refused() }, world, { budget: 0 });
    const outcome = await end(program(done), refusal, new SagaCancelled(), world);
    expect(failed(outcome)).toBeInstanceOf(Error);
    expect(done.filter((what) => what.startsWith('undo'))).toEqual(['undo b', 'undo a']);
  });

  it('[E6] ended for another reason undoes without suspending, whatever the budget', async () => {
    const done: string[] = [];
    const world = new World();
    const before = await start(program(done), {}, world);
    const error = new Error('too large');
    const outcome = await end(program(done), before, error, world, { budget: 0, maxHold: 0 });
    expect(failed(outcome)).toBe(error);
    expect(done).toEqual(['a', 'b', 'finally', 'undo b', 'undo a']);
  });

  it('[E6] asks the client nothing', async () => {
    const errors: unknown[] = [];
    const asking = trip(function* () {
      try {
        yield* ask('sure');
      } finally {
        try {
          yield* ask('again');
        } catch (error) {
          errors.push(error);
        }
      }
      return '';
    });
    expect((await end(asking, await start(asking), new SagaCancelled())).status).toBe('failed');
    expect(String(errors[0])).toContain("'again' cannot be asked");
  });
});

describe('continueAs', () => {
  const next = saga(
    { name: 'next', version: '1', input: z.object({ n: z.number() }) },
    function* ({ n }) {
      return yield* step('n', () => String(n));
    },
  );

  it('continues as another saga, with its arguments and the last progress', async () => {
    const outcome = await start(trip(() => one(continueAs(next, { n: 2 }))));
    expect(outcome).toMatchObject({
      status: 'continued',
      args: { n: 2 },
      program: { name: 'next' },
    });
  });

  it('[E3] throws if the undo stack is not empty, and then compensates', async () => {
    const done: string[] = [];
    const outcome = await start(
      trip(function* () {
        yield* book(done, 'a');
        return yield* continueAs(next, { n: 2 });
      }),
    );
    expect(String(failed(outcome))).toContain('undo stack');
    expect(done).toEqual(['a', 'undo a']);
  });

  it('[E3] keeps steps that a sibling or a finally adds to the undo stack', async () => {
    const done: string[] = [];
    const world = new World();
    const outcome = await start(
      trip(function* () {
        yield* all([
          step('sibling', () => world.sleep(5), {
            compensate: () => void done.push('undo sibling'),
          }),
          (function* (): Steps<void> {
            yield* step('first', () => 1);
            yield* continueAs(next, { n: 2 });
          })(),
        ]);
        return '';
      }),
      {},
      world,
    );
    expect(String(failed(outcome))).toContain('undo stack');
    expect(done).toEqual(['undo sibling']);
  });

  it('continues as another saga from a branch after its siblings ended, unless finally throws', async () => {
    const done: string[] = [];
    const from = (last: () => void): Saga<undefined, undefined> =>
      trip(function* () {
        yield* all([
          (function* (): Steps<void> {
            try {
              yield* ask('other');
            } finally {
              yield* step('last', () => void done.push('finally'));
            }
          })(),
          (function* (): Steps<void> {
            try {
              yield* continueAs(next, { n: 3 });
            } finally {
              last();
            }
          })(),
        ]);
        return '';
      });
    expect(await start(from(() => undefined))).toMatchObject({
      status: 'continued',
      args: { n: 3 },
    });
    expect(done).toEqual(['finally']);
    const body = trip(function* () {
      try {
        yield* continueAs(next, { n: 3 });
      } finally {
        // oxlint-disable-next-line no-unsafe-finally -- what an author may do
        throw new Error('own');
      }
    });
    expect(String(failed(await start(body)))).toContain('own');
  });

  it('does not continue a saga that is being ended', async () => {
    const program = trip(function* () {
      try {
        yield* ask('sure');
      } finally {
        yield* continueAs(next, { n: 3 });
      }
      return '';
    });
    expect(failed(await end(program, await start(program), new SagaCancelled()))).toBeInstanceOf(
      SagaCancelled,
    );
    expect(
      (await turn(program, suspended(await start(program)).state, { sure: word })).status,
    ).toBe('continued');
  });
});
