import { array, nat, type Arbitrary } from 'fast-check';
import { ElicitationRefused, StepError, type Program } from '@mcp-saga/core';
import {
  answerGraceMs,
  type ClientAnswer,
  type EndRequest,
  type Outcome,
  type ProgramState,
  engineOf,
} from '@mcp-saga/core/program';
import { machineSaga, type MachineSagaOptions } from '@mcp-saga/xstate';
import { runtimeOf, World } from '../../../core/test/support/world.ts';
import type { MachineRecord, SagaRecord } from '../../src/model/machine-record.ts';
import { askOf, type StepEnd } from '../../src/author/step-logic.ts';
import { drawChart, makeMachine, type Chart } from './chart.ts';
import { Live } from './live.ts';
import { Tape } from './tape.ts';
import { WalkTooLong, WalkWorld } from './walk-world.ts';

/** What decides a walk. */
export const decisions: Arbitrary<number[]> = array(nat({ max: 59 }), {
  minLength: 600,
  maxLength: 600,
  size: 'max',
});

/** What a walk came to, told by both sides. */
export interface Told {
  readonly status: string;
  readonly turns: readonly object[];
  readonly trace: readonly string[];
  readonly effects: readonly string[];
  readonly result: unknown;
}

/** The figures of walks, so that a test can see that they went somewhere. */
export interface WalkFigures {
  readonly turns: number;
  readonly ended: string;
}

const maxTurns = 10;

/** A turn of a saga that waits. */
export type Suspended = Extract<Outcome, { readonly status: 'suspended' }>;

/** One move: time that passes, and answers that arrive together. */
export interface Move {
  readonly time: number;
  readonly answers: ReadonlyMap<string, Reply>;
}

type Reply = 'accept' | 'decline' | 'cancel' | 'error' | 'bad';

/** A walk that was walked twice. */
export interface Walked {
  readonly live: Told;
  readonly saga: Told;
  readonly figures: WalkFigures;
}

/**
 * Walks through a chart twice: as a live actor that is never suspended, and as a saga that is
 * nothing but a state. Undefined for a chart that does too much.
 */
export async function walk(numbers: readonly number[]): Promise<Walked | undefined> {
  const chart = drawChart(new Tape(numbers.slice(0, numbers.length / 2)));
  const tape = new Tape(numbers.slice(numbers.length / 2));
  const moves: Move[] = [];
  const live = await walkBriefly(chart, tape, moves);
  if (live === undefined) return undefined;
  const saga = await walkSaga(chart, moves);
  return { live, saga, figures: { turns: moves.length, ended: live.status } };
}

/** A walk as a watched saga, and its program again, in a new world. */
export interface WatchedWalk {
  readonly saga: Told;
  readonly anew: () => { readonly program: Program; readonly world: WalkWorld };
}

/**
 * A walk as a watched saga: the result of `watch` runs the turns. A saga that would continue after
 * the moves is ended. Undefined for a chart with too many transitions.
 */
export async function walkWatched(
  numbers: readonly number[],
  watch: (program: Program) => Program,
): Promise<WatchedWalk | undefined> {
  const chart = drawChart(new Tape(numbers.slice(0, numbers.length / 2)));
  const moves: Move[] = [];
  const live = await walkBriefly(chart, new Tape(numbers.slice(numbers.length / 2)), moves);
  if (live === undefined) return undefined;
  const saga = await walkSaga(chart, moves, watch, { error: new Error('enough') });
  const anew = (): { readonly program: Program; readonly world: WalkWorld } => {
    const world = new WalkWorld();
    return { program: programOf(chart, world), world };
  };
  return { saga, anew };
}

/** A walk as a live actor alone: the chart, and the moves that a saga can make as well. */
export async function planWalk(
  numbers: readonly number[],
): Promise<
  { readonly chart: Chart; readonly moves: readonly Move[]; readonly live: Told } | undefined
> {
  const chart = drawChart(new Tape(numbers.slice(0, numbers.length / 2)));
  const moves: Move[] = [];
  const live = await walkBriefly(chart, new Tape(numbers.slice(numbers.length / 2)), moves);
  return live === undefined ? undefined : { chart, moves, live };
}

async function walkBriefly(chart: Chart, tape: Tape, moves: Move[]): Promise<Told | undefined> {
  try {
    return await walkLive(chart, tape, moves);
  } catch (error) {
    if (error instanceof WalkTooLong) return undefined;
    throw error;
  }
}

async function walkLive(chart: Chart, tape: Tape, moves: Move[]): Promise<Told> {
  const world = new WalkWorld();
  const live = new Live(makeMachine(chart, world), world);
  const turns: object[] = [];
  await live.passTo(world.time);
  for (;;) {
    const { status, output } = live.root.getSnapshot();
    const told = { trace: world.trace, effects: world.effects, turns };
    if (status === 'done') {
      const tagged = live.root.getSnapshot().tags?.has('compensate') === true;
      if (!tagged) return { ...told, status, result: output };
    }
    if (status !== 'active')
      return { ...told, status: 'failed', result: undefined, effects: undone(world.effects) };
    const pending = live.pending();
    if (pending.size === 0 && live.due === undefined) {
      return { ...told, status: 'failed', result: 'machine_stuck', effects: undone(world.effects) };
    }
    turns.push({ pending: [...pending.keys()], picture: live.picture(), dues: live.dues });
    if (turns.length > maxTurns) return { ...told, status: 'walking', result: undefined };
    const move = drawMove(tape, live, world.time);
    moves.push(move);
    // Overdue events precede answers, which have a grace.
    const graced = move.answers.size === 0 ? move.time : move.time - answerGraceMs - 1;
    await live.passTo(Math.max(world.time, graced));
    world.time = move.time;
    for (const [path, actor] of live.pending()) {
      const reply = move.answers.get(path);
      // The question must be the same as when the move was drawn.
      if (reply !== undefined && pending.get(path) === actor)
        live.answer(actor, endOf(reply, path, actor.logic));
    }
    await live.passTo(move.time);
  }
}

function drawMove(tape: Tape, live: Live, now: number): Move {
  const pending = [...live.pending().keys()];
  const answers = new Map<string, Reply>();
  const passes = live.due !== undefined && (pending.length === 0 || tape.once(3));
  const time = passes
    ? Math.max(now, tape.of([live.due ?? now, (live.due ?? now) + 10_000 * tape.pick(6), now]))
    : now;
  const forced = pending.length === 0 ? -1 : tape.pick(pending.length);
  for (const [index, path] of pending.entries()) {
    if (index !== forced && !tape.once(3)) continue;
    if (index === forced && passes && tape.once(2)) continue;
    answers.set(
      path,
      tape.of(['accept', 'accept', 'accept', 'decline', 'cancel', 'error', 'bad'] as const),
    );
  }
  return { time: passes && pending.length === 0 ? Math.max(time, live.due ?? now) : time, answers };
}

/** The result of a reply with a live actor. */
function endOf(reply: Reply, path: string, logic: object): StepEnd {
  const step = path;
  if (reply === 'error')
    return { error: new StepError(step, { name: 'ClientError', message: 'no', code: -1 }) };
  const kind = kindOfAsk(logic, step);
  if (kind === 'roots') return { output: [{ uri: 'file:///x' }] };
  if (kind === 'sample') {
    return reply === 'bad'
      ? {
          error: new StepError(step, {
            name: 'InvalidAnswer',
            message: '',
            code: 'invalid_answer',
          }),
        }
      : { output: 'model' };
  }
  const action = reply === 'decline' ? 'decline' : 'cancel';
  const accepts = reply === 'accept' || reply === 'bad';
  if (kind === 'outcome')
    return { output: accepts ? { action: 'accept', content: { answer: 7 } } : { action } };
  return accepts ? { output: { answer: 7 } } : { error: new ElicitationRefused(step, action) };
}

function kindOfAsk(logic: object, step: string): 'ask' | 'outcome' | 'sample' | 'roots' {
  const ask = askOf(logic);
  const spec = ask?.toSpec(step, { name: '', n: 0 });
  if (spec?.kind === 'sample' || spec?.kind === 'roots') return spec.kind;
  return spec?.kind === 'elicit' && spec.asOutcome ? 'outcome' : 'ask';
}

/** What the client sends for a reply. */
function answerOf(reply: Reply, type: string): ClientAnswer {
  const provenance = 'client';
  if (reply === 'error') return { error: { code: -1, message: 'no' }, provenance };
  if (type === 'roots') return { result: { roots: [{ uri: 'file:///x' }] }, provenance };
  if (type === 'sampling') {
    const content = { type: 'text', text: '' };
    return {
      result: { role: 'assistant', model: reply === 'bad' ? 'bad' : 'model', content },
      provenance,
    };
  }
  if (reply === 'decline' || reply === 'cancel') return { result: { action: reply }, provenance };
  return { result: { action: 'accept', content: { answer: 7 } }, provenance };
}

/** What a saga that fails undoes: what could be undone, last first. */
function undone(effects: readonly string[]): readonly string[] {
  const done = effects.filter((effect) => effect.startsWith('undoable '));
  return [...effects, ...done.toReversed().map((effect) => `undo ${effect}`)];
}

/** A saga of a chart, made anew. */
export function programOf(
  chart: Chart,
  world: WalkWorld,
  edit?: (config: object, name: string) => object,
  options: Pick<MachineSagaOptions<undefined, undefined>, 'migrate' | 'drift'> = {},
): Program {
  const machine = makeMachine(chart, world, edit);
  return machineSaga({ name: 'walk', version: '1', reuse: 'ok', ...options }, machine as never);
}

/**
 * Takes one turn of a saga in the world of its walk. Nothing of the turn before is left but its
 * state.
 */
export async function takeTurn(
  program: Program,
  world: WalkWorld,
  started: Set<string>,
  state: ProgramState | undefined,
  answers: ReadonlyMap<string, ClientAnswer>,
  turn: number,
  ended?: EndRequest,
): Promise<Outcome> {
  const repeated: string[] = [];
  const runtime = runtimeOf(new World(), {
    turn,
    replace: {
      now: () => world.time,
      deadline: Number.POSITIVE_INFINITY,
      maxHold: 0,
      sleep: (_, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => resolve());
        }),
      observe: ({ type, path }) => {
        if (type === 'started' && started.has(path)) repeated.push(path);
        if (type === 'started') started.add(path);
      },
    },
  });
  const outcome = engineOf(program).advance(
    state ?? (await engineOf(program).begin({})),
    answers,
    runtime,
    ended,
  );
  let isOver = false;
  void outcome.finally(() => {
    isOver = true;
  });
  // oxlint-disable-next-line no-unmodified-loop-condition -- it is set when it has ended
  while (!isOver) await world.flush();
  // Each effect has a name of its own, and so an idempotency key of its own.
  if (repeated.length > 0) throw new Error(`'${repeated.join()}' ran twice`);
  return await outcome;
}

/** What a turn that waits says of the saga. */
export function turnOf({ state, steps }: Suspended): object {
  const [record] = JSON.parse(`[${state.server}]`) as [SagaRecord];
  return {
    pending: steps.map(({ stepId }) => pathOf(stepId)),
    picture: pictureOf(record.m),
    dues: (record.t ?? []).map(([at]) => at).toSorted((one, other) => one - other),
  };
}

/** The answers of a client for a move. */
export function answersTo({ steps }: Suspended, move: Move): ReadonlyMap<string, ClientAnswer> {
  const answers = new Map<string, ClientAnswer>();
  for (const { stepId, type } of steps) {
    const reply = move.answers.get(pathOf(stepId));
    if (reply !== undefined) answers.set(stepId, answerOf(reply, type));
  }
  return answers;
}

/** The end of a saga, told as that of a live actor. */
export function endedAs(outcome: Exclude<Outcome, Suspended>): Pick<Told, 'status' | 'result'> {
  if (outcome.status === 'completed') return { status: 'done', result: outcome.result };
  if (outcome.status !== 'failed') throw new Error(outcome.status);
  const { code } = Object(outcome.error) as { readonly code?: string };
  if (code === 'machine_refused' || outcome.uncompensated.length > 0) throw outcome.error;
  return { status: 'failed', result: code === 'machine_stuck' ? code : undefined };
}

async function walkSaga(
  chart: Chart,
  moves: readonly Move[],
  watch: (program: Program) => Program = (program) => program,
  end?: EndRequest,
): Promise<Told> {
  const world = new WalkWorld();
  const started = new Set<string>();
  const turns: object[] = [];
  const advance = async (...turn: Tail<Parameters<typeof takeTurn>>): Promise<Outcome> =>
    await takeTurn(watch(programOf(chart, world)), world, started, ...turn);
  let outcome = await advance(undefined, new Map(), 1);
  for (let turn = 2; ; turn += 1) {
    const told = { trace: world.trace, effects: world.effects, turns };
    if (outcome.status !== 'suspended') return { ...told, ...endedAs(outcome) };
    turns.push(turnOf(outcome));
    const move = moves[turn - 2];
    if (move === undefined) {
      if (end !== undefined) await advance(outcome.state, new Map(), turn, end);
      return { ...told, status: 'walking', result: undefined };
    }
    world.time = move.time;
    outcome = await advance(outcome.state, answersTo(outcome, move), turn);
  }
}

type Tail<T extends readonly unknown[]> = T extends readonly [unknown, unknown, unknown, ...infer R]
  ? R
  : never;

function pathOf(stepId: string): string {
  return stepId.replace(/@\d+$/, '');
}

function pictureOf({ v, c = {}, k = {} }: MachineRecord): unknown {
  const machines = Object.entries(k).flatMap(([id, child]) =>
    'm' in child && child.m.s === undefined ? [[id, pictureOf(child.m)] as const] : [],
  );
  return { value: v, context: c, machines: Object.fromEntries(machines) };
}
