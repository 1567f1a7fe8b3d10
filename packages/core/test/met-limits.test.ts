import type { CommitReason } from '../src/model/outcome.ts';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  abort,
  all,
  allSettled,
  compensator,
  elicit,
  now,
  OutcomeUnknown,
  patched,
  pivot,
  poll,
  race,
  saga,
  SagaLimitExceeded,
  step,
} from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { Program } from '../src/model/program.ts';
import type { ProgramLimits } from '../src/model/runtime.ts';
import type { Steps } from '../src/model/command.ts';
import { accepted, start, suspended, turn } from './support/drive.ts';
import { endsAtCommits, World } from './support/world.ts';

/** What a run did, in order. */
type Did = string[];

const book = (did: Did, id: string) =>
  step(id, () => void did.push(id), { compensate: () => void did.push(`undo ${id}`) });
const release = (did: Did) => compensator('release', z.object({}), () => void did.push('released'));
/** A step that only has an undo. */
const hold = (did: Did, id: string) =>
  step(id, () => undefined, { compensate: release(did).for(() => ({})) });

const bodies: Record<string, (did: Did) => Steps<unknown>> = {
  *'steps, one after the other'(did) {
    for (const id of ['a', 'b', 'c', 'd']) yield* book(did, id);
  },
  *'steps at the same time'(did) {
    yield* book(did, 'a');
    yield* all([book(did, 'b'), book(did, 'c'), book(did, 'd')]);
    yield* book(did, 'e');
  },
  *'a pivot'(did) {
    yield* book(did, 'a');
    yield* pivot('paid');
    yield* book(did, 'b');
    yield* pivot('shipped');
    yield* book(did, 'c');
  },
  *'a pivot beside a step'(did) {
    yield* book(did, 'a');
    const slow = async (): Promise<void> => {
      for (let ticks = 0; ticks < 50; ticks += 1) {
        await Promise.resolve();
      }
      did.push('b');
    };
    yield* all({
      paid: (function* (): Steps<void> {
        yield* pivot('paid');
        yield* now();
      })(),
      b: step('b', slow, { compensate: () => void did.push('undo b') }),
    });
  },
  *'steps that only have an undo'(did) {
    yield* hold(did, 'first');
    yield* book(did, 'a');
    yield* hold(did, 'second');
    yield* book(did, 'b');
  },
  *'looks at the clock'(did) {
    yield* now();
    yield* book(did, 'a');
    yield* now();
    yield* book(did, 'b');
    yield* now();
  },
  *'undos with a name'(did) {
    const named = release(did).for(() => ({}));
    yield* step('a', () => void did.push('a'), { compensate: named });
    yield* all([book(did, 'b'), step('c', () => void did.push('c'), { compensate: named })]);
  },
  *'an outcome that nobody knows'(did) {
    yield* book(did, 'a');
    const lost = (): never => {
      did.push('lost');
      throw new OutcomeUnknown('lost');
    };
    const options = {
      retry: 2,
      compensate: () => void did.push('undo lost'),
      unknown: 'compensate',
    } as const;
    yield* allSettled([step('lost', lost, options), book(did, 'b')]);
    yield* book(did, 'c');
  },
  *'a branch that has lost'(did) {
    yield* book(did, 'a');
    const aborted = ({ signal }: { readonly signal: AbortSignal }): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      });
    yield* race({
      slow: step('slow', aborted, {
        compensate: () => void did.push('undo slow'),
        unknown: 'compensate',
      }),
      fast: book(did, 'fast'),
    });
    yield* book(did, 'b');
  },
  *'an undo of several steps'(did) {
    yield* step('a', () => void did.push('a'), {
      *compensate() {
        yield* step('one', () => void did.push('undo one'));
        yield* step('two', () => void did.push('undo two'));
      },
    });
    yield* poll('ready', () => ({ done: true as const, value: 1 }), {
      every: 1_000,
      timeout: 9_000,
    });
    yield* book(did, 'b');
  },
};

const sagaOf = (body: (did: Did) => Steps<unknown>, did: Did): Program =>
  saga({ name: 'trip', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
    yield* body(did);
    return '';
  });

interface Run {
  readonly did: Did;
  readonly outcome: Outcome;
  /** Effects at the end of the first turn that met the limit. */
  readonly before: Did | undefined;
}

/**
 * Answers the question, and takes turn after turn, as a host with a guard does; or one turn, as one
 * without.
 */
async function run(
  body: (did: Did) => Steps<unknown>,
  limits: Partial<ProgramLimits>,
  {
    isGuarded,
    later = limits,
  }: { readonly isGuarded: boolean; readonly later?: Partial<ProgramLimits> },
): Promise<Run> {
  const did: Did = [];
  const world = new World();
  world.compensators.set('release', release(did));
  const program = sagaOf(body, did);
  const reasons: CommitReason[] = [];
  const settings = { budget: 1e9, replace: isGuarded ? endsAtCommits(reasons) : {} };
  let outcome = await start(program, {}, world, { ...settings, limits });
  let before: Did | undefined;
  if (outcome.status !== 'suspended') return { did, outcome, before };
  outcome = await turn(program, outcome.state, { sure: accepted({}) }, world, {
    ...settings,
    limits,
  });
  while (outcome.status === 'suspended') {
    expect(outcome).toMatchObject({ steps: [], retryAfterMs: 0 });
    const isMet = reasons.at(-1) === 'undo';
    if (isMet) before ??= [...did];
    outcome = await turn(program, outcome.state, {}, world, {
      ...settings,
      limits: isMet ? later : limits,
    });
  }
  return { did, outcome, before };
}

/** Outcome without the final state, which only a committed undo has. */
const resultOf = (outcome: Outcome): Partial<Outcome> => {
  const { state: _, ...result } = outcome;
  return result;
};

const hasUndone = (did: Did): boolean =>
  did.some((what) => what.startsWith('undo') || what === 'released');

describe('a saga that exceeds a limit', () => {
  const limits: Partial<ProgramLimits>[] = Array.from({ length: 14 }, (_, index) => [
    { maxJournalEntries: index + 1 },
    { maxCommands: index + 1 },
  ]).flat();

  test.each(Object.entries(bodies))(
    '[E1] [E3] is undone in a turn of its own with the same result as at once: %s',
    async (_, body) => {
      let met = 0;
      for (const limit of limits) {
        const { did, outcome, before } = await run(body, limit, { isGuarded: true });
        const atOnce = await run(body, limit, { isGuarded: false });
        const told = JSON.stringify(limit);
        expect([told, did]).toEqual([told, atOnce.did]);
        expect([told, resultOf(outcome)]).toEqual([told, resultOf(atOnce.outcome)]);
        if (outcome.status !== 'failed' || !hasUndone(did)) continue;
        if (!(outcome.error instanceof SagaLimitExceeded)) continue;
        met += 1;
        expect(before).toBeDefined();
        expect(hasUndone(before ?? [])).toBe(false);
        // The journal limit of the next turn does not matter.
        const later = { ...limit, maxJournalEntries: 1_000 };
        const elsewhere = await run(body, limit, { isGuarded: true, later });
        expect([told, elsewhere.did]).toEqual([told, did]);
        expect([told, resultOf(elsewhere.outcome)]).toEqual([told, resultOf(outcome)]);
      }
      expect(met).toBeGreaterThan(1);
    },
  );

  test('[T11] [E3] is undone if a patch exceeds the limit', async () => {
    function* body(did: Did): Steps<void> {
      yield* hold(did, 'first');
      yield* hold(did, 'second');
      yield* step('third', () => undefined, {
        *compensate() {
          yield* step('one', () => void did.push('undo one'));
        },
      });
      if (yield* patched('more')) yield* book(did, 'a');
      yield* abort('over');
    }
    for (let maxJournalEntries = 1; maxJournalEntries <= 9; maxJournalEntries += 1) {
      const { did, outcome } = await run(body, { maxJournalEntries }, { isGuarded: true });
      const atOnce = await run(body, { maxJournalEntries }, { isGuarded: false });
      expect([maxJournalEntries, did, resultOf(outcome)]).toEqual([
        maxJournalEntries,
        atOnce.did,
        resultOf(atOnce.outcome),
      ]);
    }
  });

  test('[T11] may have as many pivots as its journal has room for', async () => {
    const body = function* (): Steps<void> {
      yield* pivot('one');
      yield* pivot('two');
    };
    const one = { isGuarded: false };
    expect((await run(body, { maxJournalEntries: 3 }, one)).outcome.status).toBe('completed');
    expect((await run(body, { maxJournalEntries: 2 }, one)).outcome).toMatchObject({
      error: { code: 'limit_exceeded' },
    });
  });
});

test('[T11] [E9] a full journal still tells the turn of the undo that a step may have run', async () => {
  const did: Did = [];
  const world = new World();
  const program = sagaOf(function* () {
    yield* step('charge', () => void did.push('charge'), {
      compensate: () => void did.push('look up charge'),
      unknown: 'compensate',
    });
  }, did);
  const reasons: CommitReason[] = [];
  const replace = endsAtCommits(reasons);
  const limits = { maxJournalEntries: 1 };
  const waiting = suspended(await start(program, {}, world));
  const full = suspended(
    await turn(program, waiting.state, { sure: accepted({}) }, world, {
      limits,
      replace: { isInterrupted: true, ...replace },
    }),
  );
  expect(reasons).toEqual(['undo']);
  expect(await turn(program, full.state, {}, world, { limits, replace })).toMatchObject({
    status: 'failed',
    error: { code: 'limit_exceeded' },
    compensated: [{ stepId: 'charge' }],
  });
  expect(did).toEqual(['look up charge']);
});

test('[R3] a step that was undone by a mismatch is not undone again by another mismatch', async () => {
  const did: string[] = [];
  const away = new Set(['a', 'first']);
  const undo = (id: string) => (): void => {
    if (away.delete(id)) throw new Error('away');
    did.push(`undo ${id}`);
  };
  const retry = { attempts: 2, delay: 60_000, maxDelay: 60_000, jitter: false };
  const trip = (isUndone: boolean): Program =>
    saga({ name: 'trip', version: '1', reuse: 'ok', onMismatch: 'compensate' }, function* () {
      yield* step('first', () => undefined, { compensate: undo('first'), undo: { retry } });
      yield* step('a', () => 1, { compensate: undo('a'), undo: { retry } });
      yield* step('b', () => 1, isUndone ? { compensate: undo('b') } : {});
      throw new Error('no');
    });
  const world = new World();
  const settings = { budget: 30_000, maxHold: 0 };
  let outcome = await start(trip(true), {}, world, settings);
  while (outcome.status === 'suspended') {
    world.time += 60_000;
    outcome = await turn(trip(false), outcome.state, {}, world, settings);
  }
  expect(did).toEqual(['undo b', 'undo a', 'undo first']);
});

test('[E1] an error of the engine is stored under a guard before the undo begins', async () => {
  const did: Did = [];
  const world = new World();
  const program = saga({ name: 'broken', version: '1' }, function* () {
    yield* book(did, 'a');
    yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
    return 'done';
  });
  const broken = () => {
    throw new RangeError('no digest today');
  };
  const reasons: CommitReason[] = [];
  const guarded = { replace: { ...endsAtCommits(reasons), digest: broken } };
  const kept = await start(program, {}, world, guarded);
  expect(kept).toMatchObject({ status: 'suspended', steps: [] });
  expect(reasons).toEqual(['undo']);
  expect(did).toEqual(['a']);
  if (kept.status !== 'suspended') return;
  expect(await turn(program, kept.state, {}, world)).toMatchObject({
    status: 'failed',
    error: { name: 'RangeError', message: 'no digest today', public: false },
    compensated: [{ stepId: 'a' }],
  });
  expect(did).toEqual(['a', 'undo a']);
});
