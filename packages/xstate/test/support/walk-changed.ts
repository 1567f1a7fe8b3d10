import { isDeepStrictEqual } from 'node:util';
import type { Outcome } from '@mcp-saga/core/program';
import type { MachineSagaOptions } from '@mcp-saga/xstate';
import type { Chart } from './chart.ts';
import { drawEdit, type ChartEdit } from './edit-chart.ts';
import { Tape } from './tape.ts';
import {
  answersTo,
  endedAs,
  planWalk,
  programOf,
  takeTurn,
  turnOf,
  type Move,
  type Suspended,
  type Told,
} from './walk.ts';
import { WalkTooLong, WalkWorld } from './walk-world.ts';

type Migrate = NonNullable<MachineSagaOptions<undefined, undefined>['migrate']>;

/** What became of a saga whose chart was changed under its state. */
export interface ChangedWalk {
  readonly edit: string;
  readonly migration: string;
  readonly end: 'mismatch' | 'continued' | 'continued as before';
  /** What does not hold; empty where all does. */
  readonly problems: readonly string[];
}

/**
 * Walks through a chart as a saga, changes the chart while the saga waits, and continues. Undefined
 * if there is nothing to change: the saga ends before, or XState refuses the changed chart.
 */
export async function walkChanged(
  numbers: readonly number[],
  changes: readonly number[],
): Promise<ChangedWalk | undefined> {
  const planned = await planWalk(numbers);
  if (planned === undefined) return undefined;
  const { chart, moves, live } = planned;
  const tape = new Tape(changes);
  const at = tape.pick(moves.length + 1);
  const world = new WalkWorld();
  const walk = new SagaWalk(chart, world);
  const waiting = await walk.go(moves.slice(0, at));
  if (waiting === undefined) return undefined;
  const edit = drawEdit(tape, machinesOf(chart));
  const [migration, migrate] = drawMigration(tape);
  const drift = tape.once(5) ? 'refuse' : 'compatible';
  try {
    programOf(chart, new WalkWorld(), edit.apply);
  } catch {
    return undefined;
  }
  const problems: string[] = [];
  const holds = (is: boolean, problem: string): void => void (is || problems.push(problem));
  const before = { ...turnOf(waiting), did: [...world.trace, ...world.effects] };
  walk.change(edit.apply, { drift, ...(migrate === undefined ? {} : { migrate }) });
  const looked = await walk.turn(waiting, new Map());
  const didNothing = isDeepStrictEqual([...world.trace, ...world.effects], before.did);
  const told = { edit: edit.kind, migration, problems };
  if (looked.status !== 'suspended') {
    const { error, compensated, uncompensated } = looked as Extract<Outcome, { status: 'failed' }>;
    const { code } = Object(error) as { readonly code?: string };
    holds(code === 'replay_mismatch', `it is ${looked.status}: ${String(error)}`);
    holds(isDeepStrictEqual([compensated, uncompensated], [[], []]), 'it was undone');
    holds(didNothing, 'it did something');
    // The older code still fits.
    walk.change(undefined, {});
    holds(
      isDeepStrictEqual(await walk.toEnd(waiting, moves.slice(at)), live),
      'its state is no longer good',
    );
    return { ...told, end: 'mismatch' };
  }
  if (migration !== 'moves it') {
    const { did: _, ...kept } = before;
    holds(didNothing, 'it did something');
    holds(pictureOf(turnOf(looked)) === pictureOf(kept), 'it waits for something else');
  }
  const end = await walk.toEnd(looked, moves.slice(at)).catch((error: unknown) => {
    if (!(error instanceof WalkTooLong)) holds(false, `it failed: ${String(error)}`);
    return undefined;
  });
  if (!edit.isNeutral || migration === 'moves it') return { ...told, end: 'continued' };
  holds(isDeepStrictEqual(end, live), 'it did something else');
  return { ...told, end: 'continued as before' };
}

/** A saga that walks, and the code that it has now. */
class SagaWalk {
  readonly #chart: Chart;
  readonly #world: WalkWorld;
  readonly #started = new Set<string>();
  readonly #turns: object[] = [];
  #edit: ChartEdit['apply'] | undefined;
  #options: Parameters<typeof programOf>[3] = {};
  #turn = 0;

  constructor(chart: Chart, world: WalkWorld) {
    this.#chart = chart;
    this.#world = world;
  }

  change(
    edit: ChartEdit['apply'] | undefined,
    options: NonNullable<Parameters<typeof programOf>[3]>,
  ): void {
    this.#edit = edit;
    this.#options = options;
  }

  async turn(
    before: Suspended | undefined,
    answers: Parameters<typeof takeTurn>[4],
    turn: number = this.#turn + 1,
  ): Promise<Outcome> {
    this.#turn = turn;
    const program = programOf(this.#chart, this.#world, this.#edit, this.#options);
    return await takeTurn(program, this.#world, this.#started, before?.state, answers, turn);
  }

  /** Starts, and takes moves; undefined if it ends. */
  async go(moves: readonly Move[]): Promise<Suspended | undefined> {
    let outcome = await this.turn(undefined, new Map());
    for (const move of moves) {
      if (outcome.status !== 'suspended') return undefined;
      this.#turns.push(turnOf(outcome));
      outcome = await this.#move(outcome, move);
    }
    return outcome.status === 'suspended' ? outcome : undefined;
  }

  /** Takes the moves that are left. */
  async toEnd(from: Suspended, moves: readonly Move[]): Promise<Told> {
    const { trace, effects } = this.#world;
    const told = { trace, effects, turns: this.#turns };
    let outcome: Outcome = from;
    for (const move of moves) {
      if (outcome.status !== 'suspended') break;
      this.#turns.push(turnOf(outcome));
      outcome = await this.#move(outcome, move);
    }
    if (outcome.status !== 'suspended') return { ...told, ...endedAs(outcome) };
    this.#turns.push(turnOf(outcome));
    return { ...told, status: 'walking', result: undefined };
  }

  async #move(outcome: Suspended, move: Move): Promise<Outcome> {
    this.#world.time = Math.max(this.#world.time, move.time);
    return await this.turn(outcome, answersTo(outcome, move));
  }
}

/**
 * A turn as text. One region alone is written otherwise than the same state in a state that is not
 * parallel.
 */
function pictureOf(turn: object): string {
  return JSON.stringify(turn).replaceAll(/\{("[^"]+"):\{\}\}/g, '$1');
}

function machinesOf(chart: Chart, name: string = 'm'): readonly string[] {
  const below = Object.entries(chart.children).flatMap(([src, child]) =>
    machinesOf(child, `${name}/${src}`),
  );
  // What runs most is changed most.
  return [name, name, name, ...below];
}

function drawMigration(tape: Tape): readonly [string, Migrate | undefined] {
  const pick = tape.pick(60);
  return tape.of<readonly [string, Migrate | undefined]>([
    ['is none', undefined],
    ['is none', undefined],
    ['is none', undefined],
    ['keeps it', (state) => state],
    [
      'throws',
      () => {
        throw new Error('not this one');
      },
    ],
    ['returns nonsense', () => nonsense[pick % nonsense.length] as never],
    ['moves it', (state) => moved(state, pick)],
  ]);
}

const nonsense: readonly unknown[] = [
  undefined,
  null,
  1,
  '',
  [],
  {},
  { value: 'm_1' },
  { value: 'm_1', context: {}, children: {} },
  { value: 1, context: {}, children: {}, delays: [] },
  { value: {}, context: {}, children: {}, delays: [] },
  { value: 'm_1', context: [], children: {}, delays: [] },
  { value: 'm_1', context: { f: () => 1 }, children: {}, delays: [] },
  { value: 'm_1', context: {}, children: { x: null }, delays: [] },
  { value: 'm_1', context: {}, children: { x: { kept: { z: 1 } } }, delays: [] },
  { value: 'm_1', context: {}, children: {}, delays: [{}] },
  { value: 'm_1', context: {}, children: {}, delays: [{ at: Number.NaN, actor: '', id: '' }] },
  { value: 'm_1', context: {}, children: {}, delays: [], history: { m: 'm_1' } },
];

function moved(state: Parameters<Migrate>[0], pick: number): ReturnType<Migrate> {
  const { value, children, delays } = state;
  const ids = Object.keys(children);
  const { [ids[pick % Math.max(1, ids.length)] ?? '']: _, ...fewer } = children;
  const all: readonly ReturnType<Migrate>[] = [
    { ...state, children: {} },
    { ...state, children: fewer },
    { ...state, delays: [] },
    { ...state, delays: delays.slice(1) },
    { ...state, delays: [...delays, ...delays] },
    { ...state, delays: [{ at: 1e12, actor: '', id: 'added', event: { type: 'PING' } }] },
    { ...state, value: `m_${1 + (pick % 5)}` },
    {
      ...state,
      value: typeof value === 'string' ? { [value]: {} } : (Object.keys(value)[0] ?? ''),
    },
    { ...state, value: `m_${1 + (pick % 5)}`, children: {}, delays: [] },
    { ...state, children: { ...children, added: { src: 'ask', input: { name: 'added', n: 1 } } } },
    { ...state, children: { ...children, added: { src: 'gone' } } },
    { ...state, context: {} },
  ];
  return all[pick % all.length] as ReturnType<Migrate>;
}
