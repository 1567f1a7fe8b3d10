import type { Provenance } from './client-step.ts';
import type { Json } from '../values/json.ts';

/** One line of a saga's history, for operators: no values. */
export interface TimelineEntry {
  readonly kind: string;
  readonly path: string;
  /** What became of the step: `done`, `failed`, `declined`, … */
  readonly outcome: string;
  /** Bytes of its value in the journal, before compression. */
  readonly bytes: number;
}

/** One thing that a journal says has happened, with its value: as much of an entry as replay reads. */
export interface HistoryEntry {
  /** The letter of the entry, which says exactly what `kind` and `outcome` say for a reader. */
  readonly letter: string;
  readonly kind: string;
  readonly path: string;
  /** What became of the step: `done`, `failed`, `declined`, … */
  readonly outcome: string;
  /** A number made of what was asked: code that asks for something else has another one. */
  readonly fingerprint: number;
  /** Who answered, of an answer. */
  readonly by?: Provenance;
  /** The value, as the codec writes it. */
  readonly value?: Json;
}

/** What a saga was called with and all that has happened in it, in order. Holds answers and results: not for logs. */
export interface SagaHistory {
  /** The arguments as their schema parsed them, as the codec writes them. */
  readonly input: Json;
  readonly entries: readonly HistoryEntry[];
}
