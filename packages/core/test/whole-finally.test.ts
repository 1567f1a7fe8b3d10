import { engineOf } from '@mcp-saga/core/program';
import { describe, expect, it } from 'vitest';
import { abort, all, race, SagaCancelled, scope, step } from '../src/index.ts';
import type { Command, Steps } from '../src/model/command.ts';
import type { Outcome } from '../src/model/outcome.ts';
import { accepted, completed, start, suspended, turn } from './support/drive.ts';
import { ask, sagaOf } from './support/sagas.ts';
import { runtimeOf, World } from './support/world.ts';

type Does = (what: string) => Command<unknown>;

/** A saga that waits for an answer, and a journal of its steps. */
function waiting(body: (does: Does) => Steps<string>) {
  const done: string[] = [];
  const program = sagaOf(() => body((what) => step(what, () => void done.push(what))), {
    reuse: 'ok',
  });
  return {
    done,
    /** Cancels it, one turn for each step if `isSlow`. */
    cancel: async (isSlow = false): Promise<Outcome> => {
      const world = new World();
      const slow = isSlow ? { commitsEach: true } : {};
      const settings = { turn: 2, replace: slow };
      const { state } = suspended(await start(program, {}, world));
      let outcome = await engineOf(program).advance(state, new Map(), runtimeOf(world, settings), {
        error: new SagaCancelled(),
      });
      while (outcome.status === 'suspended') {
        outcome = await turn(program, outcome.state, {}, world, { replace: slow });
      }
      return outcome;
    },
    answer: async (): Promise<Outcome> =>
      turn(program, suspended(await start(program)).state, { sure: accepted({ word: 'w' }) }),
  };
}

function* locked(does: Does, name: string, inner: () => Steps<unknown>): Steps<string> {
  yield* does(`lock ${name}`.replace(' ', '-'));
  try {
    yield* inner();
    return 'w';
  } finally {
    yield* does(`log-${name}`);
    yield* unlock(does, name);
    yield* does(`done-${name}`);
  }
}

function* unlock(does: Does, name: string): Steps<void> {
  yield* does(`unlock-${name}`);
}

const asks = function* (): Steps<unknown> {
  return yield* ask('sure');
};

describe('the finally of a helper that is called with yield*', () => {
  it.each([false, true])(
    '[E6] runs to its end when its saga is cancelled, in slow turns: %s',
    async (isSlow) => {
      const { done, cancel } = waiting(function* (does) {
        try {
          const { length } = yield* locked(does, 'a', () => locked(does, 'b', asks));
          yield* does(`forward-${length}`);
        } catch {
          yield* does('caught');
        } finally {
          yield* does('one');
          yield* does('two');
        }
        yield* does('forward');
        return '';
      });
      expect(await cancel(isSlow)).toMatchObject({
        status: 'failed',
        error: { code: 'saga_cancelled' },
      });
      const ended = (name: string): string[] => [`log-${name}`, `unlock-${name}`, `done-${name}`];
      expect(done).toEqual(['lock-a', 'lock-b', ...ended('b'), ...ended('a'), 'one', 'two']);
    },
  );

  it('[E6] runs to its end in a losing branch, and in its own groups', async () => {
    const done: string[] = [];
    const does: Does = (what) => step(what, () => void done.push(what));
    function* helper(): Steps<void> {
      try {
        yield* ask('other');
      } finally {
        yield* all({ x: does('x'), y: scope('in', unlock(does, 'y')) });
        yield* does('z');
      }
    }
    const outcome = await start(
      sagaOf(function* () {
        const loser = function* (): Steps<void> {
          yield* helper();
          yield* does('forward');
        };
        const { winner } = yield* race({ loser: loser(), winner: does('win') });
        return winner;
      }),
    );
    expect(completed(outcome)).toBe('winner');
    expect(done).toEqual(['win', 'x', 'unlock-y', 'z']);
  });

  it('[E6] ends its caller if a step in it fails, and no catch of the caller runs', async () => {
    const { done, cancel } = waiting(function* (does) {
      function* helper(): Steps<void> {
        try {
          yield* ask('sure');
        } finally {
          yield* step('unlock', () => Promise.reject(new Error('no')));
          yield* does('never');
        }
      }
      try {
        yield* helper();
      } catch {
        yield* does('caught');
      } finally {
        yield* does('last');
      }
      return '';
    });
    expect(await cancel()).toMatchObject({ error: { code: 'saga_cancelled' }, uncompensated: [] });
    expect(done).toEqual(['last']);
  });

  it('[E6] that throws at once ends its caller, and no catch of the caller runs', async () => {
    const { done, cancel } = waiting(function* (does) {
      function* helper(): Steps<void> {
        try {
          yield* ask('sure');
        } finally {
          // oxlint-disable-next-line no-unsafe-finally -- what an author may do
          throw new Error('own');
        }
      }
      try {
        yield* helper();
      } catch {
        yield* does('caught');
      }
      yield* does('forward');
      return '';
    });
    expect(await cancel()).toMatchObject({ error: { code: 'saga_cancelled' } });
    expect(done).toEqual([]);
  });

  it('[E6] does not change how plain generators work', async () => {
    const prototype = Object.getPrototypeOf(function* () {}.prototype) as object;
    const before = Object.getOwnPropertyDescriptors(prototype);
    const { cancel } = waiting((does) => locked(does, 'a', asks));
    await cancel();
    expect(Object.getOwnPropertyDescriptors(prototype)).toEqual(before);
  });

  it('[E6] reports commands that cannot run if helpers and bodies cannot be distinguished', async () => {
    const prototype = Object.getPrototypeOf(function* () {}.prototype) as { return: unknown };
    const own = Object.getOwnPropertyDescriptor(prototype, 'return') as PropertyDescriptor;
    const { done, cancel } = waiting((does) => locked(does, 'a', asks));
    Object.defineProperty(prototype, 'return', { ...own, writable: false });
    try {
      expect(await cancel()).toMatchObject({ uncompensated: [{ stepId: 'finally after log-a' }] });
    } finally {
      Object.defineProperty(prototype, 'return', own);
    }
    expect(done).toEqual(['lock-a', 'log-a']);
  });

  it('[E6] reports the step at which its limit ends it', async () => {
    const { done, cancel } = waiting(function* (does) {
      try {
        yield* ask('sure');
      } finally {
        for (;;) yield* does('more');
      }
    });
    expect(await cancel()).toMatchObject({ uncompensated: [{ stepId: 'more#101' }] });
    expect(done).toHaveLength(100);
  });
});

describe('a finally that prevents the end of its saga', () => {
  const swallowing: [string, (does: Does) => Steps<unknown>][] = [
    [
      'break',
      function* (does) {
        for (;;) {
          try {
            yield* ask('sure');
          } finally {
            yield* does('unlock');
            // oxlint-disable-next-line no-unsafe-finally -- what an author may do
            break;
          }
        }
        yield* does('forward');
      },
    ],
    [
      'continue',
      function* (does) {
        for (const round of [1, 2]) {
          try {
            if (round === 1) yield* ask('sure');
          } finally {
            // oxlint-disable-next-line no-unsafe-finally -- what an author may do
            if (round === 1) continue;
          }
          yield* does('forward');
        }
      },
    ],
    [
      'return',
      function* (does) {
        try {
          yield* ask('sure');
        } finally {
          yield* does('forward');
          // oxlint-disable-next-line no-unsafe-finally -- what an author may do
          return 'w';
        }
      },
    ],
  ];
  it.each(swallowing)(
    '[E6] by %s does not hide steps that ran after the cancellation',
    async (_, body) => {
      const { done, cancel } = waiting(function* (does) {
        yield* body(does);
        return 'done';
      });
      const outcome = await cancel();
      expect(outcome).toMatchObject({ status: 'failed', error: { code: 'saga_cancelled' } });
      expect(done).toContain('forward');
      expect(outcome).toMatchObject({
        uncompensated: expect.arrayContaining([{ stepId: 'forward' }]) as unknown,
      });
    },
  );

  it.each(swallowing)('[E6] by %s in a helper ends the caller of the helper', async (_, body) => {
    const { done, cancel } = waiting(function* (does) {
      yield* body(does);
      yield* does('behind');
      return 'done';
    });
    const outcome = await cancel();
    expect(outcome).toMatchObject({ error: { code: 'saga_cancelled' } });
    expect(done).not.toContain('behind');
  });

  it('[E6] undoes steps that ran after the cancellation', async () => {
    const undone: string[] = [];
    const { cancel } = waiting(function* (does) {
      for (;;) {
        try {
          yield* ask('sure');
        } finally {
          // oxlint-disable-next-line no-unsafe-finally -- what an author may do
          break;
        }
      }
      yield* step('ship', () => 1, { compensate: () => void undone.push('ship') });
      yield* step('more', () => undefined, { compensate: () => void undone.push('more') });
      yield* does('forward');
      return 'done';
    });
    expect(await cancel()).toMatchObject({
      uncompensated: [{ stepId: 'forward' }],
      compensated: [{ stepId: 'more' }, { stepId: 'ship' }],
    });
    expect(undone).toEqual(['more', 'ship']);
  });

  it('[E6] is not reported if it ends', async () => {
    const { answer, cancel } = waiting(function* (does) {
      try {
        yield* ask('sure');
        yield* abort('enough');
      } finally {
        yield* unlock(does, 'a');
      }
      return 'done';
    });
    expect(await cancel()).toMatchObject({ uncompensated: [] });
    expect(await answer()).toMatchObject({ status: 'failed', uncompensated: [] });
  });
});
