import type { Json, Outcome, SagaHistory } from '@mcp-saga/server';
import {
  endOf,
  recordingVersion,
  redactedBy,
  type RecordedEnd,
  type RecordedEvent,
  type Redact,
} from './recorded-event.ts';
import type { TurnsRecording } from './turns-recording.ts';

/** One thing that a journal says has happened. */
export interface RecordedEntry extends RecordedEvent {
  /** What the user or the model read, where that is known. */
  readonly asked?: string;
  /** What `kind` and `outcome` say for a reader, as a journal says it. */
  readonly letter: string;
  /** A number made of what was asked: code that asks for something else has another one. */
  readonly fingerprint: number;
}

/** What the journal of a saga says has happened: of a generator's. */
export interface JournalRecording {
  readonly recording: typeof recordingVersion;
  readonly kind?: 'journal';
  readonly saga: string;
  readonly version: string;
  /** The version of the replay rules it was recorded under. */
  readonly engine: number;
  readonly input: Json;
  /** Whether the arguments are not as they were: nothing that may be made of them is compared. */
  readonly redacted?: readonly 'input'[];
  readonly happened: readonly RecordedEntry[];
  readonly end: RecordedEnd;
  /** What it went on as, where it ended with `continueAs` and that was recorded with it. */
  readonly next?: Recording;
}

/**
 * What happened in a saga, from its arguments to its end: plain JSON, to be read, kept and replayed. It holds arguments,
 * answers and results as far as they were not redacted; no key, no token, nothing sealed. That of a generator is its
 * journal; a machine has none, and is recorded turn by turn.
 */
export type Recording = JournalRecording | TurnsRecording;

/** Makes a recording of a journal. */
export function toRecording(
  { name, version }: { readonly name: string; readonly version: string },
  engine: number,
  history: SagaHistory,
  outcome: Exclude<Outcome, { readonly status: 'suspended' }>,
  redact: Redact,
): JournalRecording {
  const part = 'value';
  const input = redactedBy(redact, history.input, { kind: 'input', id: '', part });
  return {
    recording: recordingVersion,
    saga: name,
    version,
    engine,
    input: input.kept,
    ...(input.redacted ? { redacted: ['input'] as const } : {}),
    happened: history.entries.map(({ kind, path: id, outcome: became, value, by, letter, fingerprint }) => {
      const { kept, redacted } = value === undefined ? {} : redactedBy(redact, value, { kind, id, part });
      return {
        kind,
        id,
        outcome: became,
        ...(kept === undefined ? {} : { value: kept }),
        ...(redacted === true ? { redacted: [part] } : {}),
        ...(by === undefined ? {} : { by }),
        letter,
        fingerprint,
      };
    }),
    end: endOf(outcome, redact),
  };
}

/** The history that a recording tells. */
export function historyIn({ input, happened }: JournalRecording): SagaHistory {
  return { input, entries: happened.map(({ id: path, ...entry }) => ({ ...entry, path })) };
}
