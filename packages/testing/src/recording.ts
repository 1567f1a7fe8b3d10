import { encode, type HistoryEntry, type Json, type Outcome, type SagaHistory } from '@mcp-saga/server';
import { SagaTestError } from './errors.ts';

/** The version of the format of recordings: what is written today is read by every later release. */
export const recordingVersion = 1;

/** One thing that happened in a recorded saga. */
export interface RecordedEntry {
  /** In which turn, from 1, where that is known: a host keeps nothing of turns. */
  readonly turn?: number;
  /** Which word of the saga: `elicit`, `step`, `now`, … */
  readonly kind: string;
  readonly id: string;
  /** What became of it: `accepted`, `done`, `failed`, … */
  readonly outcome: string;
  /** How many milliseconds had passed since what stands before it, where that is known. */
  readonly waited?: number;
  /** What the user or the model read, where that is known. */
  readonly asked?: string;
  /** The answer, the result or the error. What JSON lacks is written as `{"$": …}`. */
  readonly value?: Json;
  readonly by?: NonNullable<HistoryEntry['by']>;
  /** What `kind` and `outcome` say for a reader, as a journal says it. */
  readonly letter: string;
  /** A number made of what was asked: code that asks for something else has another one. */
  readonly fingerprint: number;
}

/** How a recorded saga ended. */
export type RecordedEnd =
  | { readonly status: 'completed'; readonly result: Json }
  | {
      readonly status: 'failed';
      readonly error: { readonly name: string; readonly message: string };
      readonly compensated: readonly string[];
      readonly residue: readonly string[];
    }
  | { readonly status: 'continued'; readonly saga: string; readonly version: string };

/**
 * What happened in a saga, from its arguments to its end: plain JSON, to be read, kept and replayed. It holds arguments,
 * answers and results as far as they were not redacted; no key, no token, nothing sealed.
 */
export interface Recording {
  readonly recording: typeof recordingVersion;
  readonly saga: string;
  readonly version: string;
  /** The version of the replay rules it was recorded under. */
  readonly engine: number;
  readonly input: Json;
  readonly happened: readonly RecordedEntry[];
  readonly end: RecordedEnd;
  /** What it went on as, where it ended with `continueAs` and that was recorded with it. */
  readonly next?: Recording;
}

/** Something of a recording that may have to be kept out of it. */
export interface Recorded {
  /** `input`, `result` and `error` are of the saga; others are the words that ask and do. */
  readonly kind: string;
  /** The id of the step; empty for what is of the saga. */
  readonly id: string;
}

/**
 * Gives what of a value may be kept. Ids stand in a recording as they are, with the `key` of a step that has one, and so do
 * fingerprints: 32 bits of what was asked, by which replay tells that today something else is asked.
 */
export type Redact = (value: Json, of: Recorded) => Json;

/** Makes a recording. */
export function toRecording(
  { name, version }: { readonly name: string; readonly version: string },
  engine: number,
  history: SagaHistory,
  outcome: Exclude<Outcome, { readonly status: 'suspended' }>,
  redact: Redact,
): Recording {
  return {
    recording: recordingVersion,
    saga: name,
    version,
    engine,
    input: redact(history.input, { kind: 'input', id: '' }),
    happened: history.entries.map(({ kind, path: id, outcome: became, value, by, letter, fingerprint }) => ({
      kind,
      id,
      outcome: became,
      ...(value === undefined ? {} : { value: redact(value, { kind, id }) }),
      ...(by === undefined ? {} : { by }),
      letter,
      fingerprint,
    })),
    end: endOf(outcome, redact),
  };
}

/** The end of a saga as a recording has it. */
export function endOf(
  outcome: Exclude<Outcome, { readonly status: 'suspended' }>,
  redact: Redact,
): RecordedEnd {
  switch (outcome.status) {
    case 'completed':
      return {
        status: 'completed',
        result: redact(toJson(outcome.result), { kind: 'result', id: '' }),
      };
    case 'continued':
      return { status: 'continued', saga: outcome.program.name, version: outcome.program.version };
    case 'failed': {
      const { name, message } = Object(outcome.error) as { name?: unknown; message?: unknown };
      const text = redact(typeof message === 'string' ? message : toJson(outcome.error), {
        kind: 'error',
        id: '',
      });
      return {
        status: 'failed',
        error: {
          name: typeof name === 'string' ? name : 'Error',
          message: typeof text === 'string' ? text : JSON.stringify(text),
        },
        compensated: outcome.compensated.map(({ stepId }) => stepId),
        residue: outcome.residue.map(({ stepId }) => stepId),
      };
    }
  }
}

/** The history that a recording tells. */
export function historyIn({ input, happened }: Recording): SagaHistory {
  return { input, entries: happened.map(({ id: path, ...entry }) => ({ ...entry, path })) };
}

/**
 * Checks that something is a recording.
 *
 * @throws SagaTestError `script`
 */
export function assertRecording(value: unknown): asserts value is Recording {
  const { recording, happened, end } = Object(value) as { readonly [K in keyof Recording]?: unknown };
  if (recording === undefined || !Array.isArray(happened) || end === undefined)
    throw new SagaTestError('script', 'This is no recording of a saga.');
  if (recording !== recordingVersion)
    throw new SagaTestError(
      'script',
      `This is a recording of format ${JSON.stringify(recording)}; this release reads format ${String(recordingVersion)}.`,
    );
}

/** A recording as it is written to a file: each thing that happened on a line of its own, so that a diff is read easily. */
export function formatRecording(recording: Recording): string {
  const { happened, next, ...rest } = recording;
  const { end, ...head } = rest;
  const fields = Object.entries(head).map(([name, value]) => `  ${JSON.stringify(name)}: ${inLine(value)}`);
  const lines = happened.map((entry) => `    ${inLine(entry)}`);
  const list = lines.length === 0 ? '[]' : `[\n${lines.join(',\n')}\n  ]`;
  return `{\n${[
    ...fields,
    `  "happened": ${list}`,
    `  "end": ${inLine(end)}`,
    ...(next === undefined ? [] : [`  "next": ${formatRecording(next).trim().replaceAll('\n', '\n  ')}`]),
  ].join(',\n')}\n}\n`;
}

function toJson(value: unknown): Json {
  return JSON.parse(encode(value)) as Json;
}

function inLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((item) => inLine(item)).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(([name, field]) => `${JSON.stringify(name)}: ${inLine(field)}`);
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
