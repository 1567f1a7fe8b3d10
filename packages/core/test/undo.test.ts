import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  abort,
  all,
  allSettled,
  call,
  compensator,
  elicit,
  OutcomeUnknown,
  pivot,
  progress,
  saga,
  sleep,
  step,
  TurnAborted,
  type Saga,
  type SagaOptions,
} from '../src/index.ts';
import { isAuthoringError } from '../src/program-parts.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Outcome } from '../src/model/outcome.ts';
import { accepted, failed, refused, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World, type TurnSettings } from './support/world.ts';

type Options = Partial<SagaOptions<undefined, undefined>>;

/** A saga that may compensate. */
const trip = (body: () => Steps<string>, options: Options = {}): Saga<undefined, undefined> =>
  sagaOf(body, { reuse: 'ok', ...options });

/** A step that can be undone, and says what happens to it. */
const book = (done: string[], id: string) =>
  step(id, () => (done.push(id), id), {
    compensate: ({ result }) => void done.push(`undo ${result}`),
  });

const fail = step('fail', () => {
  throw new Error('no');
});

/** Lets every turn run one effect, and gives the end and the number of turns. */
async function crawl(
  program: Saga<undefined, undefined>,
  outcome: Outcome,
  world: World,
): Promise<{ outcome: Outcome; turns: number }> {
  let turns = 0;
  let last = outcome;
  while (last.status === 'suspended') {
    turns += 1;
    if (turns > 50) throw new Error('it does not end');
    last = await turn(program, last.state, {}, world, oneEffect(world));
  }
  return { outcome: last, turns };
}

/** A clock that every look at moves on: the budget is used up after the first step. */
const oneEffect = (world: World): TurnSettings => ({
  budget: 1,
  replace: { now: () => (world.time += 0.4) },
});

describe('compensation', () => {
  it('[E3] undoes steps, last first, with an own step context and keys', async () => {
    const done: string[] = [];
    const program = trip(function* () {
      for (const id of ['hotel', 'car', 'hotel']) {
        yield* step(id, () => id, {
          input: { id },
          key: 'k',
          compensate: (undo) => {
            const { result, input, idempotencyKey, stepKey, attempt, services } = undo;
            done.push(
              `${result} ${input.id} ${idempotencyKey} ${stepKey} ${attempt} ${String(services)}`,
            );
          },
        });
      }
      yield* fail;
      return '';
    });
    const outcome = await start(program, {}, new World(), { services: 'db' });
    expect(done).toEqual([
      'hotel hotel undo:~hotel(k)#2 do:hotel(k)#2|k 1 db',
      'car car undo:~car(k) do:car(k)|k 1 db',
      'hotel hotel undo:~hotel(k) do:hotel(k)|k 1 db',
    ]);
    expect(outcome).toMatchObject({
      compensated: [{ stepId: 'hotel(k)#2' }, { stepId: 'car(k)' }, { stepId: 'hotel(k)' }],
      uncompensated: [],
    });
  });

  it('[E3] reports the error of an undo by the step that it undoes, and nothing of others', async () => {
    const thrown: unknown[] = [];
    const lost = new Error('lost');
    const program = trip(function* () {
      yield* book([], 'hotel');
      yield* step('car', () => 'car', { compensate: () => Promise.reject(lost) });
      yield* fail;
      return '';
    });
    const threw = (path: string, error: unknown): void => void thrown.push([path, error]);
    const outcome = await start(program, {}, new World(), { replace: { threw } });
    expect(outcome).toMatchObject({ uncompensated: [{ stepId: 'car' }] });
    expect(thrown).toEqual([
      ['fail', new Error('no')],
      ['~car', lost],
      // The error that ended the undo.
      ['~car', expect.objectContaining({ code: 'step_failed' })],
    ]);
  });

  it('[E3] passes the original result and input to an undo, whatever the body changed since', async () => {
    const seen: unknown[] = [];
    const program = trip(function* () {
      const input = ['a'];
      const result = yield* step('a', () => ({ at: new Date(5), list: [1] }), {
        input,
        compensate: (undo) => void seen.push(undo.result, undo.input),
      });
      result.list.push(2);
      input.push('b');
      yield* fail;
      return '';
    });
    await start(program);
    expect(seen).toEqual([{ at: new Date(5), list: [1] }, ['a']]);
  });

  it('[E3] undoes nothing for a caught error, or if the saga completes', async () => {
    const done: string[] = [];
    const program = trip(function* () {
      try {
        yield* book(done, 'a');
        yield* book(done, 'b');
        yield* fail;
      } catch {
        done.push('caught');
      }
      return 'fine';
    });
    expect((await start(program)).status).toBe('completed');
    expect(done).toEqual(['a', 'b', 'caught']);
  });

  it('[E3] keeps the undos of a caught branch for a later failure', async () => {
    const done: string[] = [];
    const program = trip(function* () {
      yield* allSettled([
        (function* (): Steps<void> {
          yield* book(done, 'a');
          yield* step('extra', () => undefined, {
            compensate: () => void done.push('undo extra'),
            label: 'the extra',
          });
          yield* fail;
        })(),
      ]);
      yield* fail;
      return '';
    });
    expect(await start(program)).toMatchObject({
      compensated: [{ stepId: '0/extra', label: 'the extra' }, { stepId: '0/a' }],
    });
    expect(done).toEqual(['a', 'undo extra', 'undo a']);
  });

  it('[E3] undoes a parallel group in reverse order of completion, nested or not', async () => {
    const world = new World();
    const done: string[] = [];
    const slow = (id: string, ms: number) =>
      step(id, () => world.sleep(ms), { compensate: () => void done.push(id) });
    const program = trip(function* () {
      yield* all({
        a: slow('a', 30),
        inner: all([slow('b', 10), slow('c', 40)]),
        d: slow('d', 20),
      });
      yield* fail;
      return '';
    });
    await start(program, {}, world);
    expect(done).toEqual(['c', 'a', 'd', 'b']);
  });

  it('[E3] shares its stack with a called saga', async () => {
    const done: string[] = [];
    const child = saga({ name: 'child', version: '1', reuse: 'ok' }, function* () {
      return yield* book(done, 'inner');
    });
    const program = trip(function* () {
      yield* book(done, 'outer');
      yield* call(child, {});
      yield* fail;
      return '';
    });
    expect(await start(program)).toMatchObject({
      compensated: [{ stepId: 'child/inner' }, { stepId: 'outer' }],
    });
  });

  it('[E3] retries an undo by its policy, and then reports the step as uncompensated and continues', async () => {
    const attempts: string[] = [];
    const broken = (id: string, retry?: number) =>
      step(id, () => id, {
        retry: 1,
        ...(retry === undefined ? {} : { undo: { retry } }),
        label: `the ${id}`,
        compensate: ({ idempotencyKey, attempt }) => {
          attempts.push(`${idempotencyKey} ${attempt}`);
          throw new Error('no');
        },
      });
    const program = trip(function* () {
      yield* book([], 'good');
      yield* broken('once', 1);
      yield* broken('default');
      yield* fail;
      return '';
    });
    expect(await start(program)).toMatchObject({
      compensated: [{ stepId: 'good' }],
      uncompensated: [
        { stepId: 'default', label: 'the default' },
        { stepId: 'once', label: 'the once' },
      ],
    });
    expect(attempts).toEqual([
      'undo:~default 1',
      'undo:~default 2',
      'undo:~default 3',
      'undo:~once 1',
    ]);
  });

  it('[E3] [E2] returns a checkpoint for a backoff of an undo that is longer than the turn', async () => {
    const world = new World();
    let attempts = 0;
    const program = trip(function* () {
      yield* step('a', () => 1, {
        undo: { retry: { attempts: 2, delay: 5_000, jitter: false } },
        compensate: () => {
          attempts += 1;
          if (attempts === 1) throw new Error('busy');
        },
      });
      yield* fail;
      return '';
    });
    const settings = { budget: 1_000 };
    const { state, retryAfterMs } = suspended(await start(program, {}, world, settings));
    expect(retryAfterMs).toBe(5_000);
    expect(suspended(await turn(program, state, {}, world, settings)).retryAfterMs).toBe(5_000);
    world.time += 5_000;
    expect(await turn(program, state, {}, world, settings)).toMatchObject({
      compensated: [{ stepId: 'a' }],
    });
    expect(attempts).toBe(2);
  });
});

describe('an undo that is an async generator', () => {
  it('[E3] is rejected before its step runs', async () => {
    const done: string[] = [];
    const nobody = async function* (): AsyncGenerator<number> {
      yield 1;
    } as () => unknown;
    const says = 'It must not be an async generator.';
    expect(() => step('a', () => 1, { compensate: nobody, unknown: 'compensate' })).toThrow(says);
    expect(() => step('a', () => 1, { keep: false, compensate: nobody })).toThrow(says);
    const program = trip(function* () {
      yield* step('a', () => void done.push('a'), { compensate: nobody });
      return '';
    });
    expect(failed(await start(program))).toMatchObject({ name: 'AuthoringError' });
    expect(done).toEqual([]);
  });
});

describe('an undo that is a generator', () => {
  const gradual = (done: string[]) =>
    trip(function* () {
      for (const id of ['a', 'b']) {
        yield* step(id, () => id, {
          *compensate({ result, stepKey }) {
            yield* step('one', () => void done.push(`${result} one ${stepKey}`));
            yield* sleep(0);
            yield* step(
              'two',
              ({ idempotencyKey }) => void done.push(`${result} two ${idempotencyKey}`),
            );
          },
        });
      }
      yield* ask('sure');
      return '';
    });

  it('[E3] continues on another instance after each of its steps', async () => {
    const done: string[] = [];
    const world = new World();
    const { state } = suspended(await start(gradual(done), {}, world));
    const first = await turn(gradual(done), state, { sure: refused() }, world, { budget: 0 });
    const { outcome, turns } = await crawl(gradual(done), first, world);
    expect(done).toEqual(['b one do:b', 'b two undo:~b/two', 'a one do:a', 'a two undo:~a/two']);
    expect(outcome).toMatchObject({
      compensated: [{ stepId: 'b' }, { stepId: 'a' }],
      uncompensated: [],
    });
    expect(turns).toBeGreaterThan(3);
  });

  it('[U4] [E3] runs again from the previous token, with the same keys, if its request dies', async () => {
    const done: string[] = [];
    const world = new World();
    const { state } = suspended(await start(gradual(done), {}, world));
    const controller = new AbortController();
    const push = done.push.bind(done);
    done.push = (...items) => {
      controller.abort(new Error('gone'));
      return push(...items);
    };
    const answers = { sure: refused() };
    await expect(
      turn(gradual(done), state, answers, world, { signal: controller.signal }),
    ).rejects.toBeInstanceOf(TurnAborted);
    done.length = 0;
    expect(await turn(gradual(done), state, answers, world)).toMatchObject({
      compensated: [{ stepId: 'b' }, { stepId: 'a' }],
    });
    expect([...done]).toEqual([
      'b one do:b',
      'b two undo:~b/two',
      'a one do:a',
      'a two undo:~a/two',
    ]);
  });

  it('[E3] applies its own policy to its steps, unless they have one', async () => {
    const attempts: string[] = [];
    const broken = (id: string, retry?: number) =>
      step(
        id,
        ({ attempt }) => {
          attempts.push(`${id} ${attempt}`);
          throw new Error('no');
        },
        retry === undefined ? {} : { retry },
      );
    const program = trip(function* () {
      yield* step('a', () => 1, {
        undo: { retry: { attempts: 2, delay: 1 } },
        *compensate() {
          yield* allSettled([broken('own', 1), broken('its')]);
        },
      });
      yield* fail;
      return '';
    });
    expect(await start(program)).toMatchObject({ compensated: [{ stepId: 'a' }] });
    expect(attempts.toSorted()).toEqual(['its 1', 'its 2', 'own 1']);
  });

  it('[E3] names the mistake of the author if it asks', async () => {
    const thrown: unknown[] = [];
    const program = trip(function* () {
      const undo = function* (): Steps<void> {
        yield* ask('sure');
      };
      // JavaScript, where no type refuses it
      yield* step('book', () => 1, { compensate: undo as never });
      return yield* fail;
    });
    const threw = (_path: string, error: unknown): void => void thrown.push(error);
    await start(program, {}, new World(), { replace: { threw } });
    expect(thrown.filter((error) => isAuthoringError(error))).toEqual([
      expect.objectContaining({
        message: expect.stringMatching(/^'sure' cannot be asked while .* undone\. Ask before\./),
      }),
    ]);
  });

  it('[E3] may catch its own errors, and a thrown error leaves the step uncompensated', async () => {
    const program = trip(function* () {
      for (const id of ['caught', 'thrown']) {
        yield* step(id, () => 1, {
          undo: { retry: 1 },
          *compensate() {
            try {
              yield* fail;
            } catch (error) {
              if (id === 'thrown') throw error;
            }
          },
        });
      }
      yield* fail;
      return '';
    });
    expect(await start(program)).toMatchObject({
      compensated: [{ stepId: 'caught' }],
      uncompensated: [{ stepId: 'thrown' }],
    });
  });

  it.each<[string, () => Steps<unknown>, 'compensated' | 'uncompensated']>([
    ['asks the client', () => asks(), 'uncompensated'],
    ['aborts', () => aborts(), 'uncompensated'],
    ['has steps with undos, and pivots', () => nests(), 'compensated'],
  ])('[E3] does not end the saga or lose a step if it %s', async (_, compensation, into) => {
    const done: string[] = [];
    const program = trip(function* () {
      yield* book(done, 'first');
      yield* step('odd', () => 1, {
        undo: { retry: 1 },
        *compensate() {
          yield* compensation();
        },
      });
      yield* fail;
      return '';
    });
    const outcome = await start(program);
    expect(outcome).toMatchObject({
      status: 'failed',
      [into]: expect.arrayContaining([{ stepId: 'odd' }]),
    });
    expect(done).toEqual(['first', 'undo first']);
    expect(String(failed(outcome))).toContain('no');
  });
});

function* asks(): Steps<void> {
  yield* ask('again');
}
function* aborts(): Steps<void> {
  yield* abort('twice');
}
function* nests(): Steps<void> {
  yield* pivot('p');
  yield* step('never', () => undefined, {
    compensate: () => {
      throw new Error('never');
    },
  });
  yield* book([], 'own');
}

describe('an effect of unknown outcome', () => {
  const hang = ({ signal }: { signal: AbortSignal }): Promise<number> =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error));
    });

  it('[E4] is undone by its own compensation, or is uncompensated, when it times out', async () => {
    const done: string[] = [];
    const options = { timeout: 5, undo: { retry: 1 } };
    const program = trip(function* () {
      yield* allSettled([
        step('a', hang, {
          ...options,
          input: { x: 1 },
          compensate: ({ outcome, stepKey, input, result }) =>
            void done.push(`${outcome} ${stepKey} ${input.x} ${String(result)}`),
          unknown: 'compensate',
        }),
        step('b', hang, { ...options, compensate: () => void done.push('never') }),
        step('c', hang, options),
      ]);
      yield* fail;
      return '';
    });
    expect(await start(program)).toMatchObject({
      compensated: [{ stepId: 'a' }],
      uncompensated: [{ stepId: 'b' }],
    });
    expect(done).toEqual(['unknown do:a 1 undefined']);
  });

  it.each<[string, () => unknown]>([
    ['its response was lost', () => Promise.reject(new OutcomeUnknown('lost'))],
    ['its result cannot be encoded', () => () => 1],
  ])('[E4] is unknown if %s', async (_, run) => {
    const program = trip(function* () {
      yield* step('a', run, { compensate: () => undefined });
      return '';
    });
    expect(await start(program)).toMatchObject({
      status: 'failed',
      compensated: [],
      uncompensated: [{ stepId: 'a' }],
    });
  });

  it('[E4] is unknown if its sibling aborted it, and known if it completed anyway', async () => {
    const done: string[] = [];
    const options = {
      compensate: ({ outcome, stepKey }: { outcome: string; stepKey: string }) =>
        void done.push(`${outcome} ${stepKey}`),
      unknown: 'compensate',
    } as const;
    const world = new World();
    const program = trip(function* () {
      yield* all([
        step('aborted', hang, options),
        step('done', () => world.sleep(20), options),
        step('fails', async () => {
          await world.sleep(10);
          throw new Error('no');
        }),
      ]);
      return '';
    });
    await start(program, {}, world);
    expect(done.toSorted()).toEqual(['done do:done', 'unknown do:aborted']);
  });

  it('[E4] stays unknown if its sibling fails while it waits for its next attempt', async () => {
    const world = new World();
    const make = (): Saga<undefined, undefined> =>
      trip(function* () {
        yield* all([
          step('a', () => Promise.reject(new OutcomeUnknown('lost')), {
            retry: { attempts: 2, delay: 60_000, jitter: false },
            compensate: () => undefined,
          }),
          ask('sure'),
        ]);
        return '';
      });
    const settings = { budget: 1_000 };
    const { state } = suspended(await start(make(), {}, world, settings));
    const outcome = await turn(make(), state, { sure: refused() }, world, settings);
    expect(outcome).toMatchObject({
      status: 'failed',
      compensated: [],
      uncompensated: [{ stepId: 'a' }],
    });
  });

  it('[E4] stays unknown if a later attempt fails, even if its policy throws', async () => {
    const program = trip(function* () {
      yield* step('a', () => Promise.reject(new OutcomeUnknown('lost')), {
        retry: {
          attempts: 2,
          when: () => {
            throw new Error('own fault');
          },
        },
        compensate: () => undefined,
      });
      return '';
    });
    expect(await start(program)).toMatchObject({ uncompensated: [{ stepId: 'a' }] });
  });
});

describe('a pivot', () => {
  it('[E5] keeps the steps before it, and undoes the steps after it', async () => {
    const done: string[] = [];
    const program = trip(function* () {
      yield* book(done, 'before');
      yield* pivot('paid');
      yield* book(done, 'after');
      yield* fail;
      return '';
    });
    expect(await start(program)).toMatchObject({
      compensated: [{ stepId: 'after' }],
      uncompensated: [],
    });
    expect(done).toEqual(['before', 'after', 'undo after']);
  });

  it('[E5] in a branch applies to its siblings too, also on replay', async () => {
    const done: string[] = [];
    const world = new World();
    const make = (): Saga<undefined, undefined> =>
      trip(function* () {
        yield* all([
          book(done, 'a'),
          (function* (): Steps<void> {
            yield* ask('sure');
            yield* pivot('paid');
            yield* ask('really');
          })(),
        ]);
        return '';
      });
    const first = suspended(await start(make(), {}, world));
    const two = suspended(
      await turn(make(), first.state, { '1/sure': accepted({ word: 'w' }) }, world),
    );
    expect(await turn(make(), two.state, { '1/really': refused() }, world)).toMatchObject({
      compensated: [],
      uncompensated: [],
    });
    expect(done).toEqual(['a']);
  });
});

describe('a host without a store', () => {
  const withoutStore = { replace: { claim: undefined } };
  const effects: [string, () => Steps<unknown>][] = [
    ['a step that compensates', () => one(book([], 'x'))],
    [
      'a step that compensates the unknown',
      () => one(step('x', () => 1, { compensate: () => 1, unknown: 'compensate' })),
    ],
    ['a step that runs once', () => one(step('x', () => 1, { once: true }))],
    ['a pivot', () => one(pivot('x'))],
  ];
  it.each(effects)('[E7] refuses %s, which does not run', async (name, body) => {
    const world = new World();
    const program = sagaOf(function* () {
      yield* body();
      return '';
    });
    const outcome = await start(program, {}, world, withoutStore);
    expect(failed(outcome)).toMatchObject({ code: 'authoring_error' });
    expect(String(failed(outcome))).toMatch(/'x' .*`store` of the host/s);
    // A step that runs once needs the store in any case.
    expect(String(failed(outcome)).includes("reuse: 'ok'")).toBe(!name.includes('once'));
    expect(world.events).toEqual([]);
  });

  it('[E7] runs steps without an undo, and all steps of a saga whose tokens may be used again', async () => {
    const plain = sagaOf(() => one(step('x', () => 'y')));
    expect((await start(plain, {}, new World(), withoutStore)).status).toBe('completed');
    for (const [, body] of effects.filter(([name]) => !name.includes('once'))) {
      const reused = sagaOf(
        function* () {
          yield* body();
          return '';
        },
        { reuse: 'ok' },
      );
      expect((await start(reused, {}, new World(), withoutStore)).status).toBe('completed');
    }
  });
});

function* one<T>(command: Command<T>): Steps<T> {
  return yield* command;
}

describe('a named compensator', () => {
  const refund = (done: string[]) =>
    compensator(
      'refund',
      z.object({ id: z.number() }),
      ({ args, idempotencyKey, stepKey }) =>
        void done.push(`${args.id} ${idempotencyKey} ${stepKey}`),
    );

  it('[E3] runs with arguments from the result, and with arguments of the body', async () => {
    const done: string[] = [];
    const program = trip(function* () {
      yield* step('pay', () => 7, {
        compensate: refund(done).for(({ result }) => ({ id: result })),
      });
      yield* step('extra', () => undefined, { compensate: refund(done).for(() => ({ id: 8 })) });
      yield* fail;
      return '';
    });
    await start(program);
    expect(done).toEqual(['8 undo:~extra do:extra', '7 undo:~pay do:pay']);
  });

  it.each<[string, () => { run: unknown }]>([
    [
      'throw',
      () => {
        throw new Error('no');
      },
    ],
    ['cannot be sealed', () => ({ run: () => 1 })],
  ])('[E3] reports a step as uncompensated if the arguments of its undo %s', async (_, toArgs) => {
    const world = new World();
    const loose = compensator('loose', z.object({ run: z.unknown() }), () => undefined);
    const program = trip(function* () {
      yield* step('pay', () => 7, { compensate: loose.for(toArgs) });
      yield* fail;
      return '';
    });
    expect(await start(program, {}, world)).toMatchObject({ uncompensated: [{ stepId: 'pay' }] });
    expect(world.events).toContainEqual(
      expect.objectContaining({ kind: 'compensate', type: 'failed', path: 'pay' }),
    );
  });

  it.each<[string, () => unknown]>([
    [
      'a generator',
      function* () {
        yield 1;
      },
    ],
    [
      'an async generator',
      async function* () {
        yield 1;
      },
    ],
  ])('[E3] is refused at its definition, because it would never run: %s', (_, undo) => {
    expect(() => compensator('refund', z.object({}), undo)).toThrow(
      "Compensator 'refund' is a function or an async function. It must not be a generator.",
    );
  });

  it('[E3] reports a step as uncompensated if its undo returns a plain generator', async () => {
    const never = function* (): Generator<number> {
      yield 1;
    };
    const program = trip(function* () {
      const named = compensator('refund', z.object({}), (() => never()) as () => unknown);
      yield* step('pay', () => 7, { compensate: named.for(() => ({})) });
      yield* fail;
      return '';
    });
    expect(await start(program)).toMatchObject({
      compensated: [],
      uncompensated: [{ stepId: 'pay' }],
    });
  });
});

describe('an end of a saga by the engine', () => {
  it('[E3] undoes all steps when the journal is full, and runs no step that cannot be recorded', async () => {
    const done: string[] = [];
    const program = trip(function* () {
      for (let index = 0; index < 5; index += 1) yield* book(done, `s${index}`);
      return '';
    });
    const outcome = await start(program, {}, new World(), { limits: { maxJournalEntries: 2 } });
    expect(failed(outcome)).toMatchObject({ code: 'limit_exceeded' });
    expect(done).toEqual(['s0', 's1', 'undo s1', 'undo s0']);
  });

  it('[E3] undoes all steps when a turn has too many commands, also in branches that just ran', async () => {
    const done: string[] = [];
    const program = trip(function* () {
      yield* book(done, 'a');
      yield* all([
        (function* (): Steps<void> {
          yield* step('fast', () => 1);
          for (;;) yield* step('again', () => 1);
        })(),
        book(done, 'b'),
      ]);
      return '';
    });
    const outcome = await start(program, {}, new World(), { limits: { maxCommands: 12 } });
    expect(failed(outcome)).toMatchObject({ code: 'limit_exceeded' });
    expect(done.toSorted()).toEqual(['a', 'b', 'undo a', 'undo b']);
  });

  it('[E3] undoes all steps when a form cannot be expressed in MCP', async () => {
    const done: string[] = [];
    const program = trip(function* () {
      yield* book(done, 'a');
      yield* elicit('form', {
        message: 'm',
        schema: z.object({ deep: z.object({ x: z.string() }) }) as never,
      });
      return '';
    });
    const outcome = await start(program);
    expect(failed(outcome)).toMatchObject({ code: 'authoring_error' });
    expect(outcome).toMatchObject({ compensated: [{ stepId: 'a' }] });
    expect(done).toEqual(['a', 'undo a']);
  });

  it('[E3] undoes in the turn that meets a limit, if no state can be committed', async () => {
    const world = new World();
    const program = trip(function* () {
      yield* step('a', () => (world.time += 10), { compensate: () => undefined });
      for (;;) yield* progress(0);
    });
    const outcome = await start(program, {}, world, { budget: 1, limits: { maxCommands: 20 } });
    expect(outcome).toMatchObject({ status: 'failed', compensated: [{ stepId: 'a' }] });
  });

  it('[E3] stops an endless undo that records nothing', async () => {
    const program = trip(function* () {
      yield* step('endless', () => 1, {
        *compensate() {
          for (;;) yield* progress(0);
        },
      });
      yield* fail;
      return '';
    });
    const outcome = await start(program, {}, new World(), { limits: { maxCommands: 20 } });
    expect(outcome).toMatchObject({ status: 'failed', uncompensated: [{ stepId: 'endless' }] });
  });

  it('[E3] reports the rest as uncompensated if the undo of all steps is endless', async () => {
    const program = trip(function* () {
      yield* book([], 'first');
      yield* step('endless', () => 1, {
        *compensate() {
          for (;;) yield* step('again', () => 1);
        },
      });
      yield* fail;
      return '';
    });
    const outcome = await start(program, {}, new World(), { limits: { maxCommands: 20 } });
    expect(outcome).toMatchObject({ status: 'failed', uncompensated: [{ stepId: 'endless' }] });
    expect(outcome).toMatchObject({ compensated: [{ stepId: 'first' }] });
  });
});
