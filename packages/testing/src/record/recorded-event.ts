import type { Json } from '@mcp-saga/server';
import { encode, type HistoryEntry, type Outcome } from '@mcp-saga/server/internal';

/** Version of the format of recordings. Later releases read it. */
export const recordingVersion = 1;

/** One event of a recorded saga. */
export interface RecordedEvent {
  /** Number of its turn, from 1, if it is known. */
  readonly turn?: number;
  /** Effect: `elicit`, `step`, `now`, … */
  readonly kind: string;
  readonly id: string;
  /** Outcome: `accepted`, `done`, `failed`, … */
  readonly outcome: string;
  /** Milliseconds since the event before it, if they are known. */
  readonly waited?: number;
  /** Answer, result, or error. Values that JSON lacks are written as `{"$": …}`. */
  readonly value?: Json;
  readonly by?: NonNullable<HistoryEntry['by']>;
  /** Redacted parts. A redacted `given` is not compared. After a redacted `value`, neither are questions, inputs, and the end. */
  readonly redacted?: readonly Recorded['part'][];
}

/** Head of a recording. */
export interface RecordingHead {
  readonly recording: typeof recordingVersion;
  readonly saga: string;
  readonly version: string;
  /** Version of the engine that began the saga. */
  readonly engine: number;
  /** Set if the arguments were redacted: values that depend on them are not compared. */
  readonly redacted?: readonly 'input'[];
}

/** End of a recorded saga. */
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
  /** The result or message was redacted, and is not compared. */
  readonly redacted?: true;
};

/** Value that a recording may have to leave out. */
export interface Recorded {
  /** `input`, `result`, and `error` of the saga, or an effect. `compensate`: name and arguments of a compensator, for replays. */
  readonly kind: string;
  /** ID of the step; empty for a value of the saga. */
  readonly id: string;
  /** `value`: an argument, answer, result, or error. `given`, machines only: the input of a step, or a question. */
  readonly part: 'given' | 'value';
}

/**
 * Returns what the recording keeps of a value. IDs, keys of steps, and fingerprints (32 bits of a command) are always kept.
 *
 * A replay gives the redacted value to the saga. After the first changed `value`, it compares only the kind and ID of events,
 * and the kind of the end. So return values that may be kept unchanged.
 */
export type Redact = (value: Json, of: Recorded) => Json;

/** Redacted value, and whether it changed. */
export interface Redacted {
  readonly kept: Json;
  readonly redacted: boolean;
}

export function redactedBy(redact: Redact, value: Json, of: Recorded): Redacted {
  // Before: what is redacted in place is another one as well.
  const text = JSON.stringify(value);
  const kept = redact(value, of);
  return { kept, redacted: JSON.stringify(kept) !== text };
}

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

/** Formats the end of a saga for a recording. */
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

/** Formats the error of a saga for a recording. */
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

/** Converts a value to JSON by the codec of the journal. */
export function toJson(value: unknown): Json {
  return JSON.parse(encode(value)) as Json;
}
