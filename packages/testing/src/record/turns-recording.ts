import type { Json } from '@mcp-saga/server';
import type { Question, Route } from '@mcp-saga/server/internal';
import type { RecordedEnd, RecordedEvent, RecordingHead } from './recorded-event.ts';

/** One event of a turn. Answers come first, then steps and waits in the order in which they ended, then questions. */
export interface TurnEvent extends RecordedEvent {
  readonly turn: number;
  /** Input of a step, or parameters of a question. */
  readonly given?: Json;
  /** Number of the run of this step in the turn, from 2. */
  readonly run?: number;
  /** Length of a wait, in milliseconds. */
  readonly ms?: number;
  /** Time until the last of several waits ends, in milliseconds. */
  readonly latest?: number;
  /** Reason why a question is asked again, or an answer is not used. */
  readonly reason?: string;
}

/** Event of a turn, not redacted. */
export type RawEvent = Omit<TurnEvent, 'turn' | 'redacted'>;

/** Facts of the host on which a program may depend. */
export interface HostFacts {
  /** Budget of the turn, in milliseconds. `over`: it may run nothing. Absent: no limit. */
  readonly budget?: number | 'over' | 'unlimited';
  readonly maxHold?: number;
  readonly maxWait?: number;
  readonly holdsParts?: true;
  readonly checkpointAfterStep?: true;
  readonly checkpointBeforeUndo?: true;
  readonly defersEffects?: true;
  /** The saga had a token when its first turn began. */
  readonly hasToken?: true;
  /** Routes of questions that did not go to the client. */
  readonly routes?: { readonly [need: string]: Route };
  /** Provenances whose answers did not count, by question. */
  readonly refused?: readonly string[];
  /** Results of claims of `once` steps, in order. */
  readonly claims?: readonly boolean[];
  /** Random numbers for jitter. */
  readonly random?: readonly number[];
}

/** Start of a turn. */
export interface TurnBeginning {
  /** Time of the start, in ISO 8601. */
  readonly time: string;
  readonly host: HostFacts;
  /** Reason of a cancellation. */
  readonly ended?: { readonly name: string; readonly message: string };
}

/**
 * One turn of a machine, whose token does not contain how it got to its state. `joinRecording` makes a recording of all turns of
 * a saga.
 */
export interface RecordedTurn extends RecordingHead, TurnBeginning {
  readonly kind: 'turn';
  /** Number of the turn in the saga, from 1. A repeated turn has the number of the first try. */
  readonly turn: number;
  /** Arguments, in the first turn. */
  readonly input?: Json;
  /** Name of the state at the start, derived with the secret of the saga; absent in the first turn. */
  readonly from?: string;
  /** Name of the state at the end; absent in the last turn. */
  readonly to?: string;
  readonly happened: readonly Omit<TurnEvent, 'turn'>[];
  readonly end?: RecordedEnd;
}

/** Recording of a machine, turn by turn. */
export interface TurnsRecording extends RecordingHead {
  readonly kind: 'turns';
  /** Arguments as the client sent them. */
  readonly input: Json;
  readonly turns: readonly TurnBeginning[];
  readonly happened: readonly TurnEvent[];
  readonly end: RecordedEnd;
}

/** `true` for a delay that passed during the turn. */
export function isPassed({ kind, outcome }: Pick<TurnEvent, 'kind' | 'outcome'>): boolean {
  return kind === 'wait' && outcome === 'passed';
}

/** `true` for a question or wait at the end of a turn. */
export function isLeft({ outcome }: Pick<TurnEvent, 'outcome'>): boolean {
  return outcome === 'asked' || outcome === 'waits';
}

/** Formats the facts of a question that a host routes by. */
export function questionKey({ need, accept, hasFallback, isUnsupported }: Question): string {
  const by = accept === undefined ? '' : ` of the ${accept}`;
  return `${need}${by}${hasFallback ? ' or a fallback' : ''}${isUnsupported === true ? ' without the client' : ''}`;
}
