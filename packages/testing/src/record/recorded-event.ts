import type { Json } from '@mcp-saga/server';
import { encode, type HistoryEntry, type Outcome } from '@mcp-saga/server/internal';

/** The version of the format of recordings: what is written today is read by every later release. */
export const recordingVersion = 1;

/** One thing that happened in a recorded saga. */
export interface RecordedEvent {
  /** In which turn, from 1, where that is known: a journal keeps nothing of turns. */
  readonly turn?: number;
  /** Which word of the saga: `elicit`, `step`, `now`, … */
  readonly kind: string;
  readonly id: string;
  /** What became of it: `accepted`, `done`, `failed`, … */
  readonly outcome: string;
  /** How many milliseconds had passed since what stands before it, where that is known. */
  readonly waited?: number;
  /** The answer, the result or the error. What JSON lacks is written as `{"$": …}`. */
  readonly value?: Json;
  readonly by?: NonNullable<HistoryEntry['by']>;
  /**
   * What of it is not as it was. A `given` is not compared then; behind a `value`, what may be made of it is not: what is
   * asked and given, and with what the saga ends.
   */
  readonly redacted?: readonly Recorded['part'][];
}

/** What stands at the head of each recording. */
export interface RecordingHead {
  readonly recording: typeof recordingVersion;
  readonly saga: string;
  readonly version: string;
  /** The version of the replay rules it was recorded under. */
  readonly engine: number;
  /** Whether the arguments are not as they were: nothing that may be made of them is compared. */
  readonly redacted?: readonly 'input'[];
}

/** How a recorded saga ended. */
export type RecordedEnd = (
  | { readonly status: 'completed'; readonly result: Json }
  | {
      readonly status: 'failed';
      readonly error: { readonly name: string; readonly message: string };
      readonly compensated: readonly string[];
      readonly residue: readonly string[];
    }
  | { readonly status: 'continued'; readonly saga: string; readonly version: string }
) & {
  /** The result or the message is not as it was: it is not compared. */
  readonly redacted?: true;
};

/** Something of a recording that may have to be kept out of it. */
export interface Recorded {
  /**
   * `input`, `result` and `error` are of the saga; others are the words that ask and do. `compensate`: the name and the
   * arguments of what undoes the step of that id, by which a replay undoes it, too.
   */
  readonly kind: string;
  /** The id of the step; empty for what is of the saga. */
  readonly id: string;
  /**
   * `value`: what came in or came out: the arguments, an answer, a result, an error. `given`: what went the other way, of
   * machines only: what a step was given, or what a question asks, its text and its schema. A generator's journal keeps
   * nothing of that but a fingerprint, so that each part of its recording is a `value`.
   */
  readonly part: 'given' | 'value';
}

/**
 * Gives what of a value may be kept. Ids stand in a recording as they are, with the `key` of a step that has one, and so do
 * the fingerprints of a journal: 32 bits of what was asked, by which replay tells that today something else is asked.
 *
 * What it gives is handed to the saga when it is replayed, and whatever the saga makes of it is another thing than it was:
 * behind the first `value` that was changed, replay compares what is asked and done by its kind and its id only, and of the
 * end whether it is the same kind of end. So change what must not be kept, and give back the rest as it is.
 */
export type Redact = (value: Json, of: Recorded) => Json;

/** Something that was to be redacted, and whether that has made it another one. */
export interface Redacted {
  readonly kept: Json;
  readonly redacted: boolean;
}

/** Has a value redacted. */
export function redactedBy(redact: Redact, value: Json, of: Recorded): Redacted {
  // Before: what is redacted in place is another one as well.
  const text = JSON.stringify(value);
  const kept = redact(value, of);
  return { kept, redacted: JSON.stringify(kept) !== text };
}

/** What may be kept of something that happened. */
export function redactedEvent<E extends Omit<RecordedEvent, 'turn'> & { readonly given?: Json }>(
  event: E,
  redact: Redact,
): E {
  const { kind, id } = event;
  const parts = (['given', 'value'] as const).flatMap((part) => {
    const value = event[part];
    return value === undefined ? [] : [{ part, ...redactedBy(redact, value, { kind, id, part }) }];
  });
  const changed = parts.filter(({ redacted }) => redacted).map(({ part }) => part);
  return {
    ...event,
    ...Object.fromEntries<Json>(parts.map(({ part, kept }) => [part, kept])),
    ...(changed.length === 0 ? {} : { redacted: changed }),
  };
}

/** The end of a saga as a recording has it. */
export function endOf(
  outcome: Exclude<Outcome, { readonly status: 'suspended' }>,
  redact: Redact,
): RecordedEnd {
  switch (outcome.status) {
    case 'completed': {
      const of = { kind: 'result', id: '', part: 'value' } as const;
      const { kept, redacted } = redactedBy(redact, toJson(outcome.result), of);
      return { status: 'completed', result: kept, ...(redacted ? { redacted } : {}) };
    }
    case 'continued':
      return { status: 'continued', saga: outcome.program.name, version: outcome.program.version };
    case 'failed':
      return {
        status: 'failed',
        ...failure(outcome.error, redact),
        compensated: outcome.compensated.map(({ stepId }) => stepId),
        residue: outcome.residue.map(({ stepId }) => stepId),
      };
  }
}

/** The error of a saga as a recording has it. */
export function failure(
  thrown: unknown,
  redact: Redact,
): { readonly error: { readonly name: string; readonly message: string }; readonly redacted?: true } {
  const { name, message } = Object(thrown) as { name?: unknown; message?: unknown };
  const { kept, redacted } = redactedBy(redact, typeof message === 'string' ? message : toJson(thrown), {
    kind: 'error',
    id: '',
    part: 'value',
  });
  return {
    error: {
      name: typeof name === 'string' ? name : 'Error',
      message: typeof kept === 'string' ? kept : JSON.stringify(kept),
    },
    ...(redacted ? { redacted } : {}),
  };
}

/** A value as the codec writes it. */
export function toJson(value: unknown): Json {
  return JSON.parse(encode(value)) as Json;
}
