import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  all,
  elicit,
  now,
  patched,
  race,
  ReplayMismatch,
  saga,
  scope,
  sleep,
  step,
} from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { Program } from '../src/model/program.ts';
import type { Question, Route } from '../src/model/question.ts';
import type { Steps } from '../src/model/command.ts';
import { accepted, completed, failed, start, suspended, turn } from './support/drive.ts';
import { ask } from './support/sagas.ts';
import { endsAtCommits, World } from './support/world.ts';

const word = accepted({ word: 'w' });

const order = (body: () => Steps<unknown>): Program =>
  saga({ name: 'order', version: '1', reuse: 'ok' }, function* () {
    yield* body();
    return 'done';
  });

function assertLeft(outcome: Outcome): void {
  expect(outcome).toMatchObject({ status: 'failed', compensated: [], uncompensated: [] });
  expect(failed(outcome)).toBeInstanceOf(ReplayMismatch);
}

describe('changed code that ends a branch', () => {
  it('[R6] fails the replay if a step of the branch waits for its next attempt', async () => {
    let isDown = true;
    const flaky = (): Promise<number> =>
      isDown ? Promise.reject(new Error('down')) : Promise.resolve(1);
    const make = (throws: boolean): Program =>
      order(function* () {
        const charge = function* (): Steps<void> {
          yield* step('charge', () => 1);
          if (throws) throw new Error('broken');
        };
        yield* all([
          charge(),
          step('ship', flaky, { retry: { attempts: 2, delay: 60_000, jitter: false } }),
        ]);
      });
    const world = new World();
    const settings = { budget: 1_000, maxHold: 0 };
    const { state } = suspended(await start(make(false), {}, world, settings));
    world.time += 60_000;
    isDown = false;
    assertLeft(await turn(make(true), state, {}, world, settings));
    expect(completed(await turn(make(false), state, {}, world, settings))).toBe('done');
  });

  it('[R6] fails the replay if a recorded step of the branch could not have started', async () => {
    const did: string[] = [];
    const make = (isNew: boolean): Program =>
      order(function* () {
        const empty = function* (): Steps<string> {
          if (!isNew) yield* ask('other');
          return 'at once';
        };
        const charge = step('charge', () => void did.push('charge'));
        const { winner } = yield* race({ charge, other: scope('inner', empty()) });
        yield* ask('sure');
        yield* step(winner, () => void did.push(winner));
      });
    const { state } = suspended(await start(make(false)));
    assertLeft(await turn(make(true), state, { sure: word }));
    expect(did).toEqual(['charge']);
    expect(completed(await turn(make(false), state, { sure: word }))).toBe('done');
  });

  it('[R6] fails the replay if a step was recorded and the other branch had only read the time', async () => {
    const make = (isNew: boolean): Program =>
      order(function* () {
        const timed = function* (): Steps<void> {
          yield* now();
          if (!isNew) yield* ask('other');
        };
        yield* race({ charge: step('charge', () => 1), timed: timed() });
        yield* ask('sure');
      });
    const { state } = suspended(await start(make(false)));
    assertLeft(await turn(make(true), state, { sure: word }));
    expect(completed(await turn(make(false), state, { sure: word }))).toBe('done');
  });

  it('[R6] fails the replay if a question of the branch was answered', async () => {
    const make = (throws: boolean): Program =>
      order(function* () {
        const charge = function* (): Steps<void> {
          yield* step('charge', () => 1);
          if (throws) throw new Error('broken');
        };
        try {
          yield* all([charge(), ask('consent')]);
        } catch {
          // Continues without the consent.
        }
        yield* ask('sure');
      });
    const first = suspended(await start(make(false)));
    const { state } = suspended(await turn(make(false), first.state, { consent: word }));
    assertLeft(await turn(make(true), state, { sure: word }));
    expect(completed(await turn(make(false), state, { sure: word }))).toBe('done');
  });
});

describe('a saga that is being undone', () => {
  it('[R5] [E3] does not continue forward after a new `patched`', async () => {
    const did: string[] = [];
    const make = (isNew: boolean): Program =>
      order(function* () {
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => void did.push('refund'),
        });
        if (isNew && (yield* patched('fixed'))) return;
        throw new Error('broken');
      });
    const settings = { replace: { ...endsAtCommits() } };
    const { state, undoes } = suspended(await start(make(false), {}, new World(), settings));
    expect(undoes).toBe(true);
    const outcome = await turn(make(true), state, {}, new World(), settings);
    expect(outcome).toMatchObject({
      error: { message: 'broken' },
      compensated: [{ stepId: 'charge' }],
    });
    expect(did).toEqual(['charge', 'refund']);
  });
});

describe('a mismatch while a saga is being undone', () => {
  const undos: [string, (did: string[]) => () => unknown][] = [
    ['a function', (did) => () => void did.push('refund')],
    [
      'a generator',
      (did) =>
        function* () {
          yield* step('refund', () => void did.push('refund'));
          yield* step('notify', () => undefined);
        },
    ],
  ];

  it.each(undos)(
    '[R3] [E3] lists a step whose undo has run and whose code was removed: %s',
    async (_, undoOf) => {
      const did: string[] = [];
      const make = (undoes: boolean): Program =>
        saga({ name: 'order', version: '1', reuse: 'ok', onMismatch: 'compensate' }, function* () {
          yield* step('book', () => void did.push('book'), {
            compensate: () => void did.push('cancel'),
          });
          const charge = (): void => void did.push('charge');
          yield* undoes
            ? step('charge', charge, { compensate: undoOf(did) })
            : step('charge', charge);
          throw new Error('broken');
        });
      const settings = { replace: { commitsEach: true, ...endsAtCommits() } };
      const world = new World();
      let outcome = await start(make(true), {}, world, settings);
      for (let turns = 0; !did.includes('refund') && turns < 9; turns += 1)
        outcome = await turn(make(true), suspended(outcome).state, {}, world, settings);
      const ended = await turn(make(false), suspended(outcome).state, {}, world);
      const listed =
        ended.status === 'failed' ? [...ended.compensated, ...ended.uncompensated] : [];
      expect(listed.map(({ stepId }) => stepId).toSorted()).toEqual(['book', 'charge']);
      expect(did).toEqual(['book', 'charge', 'refund', 'cancel']);
    },
  );
});

describe('code that did not change', () => {
  it('[R1] [U3] continues if an aborted fallback ended a branch after the start of a wait', async () => {
    const did: string[] = [];
    const count = { message: 'How many?', schema: z.object({ n: z.number() }) };
    const make = (): Program =>
      order(function* () {
        const waiting = function* (): Steps<void> {
          try {
            yield* elicit('count', { ...count, fallback: { n: 1 } });
          } finally {
            did.push('finally');
            yield* sleep(0);
          }
        };
        const failing = function* (): Steps<unknown> {
          return yield* all([
            elicit('unasked', { ...count, answeredBy: ['client', 'model', 'fallback'] }),
            elicit('other', { ...count, fallback: { n: 2 } }),
          ]);
        };
        try {
          yield* all([waiting(), failing()]);
        } catch {
          yield* ask('sure');
        }
      });
    const route = ({ answeredBy, hasFallback }: Question): Route =>
      hasFallback ? 'fallback' : answeredBy?.includes('model') === true ? 'cannot' : 'ask';
    const settings = { replace: { route } };
    const world = new World();
    const { state } = suspended(await start(make(), {}, world, settings));
    expect(did).toEqual(['finally']);
    expect(completed(await turn(make(), state, { sure: word }, world, settings))).toBe('done');
  });
});
