import type { Json } from '@mcp-saga/server';
import type { Question, Route } from '@mcp-saga/server/internal';
import type { RecordedEnd, RecordedEvent, RecordingHead } from './recorded-event.ts';

/**
 * One thing that happened in a turn. What its client answered comes first; then what ran and what passed, in the order in
 * which it ended; then what is asked or waited for.
 */
export interface TurnEvent extends RecordedEvent {
  readonly turn: number;
  /** What a step was given, or the parameters of a question. */
  readonly given?: Json;
  /** Which run of this step it is within the turn, from the second one on. */
  readonly run?: number;
  /** Of a wait: for how many milliseconds. */
  readonly ms?: number;
  /** Of a wait: in how many milliseconds the last of all that it waits for happens. */
  readonly latest?: number;
  /** Why a question is asked again, or an answer was not used. */
  readonly reason?: string;
}

/** Something that happened in a turn, with all its values. */
export type RawEvent = Omit<TurnEvent, 'turn' | 'redacted'>;

/** What its host says of a turn that a program may go by. */
export interface HostFacts {
  /** Milliseconds that the turn has; `over`: nothing may happen in it. Left out where it may take as long as it likes. */
  readonly budget?: number | 'over' | 'unlimited';
  readonly maxHold?: number;
  readonly maxWait?: number;
  readonly holdsParts?: true;
  readonly checkpointAfterStep?: true;
  readonly checkpointBeforeUndo?: true;
  readonly defersEffects?: true;
  /** The saga had a token when this turn began, though it is its first one. */
  readonly hasToken?: true;
  /** Where questions went that were not asked, by what they need. */
  readonly routes?: { readonly [need: string]: Route };
  /** Whose answers did not count, by what was asked. */
  readonly refused?: readonly string[];
  /** Whether keys of steps that run once were free, in the order in which they were claimed. */
  readonly claims?: readonly boolean[];
  /** The numbers that jitter was made of. */
  readonly random?: readonly number[];
}

/** What a turn began with. */
export interface TurnBeginning {
  /** When it began: ISO 8601. */
  readonly time: string;
  readonly host: HostFacts;
  /** Why the saga was ended from outside. */
  readonly ended?: { readonly name: string; readonly message: string };
}

/**
 * One turn of a saga whose token holds where it is, and not how it came there: a machine's. Its process knows no more of
 * the saga than this; `joinRecording` makes a recording of all of them.
 */
export interface RecordedTurn extends RecordingHead, TurnBeginning {
  readonly kind: 'turn';
  /** Counted over all of the saga, from 1: a turn that was repeated has the number of the one it repeats. */
  readonly turn: number;
  /** The arguments, of the first turn. */
  readonly input?: Json;
  /**
   * Names the state it began with; not there for the first turn. Names are made with the saga's own secret: they say which
   * turn follows which, and nothing of what the state holds.
   */
  readonly from?: string;
  /** Names the state it left; not there for the last turn. */
  readonly to?: string;
  readonly happened: readonly Omit<TurnEvent, 'turn'>[];
  readonly end?: RecordedEnd;
}

/** What happened in a saga turn by turn: of one that keeps no journal of its answers. */
export interface TurnsRecording extends RecordingHead {
  readonly kind: 'turns';
  /** The arguments as they were sent. */
  readonly input: Json;
  /** What each turn began with. */
  readonly turns: readonly TurnBeginning[];
  readonly happened: readonly TurnEvent[];
  readonly end: RecordedEnd;
}

/** Whether it is a delay that passed while the turn was taken. */
export function isPassed({ kind, outcome }: Pick<TurnEvent, 'kind' | 'outcome'>): boolean {
  return kind === 'wait' && outcome === 'passed';
}

/** Whether it is what a turn left behind: something asked or waited for. */
export function isLeft({ outcome }: Pick<TurnEvent, 'outcome'>): boolean {
  return outcome === 'asked' || outcome === 'waits';
}

/** A question as far as a host has to know it, as a text. */
export function questionKey({ need, accept, hasFallback, isUnsupported }: Question): string {
  const by = accept === undefined ? '' : ` of the ${accept}`;
  return `${need}${by}${hasFallback ? ' or a fallback' : ''}${isUnsupported === true ? ' without the client' : ''}`;
}
