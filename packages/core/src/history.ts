import type { Provenance } from './client-step.ts';
import { decodeHead, encodeHead } from './head.ts';
import { entriesOf } from './entries.ts';
import type { Json } from './json.ts';
import { kindOf, outcomes, provenanceLetters, type Letter } from './letters.ts';
import type { ProgramState } from './program.ts';

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

/** Reads a state. */
export function historyOf(state: ProgramState): SagaHistory {
  const streams = {
    client: JSON.parse(`[${state.client}]`) as Json[],
    server: JSON.parse(`[${state.server}]`) as Json[],
  };
  const input = streams[decodeHead(state.head).input].shift() ?? {};
  const structure = JSON.parse(`[${state.structure}]`) as (string | number)[];
  const entries = Array.from(entriesOf(structure, [...streams.server]), (entry): HistoryEntry => {
    const { letter, path, fingerprint, provenance: by } = entry;
    const { outcome, stream } = outcomes[letter];
    if (entry.isWithheld) streams.server.shift();
    const value = stream === 'none' ? undefined : streams[stream].shift();
    return {
      letter,
      kind: kindOf(letter),
      path,
      outcome,
      fingerprint,
      ...(by === undefined ? {} : { by }),
      ...(value === undefined ? {} : { value }),
    };
  });
  return { input, entries };
}

/** The state of a saga in which this has happened, and which has come no further: replay reads it like any other. */
export function stateOf({ input, entries }: SagaHistory): ProgramState {
  const streams = { client: [JSON.stringify(input)], server: [] as string[] };
  const structure: (string | number)[] = [];
  for (const { letter, path, fingerprint, by, value } of entries) {
    if (!Object.hasOwn(outcomes, letter)) {
      throw new TypeError(`No journal has entries '${letter}'. Was the recording made by a newer release?`);
    }
    const { stream, answer } = outcomes[letter as Letter];
    // No answer comes to a replay that it would have to agree with.
    if (answer) structure.push(letter + provenanceLetters[by ?? 'client'] + path, fingerprint, 0);
    else structure.push(letter + path, fingerprint);
    if (stream !== 'none') streams[stream].push(JSON.stringify(value ?? null));
  }
  return {
    // Not the first turn, in which alone there is nothing to replay.
    head: encodeHead({
      turn: 1,
      input: 'client',
      progress: undefined,
      asked: {},
      waits: {},
      mismatch: undefined,
    }),
    structure: JSON.stringify(structure).slice(1, -1),
    client: streams.client.join(','),
    server: streams.server.join(','),
  };
}
