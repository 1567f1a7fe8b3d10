import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplayMismatch, SagaLimitExceeded, TurnAborted } from '../src/index.ts';
import type { Outcome } from '../src/model/outcome.ts';
import { drive, turn, type Drive, type TurnTaken } from './support/drive.ts';
import { endings } from './support/random-endings.ts';
import {
  answerOf,
  anyRoutes,
  predict,
  safeRoutes,
  sampleAtHost,
  sagaOfTree,
  trees,
  type Effect,
  type Node,
  type Routes,
  type Run,
} from './support/random-saga.ts';
import { seeded, World, type TurnSettings } from './support/world.ts';

/** How a saga is driven. */
interface Mode {
  /** Draws the order in which server steps complete; undefined: in the order they were started. */
  readonly order?: number;
  /** A budget that one server step uses up. */
  readonly budget?: boolean;
  readonly unheld?: boolean;
  /** Draws which answers are sent in a turn, and in which order. */
  readonly partial?: number;
  /** Draws where questions go; undefined: to the client. */
  readonly routes?: number;
  /** They go anywhere, and elsewhere in each turn. */
  readonly wander?: boolean;
  /** A turn ends after each server step. */
  readonly stepwise?: boolean;
  /** After each turn comes one that only looks, and answers nothing. */
  readonly looks?: boolean;
}

interface Driven extends Drive {
  readonly run: Run;
  readonly settings: (turn: number) => TurnSettings;
  /** The time at which each turn was taken. */
  readonly times: readonly number[];
  /** How many effects had happened when each turn began. */
  readonly starts: readonly number[];
}

function newRun({ order, budget }: Mode): Run {
  return {
    world: new World(),
    effects: [],
    duration: budget === true ? 10 : 0,
    gated: order !== undefined,
    traces: [],
  };
}

function settingsOf(run: Run, mode: Mode): (turn: number) => TurnSettings {
  const { order, budget, stepwise, looks, unheld } = mode;
  return (turnNumber) => {
    const number = looks === true ? Math.ceil(turnNumber / 2) : turnNumber;
    run.world.order = order === undefined ? undefined : seeded(order + number);
    return {
      ...(budget === true ? { budget: 5 } : {}),
      ...(isLook(mode, turnNumber) ? { budget: Number.NEGATIVE_INFINITY } : {}),
      replace: {
        route: routesOf(mode, number),
        sample: sampleAtHost(run),
        commitsEach: stepwise === true,
        ...(unheld === true && turnNumber === 1 ? { defersEffects: 'vital' as const } : {}),
      },
    };
  };
}

const isLook = ({ looks }: Mode, turnNumber: number): boolean =>
  looks === true && turnNumber % 2 === 0;

function routesOf({ routes, wander }: Mode, turnNumber: number): Routes {
  if (routes === undefined) return () => 'ask';
  return wander === true ? anyRoutes(routes + turnNumber) : safeRoutes(routes);
}

async function driven(tree: Node, mode: Mode): Promise<Driven> {
  const run = newRun(mode);
  const times: number[] = [];
  const starts: number[] = [];
  const settings = settingsOf(run, mode);
  const draw = seeded(mode.partial ?? 0);
  const shuffled = <T>(list: readonly T[]): T[] =>
    list
      .map((item) => [draw(), item] as const)
      .toSorted(([a], [b]) => a - b)
      .map(([, item]) => item);
  const result = await drive({
    make: () => sagaOfTree(tree, run),
    world: run.world,
    answer: answerOf,
    settings: (number) => {
      times.push(run.world.time);
      starts.push(run.effects.length);
      return settings(number);
    },
    send: (answers, number) => {
      if (isLook(mode, number + 1)) return [];
      return mode.partial === undefined ? answers : shuffled(answers).filter(() => draw() < 0.6);
    },
    maxTurns: 2_000,
  });
  return { ...result, run, settings, times, starts };
}

function resultOf(outcome: Outcome): string {
  if (outcome.status === 'completed') return String(outcome.result);
  if (outcome.status !== 'failed') return outcome.status;
  const { name, code } = outcome.error as { name: string; code: unknown };
  return `error ${name} ${String(code)}`;
}

const sorted = (effects: readonly Effect[]): string[] =>
  effects
    .map(({ path, attempt, input }) => `${path} ${attempt} ${JSON.stringify(input)}`)
    .toSorted();

const logsOf = ({ told }: World): string[] =>
  told.flatMap((item) => ('log' in item ? [JSON.stringify(item.log)] : [])).toSorted();

/** What holds of every drive, whatever the saga. */
function assertSound({ run, outcome, turns }: Driven): void {
  // Nothing the engine says of itself: a saga that was not changed is never mismatched.
  if (outcome.status === 'failed') {
    expect(outcome.error).not.toBeInstanceOf(ReplayMismatch);
    expect(outcome.error).not.toBeInstanceOf(SagaLimitExceeded);
    expect((outcome.error as Error).name).not.toMatch(/^(?:Type|Authoring)Error$/);
  }
  for (const { outcome: each } of turns)
    expect(each.ignored.filter(({ why }) => why !== 'unknown')).toEqual([]);
  // Each instance reads the same values as the previous one, in the same order.
  for (let index = 1; index < run.traces.length; index += 1) {
    const before = run.traces[index - 1] as string[];
    expect(run.traces[index]?.slice(0, before.length)).toEqual(before);
  }
  // No attempt of a step is made twice on the way forward. (E1)
  const attempts = run.effects.map(({ path, attempt }) => `${path} ${attempt}`);
  expect(new Set(attempts).size).toBe(attempts.length);
  const values = run.world.told.flatMap((item) => ('progress' in item ? [item.progress] : []));
  for (let index = 1; index < values.length; index += 1) {
    expect(values[index]).toBeGreaterThan(values[index - 1] as number);
  }
}

function assertPredicted(tree: Node, each: Driven, mode: Mode): void {
  const { result, effects, logs } = predict(tree, routesOf(mode, 0));
  expect(resultOf(each.outcome)).toBe(result);
  expect(sorted(each.run.effects)).toEqual(sorted(effects));
  expect(logsOf(each.run.world)).toEqual(logs.map(String).toSorted());
  assertSound(each);
}

/** Takes a turn again that was taken: the same state, the same answers, on a fresh instance. */
async function again(
  tree: Node,
  each: Driven,
  index: number,
  mode: Mode,
  later: number = 0,
): Promise<{ outcome: Outcome; run: Run }> {
  const { before, answers } = each.turns[index] as TurnTaken;
  const run = newRun(mode);
  const receivedAt = each.times[index] as number;
  run.world.time = receivedAt + later;
  const { replace, ...rest } = settingsOf(run, mode)(index + 1);
  const settings = { ...rest, replace: later === 0 ? { ...replace } : { ...replace, receivedAt } };
  const outcome = await turn(sagaOfTree(tree, run), before, answers, run.world, settings);
  return { outcome, run };
}

const json = (value: unknown): string =>
  JSON.stringify(value, (_, item: unknown) => (item instanceof Error ? String(item) : item));
const seed = fc.integer({ min: 0, max: 1_000_000 });
const modes: fc.Arbitrary<Mode> = fc.record(
  {
    order: seed,
    budget: fc.boolean(),
    unheld: fc.boolean(),
    partial: seed,
    routes: seed,
    wander: fc.boolean(),
    stepwise: fc.boolean(),
  },
  { requiredKeys: [] },
);

const runs = Number(process.env['SAGA_RUNS'] ?? 200);

const examples: [string, Mode][] = [
  ['never suspended but for the client', {}],
  ['server steps that complete in any order', { order: 1 }],
  ['a checkpoint after every step', { budget: true }],
  ['a token before the first step', { unheld: true, stepwise: true }],
  ['answers in parts and in any order', { partial: 2 }],
  ['questions that other sources answer', { routes: 5 }],
  ['a turn for every server step', { stepwise: true, routes: 6 }],
  ['all of them', { order: 3, budget: true, unheld: true, partial: 4, routes: 7, stepwise: true }],
];

describe('a random saga', () => {
  it.each(examples)(
    '[R1] [W3] [U4] has the same result as a direct evaluation, with %s',
    async (_, mode) => {
      await fc.assert(
        fc.asyncProperty(trees({ wild: false }), seed, async (tree, drawn) => {
          const drawnMode = {
            ...mode,
            ...(mode.order === undefined ? {} : { order: mode.order + drawn }),
            ...(mode.partial === undefined ? {} : { partial: mode.partial + drawn }),
            ...(mode.routes === undefined ? {} : { routes: mode.routes + drawn }),
          };
          assertPredicted(tree, await driven(tree, drawnMode), drawnMode);
        }),
        { numRuns: runs },
      );
    },
  );

  it('[R1] [W3] has the same outcome with and without suspensions', async () => {
    await fc.assert(
      fc.asyncProperty(trees({ wild: false }), seed, seed, async (tree, routes, drawn) => {
        const whole = await driven(tree, { routes });
        const parts = await driven(tree, {
          routes,
          order: drawn,
          budget: true,
          stepwise: true,
          partial: drawn,
        });
        expect(resultOf(parts.outcome)).toBe(resultOf(whole.outcome));
        expect(sorted(parts.run.effects)).toEqual(sorted(whole.run.effects));
      }),
      { numRuns: runs },
    );
  });

  it('[R1] [W3] [W7] runs nothing in turns that only read the state', async () => {
    await fc.assert(
      fc.asyncProperty(trees({ wild: true }), modes, async (tree, mode) => {
        const each = await driven(tree, mode);
        const looked = await driven(tree, { ...mode, looks: true });
        expect(resultOf(looked.outcome)).toBe(resultOf(each.outcome));
        expect(looked.run.effects).toEqual(each.run.effects);
        for (const [index, { before, outcome }] of looked.turns.entries()) {
          if (index % 2 === 0 || outcome.status !== 'suspended') continue;
          const { head: _, ...texts } = before;
          expect(outcome.state).toMatchObject(texts);
        }
      }),
      { numRuns: runs },
    );
  });

  it('[R1] [U3] reads the same values on every instance, even if branches fail and share a variable', async () => {
    await fc.assert(
      fc.asyncProperty(trees({ wild: true }), modes, async (tree, mode) => {
        assertSound(await driven(tree, mode));
      }),
      { numRuns: 4 * runs },
    );
  });

  it('[R1] [U3] ends running branches in the same order on every instance', async () => {
    await fc.assert(
      fc.asyncProperty(endings(), modes, async (tree, mode) => {
        assertSound(await driven(tree, mode));
      }),
      { numRuns: 4 * runs },
    );
  });

  it('[E1] repeated from any token gives the same state, effects, and keys', async () => {
    await fc.assert(
      fc.asyncProperty(trees({ wild: true }), modes, seed, async (tree, mode, drawn) => {
        const each = await driven(tree, mode);
        const index = drawn % each.turns.length;
        const { outcome, run } = await again(tree, each, index, mode);
        expect(json(outcome)).toBe(json(each.turns[index]?.outcome));
        expect(run.effects).toEqual(
          each.run.effects.slice(each.starts[index], each.starts[index + 1]),
        );
        expect(run.traces[0]).toEqual(each.run.traces[index]);
      }),
      { numRuns: 2 * runs },
    );
  });

  it('[E1] [W6] takes the same branches when repeated later', async () => {
    const wait = fc.integer({ min: 1, max: 200 });
    await fc.assert(
      fc.asyncProperty(
        trees({ wild: true }),
        modes,
        seed,
        wait,
        async (tree, mode, drawn, later) => {
          const each = await driven(tree, mode);
          const index = drawn % each.turns.length;
          const { outcome, run } = await again(tree, each, index, mode, later);
          const { outcome: lost } = each.turns[index] as TurnTaken;
          expect(run.effects).toEqual(
            each.run.effects.slice(each.starts[index], each.starts[index + 1]),
          );
          expect(run.traces[0]).toEqual(each.run.traces[index]);
          expect(resultOf(outcome)).toBe(resultOf(lost));
          if (outcome.status === 'suspended' && lost.status === 'suspended') {
            expect(outcome.steps).toEqual(lost.steps);
            expect(outcome.state.structure).toBe(lost.state.structure);
          }
        },
      ),
      { numRuns: 2 * runs },
    );
  });

  it('[E1] repeated with another order of completion has the same effects, keys, and result', async () => {
    await fc.assert(
      fc.asyncProperty(trees({ wild: false }), seed, seed, async (tree, order, other) => {
        const each = await driven(tree, { order });
        const index = other % each.turns.length;
        const { outcome, run } = await again(tree, each, index, { order: other });
        const effects = each.run.effects.slice(each.starts[index], each.starts[index + 1]);
        expect(sorted(run.effects)).toEqual(sorted(effects));
        if (outcome.status !== 'suspended') {
          expect(resultOf(outcome)).toBe(resultOf(each.outcome));
          return;
        }
        // The fork continues independently from here.
        const answers = outcome.steps.map((step) => [step.stepId, answerOf(step)] as const);
        const rest = await drive({
          make: () => sagaOfTree(tree, run),
          world: run.world,
          from: outcome.state,
          answer: answerOf,
        });
        expect(answers.length).toBe(outcome.steps.length);
        expect(resultOf(rest.outcome)).toBe(resultOf(each.outcome));
        expect(sorted([...each.run.effects.slice(0, each.starts[index]), ...run.effects])).toEqual(
          sorted(each.run.effects),
        );
      }),
      { numRuns: 2 * runs },
    );
  });

  it('[U4] aborted at any effect leaves the previous token valid', async () => {
    await fc.assert(
      fc.asyncProperty(trees({ wild: false }), modes, seed, async (tree, mode, drawn) => {
        const each = await driven(tree, mode);
        if (each.run.effects.length === 0) return;
        const at = drawn % each.run.effects.length;
        const index = each.starts.findLastIndex((start) => start <= at);
        const { before, answers, outcome } = each.turns[index] as TurnTaken;
        const run = newRun(mode);
        run.world.time = each.times[index] as number;
        const controller = new AbortController();
        const push = run.effects.push.bind(run.effects);
        run.effects.push = (...effects) => {
          if (run.effects.length === at - (each.starts[index] as number))
            controller.abort(new Error('gone'));
          return push(...effects);
        };
        const settings = { ...settingsOf(run, mode)(index + 1), signal: controller.signal };
        await expect(
          turn(sagaOfTree(tree, run), before, answers, run.world, settings),
        ).rejects.toBeInstanceOf(TurnAborted);
        const retried = await again(tree, each, index, mode);
        expect(json(retried.outcome)).toBe(json(outcome));
      }),
      { numRuns: runs },
    );
  });
});
