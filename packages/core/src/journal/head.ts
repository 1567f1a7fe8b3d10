import type { ProgramState } from '../model/program-state.ts';

/** The small part of a state that changes from turn to turn. */
export interface Head {
  readonly turn: number;
  /** Stream with the input as its first value. */
  readonly input: 'client' | 'server';
  /** Last reported progress. Never decreases. */
  readonly progress: number | undefined;
  /** Last questions to the client: digests of the exact parameters, by path. */
  readonly asked: { readonly [path: string]: string };
  readonly waits: { readonly [path: string]: Wait };
  /** Names of all other pending tasks, see `awaited.ts`. Undefined in states of older releases. */
  readonly others?: readonly string[] | undefined;
  /** Paths of undos registered without a name, which have no journal entry. */
  readonly undos?: readonly string[] | undefined;
  /**
   * Number of entries that fit the code, and of all entries, if the saga no longer fits the code.
   */
  readonly mismatch: readonly [fitting: number, recorded: number] | undefined;
}

/** A timed wait: start and end (ms since the epoch), and the number of questions asked. */
export type Wait = readonly [since: number, until: number | null, asked: number];

/** Encodes the head of a saga state. */
export function encodeHead(head: Head): string {
  const { turn, input, progress, asked, waits, others, undos, mismatch } = head;
  return JSON.stringify({
    t: turn,
    i: input === 'client' ? 'c' : 's',
    p: progress,
    a: asked,
    w: waits,
    o: others,
    u: undos?.length === 0 ? undefined : undos,
    m: mismatch,
  });
}

/** Decodes the head of a saga state. */
export function decodeHead(text: string): Head {
  const { t, i, p, a, w, o, u, m } = JSON.parse(text) as {
    t: number;
    i: string;
    p?: number;
    a: Head['asked'];
    w: Head['waits'];
    o?: string[];
    u?: string[];
    m?: [number, number];
  };
  const input = i === 'c' ? 'client' : 'server';
  // An empty list is omitted. Without `o`, the state is of an older release, and the list is
  // unknown.
  const undos = u ?? (o === undefined ? undefined : []);
  return { turn: t, input, progress: p, asked: a, waits: w, others: o, undos, mismatch: m };
}

/** `true` if two states differ only in the number of turns. */
export function isSameState(one: ProgramState, other: ProgramState): boolean {
  const streams = ['structure', 'client', 'server'] as const;
  return (
    streams.every((stream) => one[stream] === other[stream]) &&
    withoutTurn(one) === withoutTurn(other)
  );
}

function withoutTurn({ head }: ProgramState): string {
  const { asked, waits, ...rest } = decodeHead(head);
  return JSON.stringify({ ...rest, turn: 0, asked: sorted(asked), waits: sorted(waits) });
}

function sorted(entries: object): object {
  return Object.entries(entries).toSorted(([path], [another]) => (path < another ? -1 : 1));
}
