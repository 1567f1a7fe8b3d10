import type { Steps } from '@mcp-saga/core';
import {
  command,
  generatorEngine,
  historyOf,
  type Outcome,
  type ProgramState,
  type Runtime,
  type SagaEngine,
} from '@mcp-saga/core/program';
import { outsideOf, type OutsideWait } from '../author/outside-logic.ts';
import { stateHead } from './state-head.ts';
import type {
  LeftWaitRecord,
  MachineRecord,
  SagaRecord,
  WaitRecord,
} from '../model/machine-record.ts';
import type { MachineProgramOptions } from '../model/machine-options.ts';

/**
 * Wait for answers from outside that has not ended. A small generator saga of core waits: its
 * journal is the state, so deliveries, reminders, and the decision are those of generator sagas.
 */
export interface OpenWait {
  /** Path of the actor, with the number of the run from the second on. */
  readonly path: string;
  /** Name of the logic, which an undo looks up. */
  readonly logic: string;
  readonly input: unknown;
  readonly state: ProgramState;
  /** Time of the next reads of answers (ms since the epoch). 0 for at once. */
  readonly due: number;
  /** Latest time that the wait takes (ms since the epoch). */
  readonly until: number;
}

/** Journal entry with the answers that decided. */
export interface Decision {
  readonly path: string;
  readonly text: string;
}

/** The ledger records the answers of a wait, and the context of the machine may keep them, too. */
export const answerCopies = 2;

/** Returns a wait that has not begun. */
export function newWait(path: string, logic: string, input: unknown): OpenWait {
  const state = { head: stateHead(0), structure: '', client: '', server: '{}' };
  return { path, logic, input, state, due: 0, until: 0 };
}

/** `true` if links of the wait may exist. */
export function hasBegun({ state }: OpenWait): boolean {
  return state.structure !== '';
}

export function toWaitRecord({ path, logic, due, until, state }: OpenWait): WaitRecord {
  return [path, logic, due, until, state.head, state.structure, state.server];
}

export function fromWaitRecord(
  [path, logic, due, until, head, structure, server]: WaitRecord,
  input: unknown,
): OpenWait {
  return { path, logic, input, due, until, state: { head, structure, client: '', server } };
}

/** Lists the waits of a stored machine, with those of states that the machine has left. */
export function waitsOf({ m, w = [] }: SagaRecord): readonly OpenWait[] {
  const inside = ({ k = {} }: MachineRecord): readonly LeftWaitRecord[] =>
    Object.values(k).flatMap((child) =>
      'm' in child
        ? inside(child.m)
        : 'w' in child && child.w !== undefined
          ? [{ i: child.i, w: child.w }]
          : [],
    );
  return [...w, ...inside(m)].map((left) => fromWaitRecord(left.w, left.i));
}

export function toLeftRecord(wait: OpenWait): LeftWaitRecord {
  return { i: wait.input, w: toWaitRecord(wait) };
}

/** Conditions of a turn of a wait. */
export interface WaitTurn {
  /** `true` if deliveries and reads of answers wait for the next turn of the machine. */
  readonly defers: boolean;
  /** `true` if the client cannot wait any longer. */
  readonly isHopeless: boolean;
  /** Returns the bytes that the token of the machine has left for the wait. */
  readonly room: () => Promise<number>;
  /** Called with the bytes that the wait keeps, before its links are sent. */
  readonly reserve: (bytes: number) => void;
}

/** Takes a turn of a wait: delivers what is due, and reads the answers. */
export async function advanceWait(
  wait: OpenWait,
  { kind, toSteps }: OutsideWait<unknown>,
  runtime: Runtime,
  turn: WaitTurn,
): Promise<{ readonly outcome: Outcome; readonly decision: Decision | undefined }> {
  const engine = waitEngine(wait, { kind, toSteps });
  const outcome = await engine.advance(wait.state, new Map(), waitRuntime(runtime, turn));
  if (outcome.status === 'suspended' || outcome.state === undefined)
    return { outcome, decision: undefined };
  const { path = '', value = null } =
    historyOf(outcome.state).entries.findLast(
      ({ kind: of, outcome: how }) => of === 'poll' && how === 'answered',
    ) ?? {};
  return { outcome, decision: { path, text: JSON.stringify(value) } };
}

/** Withdraws the links of waits, as far as possible: links that stay expire by themselves. */
export async function withdrawWaits(
  { logicNamed }: Pick<MachineProgramOptions, 'logicNamed'>,
  waits: readonly OpenWait[],
  runtime: Runtime,
): Promise<void> {
  await Promise.all(
    waits.map(async (wait) => {
      const logic = logicNamed(wait.logic);
      const outside = (logic === undefined ? undefined : outsideOf(logic)) ?? gone;
      const error = new Error('The machine left the state of the wait.');
      const inTurn = waitRuntime(runtime, { defers: false, isHopeless: false, ...anyRoom });
      // Runs to the end, with retries: no later turn knows of the wait.
      const toTheEnd = { ...inTurn, turn: { ...inTurn.turn, defersEffects: undefined } };
      await waitEngine(wait, outside).advance(wait.state, new Map(), toTheEnd, { error });
    }),
  );
}

// A withdrawal opens nothing.
const anyRoom = {
  room: async (): Promise<number> => Number.POSITIVE_INFINITY,
  reserve: (): void => {},
};

/** Wait whose logic the code no longer has. Its boxes are in the journal. */
const gone: OutsideWait<unknown> = {
  kind: 'approval',
  toSteps: () => [][Symbol.iterator]() as never,
};

function waitEngine(
  { path, input }: OpenWait,
  { kind, toSteps }: OutsideWait<unknown>,
): SagaEngine {
  return generatorEngine({
    name: kind,
    input: undefined,
    acceptsReuse: true,
    onMismatch: 'fail',
    body: function* (): Steps<unknown> {
      const steps = toSteps(path, input);
      // A command, since the ID of a scope has fewer characters than the path of an actor.
      return yield* command<unknown>({ kind: 'scope', id: path, steps });
    },
  });
}

/**
 * Runtime of a wait: the machine commits, holds the request, and decides when the client cannot
 * wait.
 */
function waitRuntime(runtime: Runtime, { defers, isHopeless, room, reserve }: WaitTurn): Runtime {
  const { commit: _, ...turn } = runtime.turn;
  const { deadline = Number.POSITIVE_INFINITY } = turn;
  const defersEffects = defers ? 'all' : undefined;
  return {
    ...runtime,
    saga: { ...runtime.saga, room, reserve, answerCopies, checkResult: async (result) => result },
    turn: { ...turn, deadline, commitsEach: false, defersEffects },
    time: {
      ...runtime.time,
      maxHold: 0,
      holdsParts: false,
      maxWait: isHopeless ? -1 : Number.POSITIVE_INFINITY,
    },
  };
}
