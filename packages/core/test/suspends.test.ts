import { describe, expect, it } from 'vitest';
import {
  approval,
  call,
  checkpoint,
  continueAs,
  elicitUrl,
  listRoots,
  poll,
  sample,
  sleep,
  step,
} from '../src/index.ts';
import type { Steps } from '../src/index.ts';
import { completed, start } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const never = { suspends: false } as const;
const done = function* (): Steps<string> {
  yield* step('read', () => 1);
  return 'done';
};

const waits: readonly (readonly [string, () => Steps<unknown>])[] = [
  [
    'a form',
    function* () {
      return yield* ask('wait');
    },
  ],
  [
    'a page of a question by URL',
    function* () {
      return yield* elicitUrl('wait', { message: 'Pay?', url: 'https://pay.test' });
    },
  ],
  [
    'a message of a model',
    function* () {
      return yield* sample('wait', { messages: [], maxTokens: 9 });
    },
  ],
  [
    'the roots',
    function* () {
      return yield* listRoots('wait');
    },
  ],
  [
    'a page',
    function* () {
      return yield* checkpoint('a page');
    },
  ],
  [
    'a sleep',
    function* () {
      return yield* sleep('1ms');
    },
  ],
  [
    'a poll',
    function* () {
      return yield* poll('wait', () => 1, { every: '1s', timeout: '1m' });
    },
  ],
  [
    'an approval by another person',
    function* () {
      return yield* approval('wait', { message: 'Ok?', deliver: () => undefined, timeout: '1h' });
    },
  ],
];

describe('a saga with suspends: false', () => {
  it('[W6] completes in one turn', async () => {
    const program = sagaOf(done, never);
    expect(program.suspends).toBe(false);
    expect(completed(await start(program))).toBe('done');
  });

  it.each(waits)('fails at %s with an AuthoringError, and is undone', async (_, wait) => {
    const world = new World();
    const undone: string[] = [];
    const program = sagaOf(
      function* () {
        yield* step('charge', () => 'paid', {
          compensate: ({ result }) => void undone.push(result),
        });
        yield* wait();
        return 'done';
      },
      { ...never, reuse: 'ok' },
    );
    const outcome = await start(program, {}, world);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: {
        code: 'authoring_error',
        message: expect.stringContaining(
          'asks or waits, but its saga has `suspends: false`. Remove the option',
        ) as string,
      },
      compensated: [{ stepId: 'charge' }],
      uncompensated: [],
    });
    expect(undone).toEqual(['paid']);
  });

  it('may catch the error, and complete', async () => {
    const program = sagaOf(function* () {
      try {
        yield* ask('go');
      } catch (error) {
        return (error as Error).name;
      }
      return 'asked';
    }, never);
    expect(completed(await start(program))).toBe('AuthoringError');
  });

  it('does not ask in a saga that it calls', async () => {
    const inner = sagaOf(function* () {
      yield* ask('go');
      return 'asked';
    });
    const program = sagaOf(function* () {
      yield* call(inner, {});
      return 'called';
    }, never);
    expect(await start(program)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining("'go' asks or waits") as string },
    });
  });

  it('continues only as a saga that does not suspend', async () => {
    const into = (options: object) => {
      const next = sagaOf(done, options);
      return sagaOf(function* (): Steps<string> {
        return yield* continueAs(next, {});
      }, never);
    };
    expect(await start(into(never))).toMatchObject({ status: 'continued' });
    expect(await start(into({}))).toMatchObject({
      status: 'failed',
      error: { code: 'authoring_error', message: expect.stringContaining("'test'") as string },
    });
  });
});

it.each([
  [{ suspends: true }, "suspends of saga 'test' must be false, or undefined."],
  [{ suspends: false, task: 'prefer' }, "Saga 'test' has `suspends: false`, so `task`"],
  [{ suspends: false, needs: ['roots'] }, "Saga 'test' has `suspends: false`, so `needs`"],
  [{ suspends: false, answeredBy: ['client', 'model', 'fallback'] }, 'so `answeredBy`'],
])('a saga is rejected for %j', (options, said) => {
  expect(() => sagaOf(done, options as object)).toThrow(said);
});
