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

/** One entry of a journal. */
export interface RecordedEntry extends RecordedEvent {
  /** Text that the user or the model read, if it is known. */
  readonly asked?: string;
  /** Entry type in the journal: `kind` and `outcome` in one letter. */
  readonly letter: string;
  /** Fingerprint of the command. Code that asks for something else has another one. */
  readonly fingerprint: number;
}

/** Recording of a generator: its journal. */
export interface JournalRecording extends RecordingHead {
  readonly kind?: 'journal';
  readonly input: Json;
  readonly happened: readonly RecordedEntry[];
  readonly end: RecordedEnd;
  /** Recording of the saga that it continued as, if that was recorded too. */
  readonly next?: Recording;
}

/**
 * Recording of a saga from its arguments to its end, as JSON. Contains arguments, answers, and results unless they were
 * redacted, and no key or token.
 *
 * A generator is recorded by its journal. Its last token contains the whole journal, so that a host keeps nothing between turns;
 * and only a journal shows whether a token in flight replays on new code: with `patched`, `now`, and the order of entries. A
 * machine has no journal, and is recorded turn by turn.
 */
export type Recording = JournalRecording | TurnsRecording;

/** Makes a recording from a journal. */
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

export function historyIn({ input, happened }: JournalRecording): SagaHistory {
  return { input, entries: happened.map(({ id: path, ...entry }) => ({ ...entry, path })) };
}
