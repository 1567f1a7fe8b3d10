import { engineOf } from '@mcp-saga/core/program';
import type { Json } from '../../src/index.ts';
import type { ClientAnswer, ClientStep } from '../../src/model/client-step.ts';
import type { Outcome } from '../../src/model/outcome.ts';
import type { Program, Runnable } from '../../src/model/program.ts';
import type { ProgramState } from '../../src/model/program-state.ts';
import { runtimeOf, World, type TurnSettings } from './world.ts';

/** A state as the client returns it: only text. */
export function overTheWire(state: ProgramState): ProgramState {
  return JSON.parse(JSON.stringify(state)) as ProgramState;
}

/** An answer as a dialect hands it over. */
export const answered = (result: Json): ClientAnswer => ({ result, provenance: 'client' });
/** An accepted form. */
export const accepted = (content: Json): ClientAnswer => answered({ action: 'accept', content });
/** A refusal. */
export const refused = (action: 'decline' | 'cancel' = 'decline'): ClientAnswer =>
  answered({ action });
/** An answer of the client's model. */
export const said = (text: string): ClientAnswer =>
  answered({ role: 'assistant', content: { type: 'text', text }, model: 'm' });

export type Answers = Readonly<Record<string, ClientAnswer>>;

/** A suspended turn. */
export type Suspended = Extract<Outcome, { status: 'suspended' }>;

/** One turn: the state goes over the wire before it. */
export function turn(
  program: Runnable,
  state: ProgramState,
  answers: Answers | ReadonlyMap<string, ClientAnswer> = {},
  world: World = new World(),
  settings?: TurnSettings,
): Promise<Outcome> {
  const map = answers instanceof Map ? answers : new Map(Object.entries(answers));
  const { turn: t } = JSON.parse(state.head) as { turn: number };
  return engineOf(program).advance(
    overTheWire(state),
    map,
    runtimeOf(world, { turn: t + 1, ...settings }),
  );
}

/** The first turn. */
export async function start(
  program: Program,
  args: Json = {},
  world?: World,
  settings?: TurnSettings,
): Promise<Outcome> {
  return turn(program, await engineOf(program).begin(args), {}, world, settings);
}

/** Narrows to a suspended outcome, or fails. */
export function suspended(outcome: Outcome): Suspended {
  if (outcome.status !== 'suspended')
    throw new Error(`not suspended, but ${describeOutcome(outcome)}`);
  return outcome;
}

/** The result of a completed outcome, or fails. */
export function completed(outcome: Outcome): unknown {
  if (outcome.status !== 'completed')
    throw new Error(`not completed, but ${describeOutcome(outcome)}`);
  return outcome.result;
}

/** The error of a failed outcome, or fails. */
export function failed(outcome: Outcome): unknown {
  if (outcome.status !== 'failed') throw new Error(`not failed, but ${describeOutcome(outcome)}`);
  return outcome.error;
}

function describeOutcome(outcome: Outcome): string {
  if (outcome.status === 'suspended') {
    return `suspended, asking ${outcome.steps.map((step) => step.stepId).join(', ')}`;
  }
  return outcome.status === 'failed' ? `failed: ${String(outcome.error)}` : `completed`;
}

/** A turn that was taken. */
export interface TurnTaken {
  /** The state it was resumed from: `drive` again from here for a fork. */
  readonly before: ProgramState;
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  readonly outcome: Outcome;
}

/** A saga driven to its end. */
export interface Drive {
  readonly outcome: Exclude<Outcome, Suspended>;
  readonly turns: readonly TurnTaken[];
}

/** How a saga is driven. */
export interface DriveOptions {
  /** Made anew for every turn: a fresh instance that knows nothing but the state. */
  readonly make: () => Program;
  readonly args?: Json;
  /** A state to continue from, instead of a start. */
  readonly from?: ProgramState;
  /** The answer to a question; undefined leaves it open in this turn. */
  readonly answer: (step: ClientStep, turn: number) => ClientAnswer | undefined;
  readonly world: World;
  readonly settings?: (turn: number) => TurnSettings;
  /** Called after each turn. */
  readonly after?: (taken: TurnTaken, turn: number) => void;
  /** Reorders or removes answers before they are sent. */
  readonly send?: (
    answers: readonly (readonly [string, ClientAnswer])[],
    turn: number,
  ) => readonly (readonly [string, ClientAnswer])[];
  readonly maxTurns?: number;
}

/** Drives a saga to its end, each turn on a fresh instance. */
export async function drive(options: DriveOptions): Promise<Drive> {
  const { make, answer, world, settings, after, send, maxTurns = 400 } = options;
  const turns: TurnTaken[] = [];
  let state = options.from ?? (await engineOf(make()).begin(options.args ?? {}));
  let answers: ReadonlyMap<string, ClientAnswer> = new Map();
  for (let number = 1; number <= maxTurns; number += 1) {
    const outcome = await turn(make(), state, answers, world, settings?.(number));
    const taken = { before: state, answers, outcome };
    turns.push(taken);
    after?.(taken, number);
    if (outcome.status !== 'suspended') return { outcome, turns };
    if (outcome.steps.length === 0) world.time += outcome.retryAfterMs ?? 0;
    state = outcome.state;
    const given = outcome.steps.flatMap((step) => {
      const found = answer(step, number);
      return found === undefined ? [] : [[step.stepId, found] as const];
    });
    answers = new Map(send?.(given, number) ?? given);
  }
  throw new Error(`the saga did not end in ${maxTurns} turns`);
}
