import type { Json } from '@mcp-saga/server';
import type { Outcome, SagaHistory } from '@mcp-saga/server/internal';
import {
  endOf,
  recordingVersion,
  redactedBy,
  type RecordedEnd,
  redactedEvent,
  type RecordedEvent,
  type RecordingHead,
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
export interface JournalRecording extends RecordingHead {
  readonly kind?: 'journal';
  readonly input: Json;
  readonly happened: readonly RecordedEntry[];
  readonly end: RecordedEnd;
  /** What it went on as, where it ended with `continueAs` and that was recorded with it. */
  readonly next?: Recording;
}

/**
 * What happened in a saga, from its arguments to its end: plain JSON, to be read, kept and replayed. It holds arguments,
 * answers and results as far as they were not redacted; no key, no token, nothing sealed.
 *
 * A generator is recorded by its journal, for two reasons: its last token contains all of it, so that a host in production stores
 * nothing between two turns; and a replay starts from the journal, so that `patched` takes the branch that the saga took. A machine
 * keeps no journal, and is recorded turn by turn.
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
  const input = redactedBy(redact, history.input, { kind: 'input', id: '', part: 'value' });
  return {
    recording: recordingVersion,
    saga: name,
    version,
    engine,
    input: input.kept,
    ...(input.redacted ? { redacted: ['input'] as const } : {}),
    happened: history.entries.map(({ kind, path: id, outcome: became, value, by, letter, fingerprint }) => ({
      ...redactedEvent({ kind, id, outcome: became, ...(value === undefined ? {} : { value }) }, redact),
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
