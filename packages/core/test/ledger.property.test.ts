import { engineOf } from '@mcp-saga/core/program';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplayMismatch, SagaCancelled, SagaLimitExceeded, TurnAborted } from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import type { ProgramState } from '../src/model/program-state.ts';
import { drive, overTheWire, turn, type TurnTaken } from './support/drive.ts';
import { Ledger, pathOf, type Fault } from './support/provider.ts';
import {
  answerOf,
  cancelOf,
  pieces,
  sagaOfPiece,
  type Piece,
  type Stage,
} from './support/ledger-saga.ts';
import {
  continuesAtCommits,
  endsAtCommits,
  runtimeOf,
  seeded,
  World,
  type TurnSettings,
} from './support/world.ts';

/** How a saga is driven. */
interface Mode {
  /** Draws the order in which server steps complete; undefined: in the order they were started. */
  readonly order?: number;
  /** A budget that one server step uses up, so that undoing is checkpointed as well. */
  readonly budget?: boolean;
  /** Milliseconds that the client takes for its answers. */
  readonly thinks?: number;
}

interface Played {
  readonly stage: Stage;
  readonly turns: readonly TurnTaken[];
  readonly outcome: Outcome;
  readonly times: readonly number[];
  /** How many calls the provider had had when each turn began. */
  readonly starts: readonly number[];
}

function newStage({ order, budget }: Mode): Stage {
  const world = new World();
  const ledger = new Ledger(world, {
    duration: budget === true ? 10 : 0,
    gated: order !== undefined,
  });
  const stage = { world, ledger, traces: [] };
  world.compensators.set('cancel', cancelOf(stage));
  return stage;
}

const settingsOf = ({ world }: Stage, { order, budget }: Mode, number: number): TurnSettings => {
  world.order = order === undefined ? undefined : seeded(order + number);
  return budget === true ? { budget: 5, maxHold: 25 } : {};
};

interface PlayOptions {
  readonly stage?: Stage;
  readonly lean?: number;
  readonly from?: ProgramState;
}

async function play(piece: Piece, mode: Mode, options: PlayOptions = {}): Promise<Played> {
  const { stage = newStage(mode), lean = 0, from } = options;
  const times: number[] = [];
  const starts: number[] = [];
  const { outcome, turns } = await drive({
    make: () => sagaOfPiece(piece, stage),
    world: stage.world,
    ...(from === undefined ? {} : { from }),
    answer: (step) => {
      stage.world.time += mode.thinks ?? 0;
      return answerOf(lean)(step);
    },
    settings: (number) => {
      times.push(stage.world.time);
      starts.push(stage.ledger.calls.length);
      return settingsOf(stage, mode, number);
    },
    maxTurns: 1_000,
  });
  return { stage, turns, outcome, times, starts };
}

/**
 * Drives a saga whose requests die on the way: each is taken again with the last token the client
 * has.
 */
async function playThroughCrashes(piece: Piece, mode: Mode, stage: Stage): Promise<Outcome> {
  let state = await engineOf(sagaOfPiece(piece, stage)).begin({});
  let answers: TurnTaken['answers'] = new Map();
  for (let number = 1; number < 1_000; number += 1) {
    const controller = new AbortController();
    stage.ledger.crash = () => controller.abort(new Error('gone'));
    const settings = { ...settingsOf(stage, mode, number), signal: controller.signal };
    let outcome: Outcome;
    try {
      outcome = await turn(sagaOfPiece(piece, stage), state, answers, stage.world, settings);
    } catch (error) {
      if (!(error instanceof TurnAborted)) throw error;
      continue;
    }
    if (outcome.status !== 'suspended') return outcome;
    if (outcome.steps.length === 0) stage.world.time += outcome.retryAfterMs ?? 0;
    ({ state } = outcome);
    answers = new Map(outcome.steps.map((step) => [step.stepId, answerOf(0)(step)] as const));
  }
  throw new Error('the saga did not end');
}

const nameOf = (outcome: Outcome): string =>
  outcome.status === 'failed' ? `failed: ${(outcome.error as Error).name}` : outcome.status;
const idsOf = (undone: readonly { readonly stepId: string }[]): string[] =>
  undone.map(({ stepId }) => stepId).toSorted();

/** What does not depend on the clock and on the order of completion. */
function summaryOf(outcome: Outcome, { ledger }: Stage): unknown {
  return {
    end: nameOf(outcome),
    undone:
      outcome.status === 'failed'
        ? [idsOf(outcome.compensated), idsOf(outcome.uncompensated)]
        : undefined,
    ledger: [...ledger.entries].map(([key, { on }]) => `${key} ${on}`).toSorted(),
  };
}

function stepsOf(piece: Piece): Extract<Piece, { kind: 'step' }>[] {
  switch (piece.kind) {
    case 'step':
      return [piece];
    case 'sequence':
      return piece.pieces.flatMap(stepsOf);
    case 'loop':
    case 'scope':
    case 'call':
      return stepsOf(piece.body);
    case 'all':
    case 'allSettled':
    case 'race':
    case 'each':
      return piece.branches.flatMap(stepsOf);
    case 'try':
      return [piece.body, piece.catch, piece.finally].flatMap((inner) =>
        inner === undefined ? [] : stepsOf(inner),
      );
    case 'ask':
    case 'hold':
    case 'pivot':
    case 'throw':
    case 'abort':
    case 'checkpoint':
    case 'patched':
    case 'sleep':
    case 'poll':
      return [];
  }
}

/** Nothing the engine says of itself: a saga that was not changed is never mismatched. */
function assertOwnEnd(outcome: Outcome): void {
  if (outcome.status !== 'failed') return;
  expect(outcome.error).not.toBeInstanceOf(ReplayMismatch);
  expect(outcome.error).not.toBeInstanceOf(SagaLimitExceeded);
  expect((outcome.error as Error).name).not.toMatch(/^(?:Type|Authoring)Error$/);
}

/** The world is restored, or the uncompensated steps are exactly the rest. (E3) */
function assertRestored(outcome: Outcome, { ledger }: Stage, lostUndos = false): void {
  const entries = [...ledger.entries];
  if (outcome.status !== 'failed') {
    expect(ledger.undone).toEqual(new Set());
    expect(entries.filter(([, { on }]) => !on)).toEqual([]);
    return;
  }
  const compensated = idsOf(outcome.compensated);
  const uncompensated = idsOf(outcome.uncompensated);
  expect(new Set([...compensated, ...uncompensated]).size).toBe(
    compensated.length + uncompensated.length,
  );
  const settled = new Set(ledger.pivots.at(-1));
  for (const [key, { path, on }] of entries) {
    const where = [compensated.includes(path), uncompensated.includes(path)];
    if (settled.has(key)) expect([path, on, ...where]).toEqual([path, true, false, false]);
    else if (!on && !lostUndos) expect([path, ...where]).toEqual([path, true, false]);
    else if (on) expect([path, where[0]]).toEqual([path, false]);
  }
  for (const path of compensated) {
    // Compensated steps are undone, including steps of unknown outcome.
    expect([path, entries.filter(([, entry]) => entry.path === path && entry.on)]).toEqual([
      path,
      [],
    ]);
  }
}

/** Each step with an undo is compensated or uncompensated. */
function assertNothingForgotten(piece: Piece, outcome: Outcome, { ledger }: Stage): void {
  if (outcome.status !== 'failed') return;
  const all = stepsOf(piece);
  const listed = new Set([...idsOf(outcome.compensated), ...idsOf(outcome.uncompensated)]);
  const settled = new Set(ledger.pivots.at(-1));
  for (const [key, { path, on }] of ledger.entries) {
    const id = (path.split('/').at(-1) as string).replace(/[(#].*$/, '');
    const made = all.filter((each) => each.id === id);
    if (on && !settled.has(key) && made.every(({ undo }) => undo !== 'none'))
      expect([path, listed.has(path)]).toEqual([path, true]);
  }
}

/**
 * Each instance reads the same values as the previous one, and no effect repeats on the way
 * forward.
 */
function assertSound({ stage, outcome }: Played): void {
  assertOwnEnd(outcome);
  for (let index = 1; index < stage.traces.length; index += 1) {
    const before = stage.traces[index - 1] as string[];
    expect(stage.traces[index]?.slice(0, before.length)).toEqual(before);
  }
  const { calls } = stage.ledger;
  expect(new Set(calls).size).toBe(calls.length);
}

const seed = fc.integer({ min: 0, max: 1_000_000 });
const modes: fc.Arbitrary<Mode> = fc.record(
  { order: seed, budget: fc.boolean(), thinks: fc.constantFrom(0, 1_000, 10_000) },
  { requiredKeys: [] },
);
const runs = Number(process.env['SAGA_RUNS'] ?? 200);

/** A runtime that never commits, ends at commits, or continues behind them. */
const committing = {
  never: () => ({}),
  ends: () => endsAtCommits(),
  continues: () => continuesAtCommits(),
};

describe('a random saga with undos', () => {
  it('[R1] [E3] ends and undoes the same with a suspension at every point and without any', async () => {
    await fc.assert(
      fc.asyncProperty(pieces({ wild: false }), seed, async (piece, order) => {
        const never = await play(piece, {});
        const everywhere = await play(piece, { order, budget: true, thinks: 1_000 });
        assertSound(never);
        assertSound(everywhere);
        expect(summaryOf(everywhere.outcome, everywhere.stage)).toEqual(
          summaryOf(never.outcome, never.stage),
        );
        assertRestored(never.outcome, never.stage);
        assertRestored(everywhere.outcome, everywhere.stage);
        assertNothingForgotten(piece, never.outcome, never.stage);
      }),
      { numRuns: runs },
    );
  });

  it('[E3] restores the world or reports the rest, even if branches fail, race, and time out', async () => {
    await fc.assert(
      fc.asyncProperty(pieces({ wild: true }), modes, async (piece, mode) => {
        const played = await play(piece, mode);
        assertSound(played);
        assertRestored(played.outcome, played.stage);
        assertNothingForgotten(piece, played.outcome, played.stage);
      }),
      { numRuns: 4 * runs },
    );
  });

  it('[E1] [E3] runs each effect once if requests die anywhere, during an undo included', async () => {
    await fc.assert(
      fc.asyncProperty(
        pieces({ wild: false }),
        fc.boolean(),
        fc.array(fc.tuple(seed, fc.constantFrom<Fault>('crashes before', 'crashes after')), {
          minLength: 1,
          maxLength: 3,
        }),
        async (piece, budget, crashes) => {
          const mode = { budget };
          const whole = await play(piece, mode);
          if (whole.stage.ledger.calls.length === 0) return;
          const stage = newStage(mode);
          const at = new Map(
            crashes.map(([draw, fault]) => [draw % whole.stage.ledger.calls.length, fault]),
          );
          stage.ledger.fault = (_, __, index) => at.get(index);
          const outcome = await playThroughCrashes(piece, mode, stage);
          expect(summaryOf(outcome, stage)).toEqual(summaryOf(whole.outcome, whole.stage));
          expect([...stage.ledger.undone].toSorted()).toEqual(
            [...whole.stage.ledger.undone].toSorted(),
          );
          assertRestored(outcome, stage);
        },
      ),
      { numRuns: 2 * runs },
    );
  });

  it.each<Fault>(['fails', 'is lost'])(
    '[E3] [E4] restores the world or reports the rest if a call %s permanently',
    async (fault) => {
      await fc.assert(
        fc.asyncProperty(pieces({ wild: true }), modes, seed, async (piece, mode, draw) => {
          const whole = await play(piece, mode);
          const { calls } = whole.stage.ledger;
          if (calls.length === 0) return;
          const [broken] = (calls[draw % calls.length] as string).split(' ');
          const stage = newStage(mode);
          stage.ledger.fault = (key) => (key === broken ? fault : undefined);
          const played = await play(piece, mode, { stage });
          assertSound(played);
          assertRestored(
            played.outcome,
            stage,
            fault === 'is lost' && broken?.startsWith('undo:') === true,
          );
          assertNothingForgotten(piece, played.outcome, stage);
        }),
        { numRuns: 2 * runs },
      );
    },
  );

  it('[E1] [E7] repeats no effect, and creates no new key for it, on any fork', async () => {
    await fc.assert(
      fc.asyncProperty(pieces({ wild: true }), modes, seed, async (piece, mode, draw) => {
        const played = await play(piece, mode);
        const index = draw % played.turns.length;
        const { before } = played.turns[index] as TurnTaken;
        const { ledger } = played.stage;
        const earlier = new Set(ledger.calls.slice(0, played.starts[index]));
        const keys = new Map([...ledger.entries].map(([key, { path }]) => [path, key]));
        const from = ledger.calls.length;
        // The pivots of the first run do not count for the fork.
        ledger.pivots.length = 0;
        const fork = await play(piece, mode, { stage: played.stage, from: before, lean: draw + 1 });
        assertOwnEnd(fork.outcome);
        for (const call of ledger.calls.slice(from)) {
          expect(earlier.has(call)).toBe(false);
          const key = call.split(' ', 1)[0] as string;
          if (key.startsWith('do:')) expect(keys.get(pathOf(key)) ?? key).toBe(key);
        }
      }),
      { numRuns: 2 * runs },
    );
  });

  it('[E6] undoes all steps if cancelled at any turn, over several turns if needed', async () => {
    await fc.assert(
      fc.asyncProperty(pieces({ wild: true }), modes, seed, async (piece, mode, draw) => {
        const whole = await play(piece, mode);
        // Before its first turn, a saga cannot be cancelled.
        if (whole.turns.length === 1) return;
        const index = 1 + (draw % (whole.turns.length - 1));
        const stage = newStage(mode);
        let state = await engineOf(sagaOfPiece(piece, stage)).begin({});
        for (const [number, { answers }] of whole.turns.slice(0, index).entries()) {
          stage.world.time = whole.times[number] as number;
          const outcome = await turn(
            sagaOfPiece(piece, stage),
            state,
            answers,
            stage.world,
            settingsOf(stage, mode, number + 1),
          );
          if (outcome.status !== 'suspended') throw new Error('it has ended');
          ({ state } = outcome);
        }
        stage.world.time = whole.times[index] as number;
        let outcome = await engineOf(sagaOfPiece(piece, stage)).advance(
          overTheWire(state),
          new Map(),
          runtimeOf(stage.world, { turn: index + 1, ...settingsOf(stage, mode, index + 1) }),
          { error: new SagaCancelled('bored') },
        );
        if (outcome.status === 'suspended') {
          expect(outcome.steps).toEqual([]);
          ({ outcome } = await play(piece, mode, { stage, from: outcome.state }));
        }
        assertOwnEnd(outcome);
        expect(outcome.status).toBe('failed');
        assertRestored(outcome, stage);
        assertNothingForgotten(piece, outcome, stage);
        const { calls } = stage.ledger;
        expect(new Set(calls).size).toBe(calls.length);
      }),
      { numRuns: 2 * runs },
    );
  });

  it.each(['maxJournalEntries', 'maxCommands'] as const)(
    '[T11] [E3] undoes all effects if it exceeds %s anywhere',
    async (limit) => {
      await fc.assert(
        fc.asyncProperty(
          pieces({ wild: true }),
          fc.record({ order: seed }),
          fc.nat(25),
          async (piece, mode, most) => {
            // This property does not cover a pivot at the limit.
            fc.pre(!JSON.stringify(piece).includes('pivot'));
            const stage = newStage(mode);
            const { outcome } = await drive({
              make: () => sagaOfPiece(piece, stage),
              world: stage.world,
              answer: answerOf(0),
              settings: (number) => ({
                ...settingsOf(stage, mode, number),
                limits: { [limit]: most },
              }),
            });
            expect(outcome.status === 'failed' && outcome.error instanceof ReplayMismatch).toBe(
              false,
            );
            assertRestored(outcome, stage);
            assertNothingForgotten(piece, outcome, stage);
          },
        ),
        { numRuns: 2 * runs },
      );
    },
  );

  it.each(['maxJournalEntries', 'maxCommands'] as const)(
    '[T11] [R1] [E3] replays its own journal, and undoes or reports all effects, at any %s',
    async (limit) => {
      const kept = fc.record({
        commits: fc.constantFrom('never', 'ends', 'continues' as const),
        commitsEach: fc.boolean(),
      });
      await fc.assert(
        fc.asyncProperty(
          pieces({ wild: true }),
          modes,
          kept,
          fc.nat(25),
          async (piece, mode, { commits, commitsEach }, most) => {
            // This property does not cover a pivot at the limit.
            fc.pre(!JSON.stringify(piece).includes('pivot'));
            const stage = newStage(mode);
            const { outcome } = await drive({
              make: () => sagaOfPiece(piece, stage),
              world: stage.world,
              answer: (step) => {
                stage.world.time += mode.thinks ?? 0;
                return answerOf(0)(step);
              },
              settings: (number) => ({
                ...settingsOf(stage, mode, number),
                limits: { [limit]: most },
                replace: { ...committing[commits](), commitsEach },
              }),
              maxTurns: 1_000,
            });
            expect(outcome.status === 'failed' && outcome.error instanceof ReplayMismatch).toBe(
              false,
            );
            assertRestored(outcome, stage);
            assertNothingForgotten(piece, outcome, stage);
            for (const [index, before] of stage.traces.slice(0, -1).entries())
              expect(stage.traces[index + 1]?.slice(0, before.length)).toEqual(before);
            const { calls } = stage.ledger;
            expect(new Set(calls).size).toBe(calls.length);
          },
        ),
        { numRuns: 4 * runs },
      );
    },
  );
});
