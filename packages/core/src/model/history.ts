import type { Provenance } from './client-step.ts';
import type { Json } from '../values/json.ts';

/** One line of a saga's history, for operators: no values. */
export interface TimelineEntry {
  readonly kind: string;
  readonly path: string;
  /** Outcome of the step: `done`, `failed`, `declined`, … */
  readonly outcome: string;
  /** Bytes of the value in the journal, before compression. */
  readonly bytes: number;
}

/** Event of a journal with the value: the part of an entry that replay reads. */
export interface HistoryEntry {
  /** Letter of the entry type, which determines `kind` and `outcome`. */
  readonly letter: string;
  readonly kind: string;
  readonly path: string;
  /** Outcome of the step: `done`, `failed`, `declined`, … */
  readonly outcome: string;
  /** Fingerprint of the request. Changes with the request. */
  readonly fingerprint: number;
  readonly by?: Provenance;
  /** The value, as the codec writes it. */
  readonly value?: Json;
}

/** Arguments and events of a saga, in order. Contains answers and results: keep out of logs. */
export interface SagaHistory {
  /** Parsed arguments, as the codec writes them. */
  readonly input: Json;
  readonly entries: readonly HistoryEntry[];
}
