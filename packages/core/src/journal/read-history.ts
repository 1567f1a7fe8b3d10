import { present, type Json } from '../values/json.ts';
import { decodeHead, encodeHead } from './head.ts';
import { entriesOf, formatOf, provenanceLetters, type EntryFormat } from './entry-types.ts';
import type { HistoryEntry, SagaHistory, TimelineEntry } from '../model/history.ts';
import type { ProgramState } from '../model/program-state.ts';
import { MalformedState, parseTexts } from './malformed-state.ts';

export function historyOf(state: ProgramState): SagaHistory {
  const streams = {
    client: parseTexts(state.client) as Json[],
    server: parseTexts(state.server) as Json[],
  };
  const input = streams[decodeHead(state.head).input].shift() ?? {};
  const structure = parseTexts(state.structure) as (string | number)[];
  const entries = Array.from(entriesOf(structure, [...streams.server]), (entry): HistoryEntry => {
    const { path, fingerprint, provenance: by } = entry;
    const { letter, kind, outcome, stream } = entry.format;
    if (entry.isWithheld) streams.server.shift();
    const value = stream === 'none' ? undefined : streams[stream].shift();
    if (stream !== 'none' && value === undefined) throw new MalformedState();
    return { letter, kind, path, outcome, fingerprint, ...present({ by, value }) };
  });
  return { input, entries };
}

/** Format of an entry of a recording, which a newer release may have made. Throws TypeError. */
function knownFormat(letter: string): EntryFormat {
  try {
    return formatOf(letter);
  } catch {
    throw new TypeError(
      `Unknown journal entry '${letter}'. Update the package if a newer release made the recording.`,
    );
  }
}

/** Reads a state, without values. */
export function timelineOf(state: ProgramState): readonly TimelineEntry[] {
  const { input, entries } = historyOf(state);
  return [
    { kind: 'input', path: '', outcome: 'parsed', bytes: sizeOf(input) },
    ...entries.map(({ kind, path, outcome, value }) => ({
      kind,
      path,
      outcome,
      bytes: sizeOf(value),
    })),
  ];
}

function sizeOf(value: Json | undefined): number {
  return value === undefined ? 0 : JSON.stringify(value).length;
}

/** State of a saga with this history, for a replay. */
export function stateOf({ input, entries }: SagaHistory): ProgramState {
  const streams = { client: [JSON.stringify(input)], server: [] as string[] };
  const structure: (string | number)[] = [];
  for (const { letter, path, fingerprint, by, value } of entries) {
    const { stream, answer } = knownFormat(letter);
    // A replay gets no answers, so the digest 0 is never compared.
    if (answer) structure.push(letter + provenanceLetters[by ?? 'client'] + path, fingerprint, 0);
    else structure.push(letter + path, fingerprint);
    if (stream !== 'none') streams[stream].push(JSON.stringify(value ?? null));
  }
  return {
    // Not 0: a first turn replays nothing.
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
