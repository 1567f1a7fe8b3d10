import type { Json, Outcome, SagaHistory } from '@mcp-saga/server';
import { endOf, recordingVersion, type RecordedEnd, type RecordedEvent, type Redact } from './recorded.ts';
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
  return {
    recording: recordingVersion,
    saga: name,
    version,
    engine,
    input: redact(history.input, { kind: 'input', id: '', part }),
    happened: history.entries.map(({ kind, path: id, outcome: became, value, by, letter, fingerprint }) => ({
      kind,
      id,
      outcome: became,
      ...(value === undefined ? {} : { value: redact(value, { kind, id, part }) }),
      ...(by === undefined ? {} : { by }),
      letter,
      fingerprint,
    })),
    end: endOf(outcome, redact),
  };
}

/** The history that a recording tells. */
export function historyIn({ input, happened }: JournalRecording): SagaHistory {
  return { input, entries: happened.map(({ id: path, ...entry }) => ({ ...entry, path })) };
}
