import type { Json } from '@mcp-saga/server';
import type { HistoryEntry, Question, RetryPlan, Route } from '@mcp-saga/server/internal';

/** Version of the format of recordings. Later releases read it. */
export const recordingVersion = 1;

/** Event of a recorded saga. */
export interface RecordedEvent {
  /** Number of its turn, from 1, if known. */
  readonly turn?: number;
  /** Effect: `elicit`, `step`, `now`, … */
  readonly kind: string;
  readonly id: string;
  /** Outcome: `accepted`, `done`, `failed`, … */
  readonly outcome: string;
  /** Milliseconds since the event before it, if known. */
  readonly waited?: number;
  /** Answer, result, or error. Values that JSON lacks are written as `{"$": …}`. */
  readonly value?: Json;
  readonly by?: NonNullable<HistoryEntry['by']>;
  /**
   * Redacted parts. A redacted `given` is not compared. After a redacted `value`, neither are
   * questions, inputs, and the end.
   */
  readonly redacted?: readonly Recorded['part'][];
  /** Generators: text of the question, if known. */
  readonly asked?: string;
  /** Generators: entry type in the journal. */
  readonly letter?: string;
  /** Generators: fingerprint of the command. A changed command has another fingerprint. */
  readonly fingerprint?: number;
  /** Machines: input of a step, or parameters of a question. */
  readonly given?: Json;
  /** Machines: number of the run of this step in the turn, from 2. */
  readonly run?: number;
  /** Machines: length of a wait, in milliseconds. */
  readonly ms?: number;
  /** Machines: time until the last of several waits ends, in milliseconds. */
  readonly latest?: number;
  /** Machines: reason why a question is repeated, or an answer is not used. */
  readonly reason?: string;
}

/** Head of a recording. */
export interface RecordingHead {
  readonly recording: typeof recordingVersion;
  readonly saga: string;
  readonly version: string;
  /** Set if the arguments were redacted: dependent values are not compared. */
  readonly redacted?: readonly 'input'[];
}

/** End of a recorded saga. */
export type RecordedEnd = (
  | { readonly status: 'completed'; readonly result: Json }
  | {
      readonly status: 'failed';
      readonly error: { readonly name: string; readonly message: string };
      readonly compensated: readonly string[];
      readonly uncompensated: readonly string[];
    }
  | { readonly status: 'continued'; readonly saga: string; readonly version: string }
) & {
  /** The result or message was redacted, and is not compared. */
  readonly redacted?: true;
};

/** Value for `Redact` to keep or replace. */
export interface Recorded {
  /**
   * `input`, `result`, and `error` of the saga, or an effect. `compensate`: name and arguments of a
   * compensator, for replays.
   */
  readonly kind: string;
  /** ID of the step; empty for a value of the saga. */
  readonly id: string;
  /**
   * `value`: an argument, answer, result, or error. `given`, machines only: the input of a step, or
   * a question.
   */
  readonly part: 'given' | 'value';
}

/**
 * Returns what the recording keeps of a value. IDs, keys of steps, and fingerprints (32 bits of a
 * command) are always kept.
 *
 * A replay gives the redacted value to the saga. After the first changed `value`, a replay compares
 * only the kind and ID of events, and the kind of the end. Return values without secrets unchanged.
 */
export type Redact = (value: Json, of: Recorded) => Json;

/** Facts of the host on which a program may depend. */
export interface HostFacts {
  /** Budget of the turn, in milliseconds. `over`: runs nothing. Absent: no limit. */
  readonly budget?: number | 'over' | 'unlimited';
  readonly maxHold?: number;
  readonly maxWait?: number;
  readonly holdsParts?: true;
  readonly checkpointAfterStep?: true;
  readonly checkpointBeforeUndo?: true;
  readonly defersEffects?: 'all' | 'vital' | 'untold';
  /** Retries of steps that name none, without `when`: a replay runs no code of the host. */
  readonly stepRetry?: Omit<RetryPlan, 'when'>;
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
 * A turn, for `joinRecording`.
 *
 * A generator is recorded in its last turn, by the whole journal: only a journal shows if a token
 * in flight replays on new code with `patched`, `now`, and the order of entries. A machine is
 * recorded in each of its turns.
 */
export interface RecordedTurn extends RecordingHead, TurnBeginning {
  readonly kind: 'turn';
  /** Number of the turn in the saga, from 1. A repeated turn has the number of the first try. */
  readonly turn: number;
  /** Set for the last turn of a generator: `happened` is its journal. */
  readonly journal?: true;
  /** Arguments, in the first turn and with a journal. */
  readonly input?: Json;
  /**
   * Name of the state at the start, derived with the secret of the saga; absent in the first turn.
   */
  readonly from?: string;
  /** Name of the state at the end; absent in the last turn. */
  readonly to?: string;
  readonly happened: readonly RecordedEvent[];
  readonly end?: RecordedEnd;
}

/**
 * Recording of a saga from arguments to end, as JSON. Contains arguments, answers, and results
 * unless redacted, and no key or token.
 */
export interface Recording extends RecordingHead {
  /** `journal`: a generator, by its journal (default). `turns`: a machine, by its turns. */
  readonly kind?: 'journal' | 'turns';
  /** Arguments as the client sent them. */
  readonly input: Json;
  /** Turns of a machine. */
  readonly turns?: readonly TurnBeginning[];
  /**
   * Events in order. In a turn: answers, then steps and waits by time of their end, then questions.
   */
  readonly happened: readonly RecordedEvent[];
  readonly end: RecordedEnd;
  /** Recording of the saga that a generator continued as. */
  readonly next?: Recording;
}

/** `true` for a delay that passed during the turn. */
export function isPassed({ kind, outcome }: RecordedEvent): boolean {
  return kind === 'wait' && outcome === 'passed';
}

/** `true` for a question or wait at the end of a turn. */
export function isLeft({ outcome }: RecordedEvent): boolean {
  return outcome === 'asked' || outcome === 'waits';
}

/** Formats the facts of a question that a host routes by. */
export function questionKey({ need, answeredBy, hasFallback, isUnsupported }: Question): string {
  const by = answeredBy === undefined ? '' : ` by ${answeredBy.join(', ')}`;
  return `${need}${by}${hasFallback ? ' or a fallback' : ''}${isUnsupported === true ? ' without the client' : ''}`;
}
