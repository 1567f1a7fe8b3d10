import type { ProgramState } from '../model/program-state.ts';

/** The small part of a state that changes from turn to turn. */
export interface Head {
  /** Turns taken so far. */
  readonly turn: number;
  /** The stream that the input stands in, as its first value. */
  readonly input: 'client' | 'server';
  /** The last progress that was told; it never falls. (W5) */
  readonly progress: number | undefined;
  /** The questions the client was asked last, by path: digests of their exact parameters. (T6) */
  readonly asked: { readonly [path: string]: string };
  /** What waits for a time, by path: when it was first asked, when it is due, how often it has asked. */
  readonly waits: { readonly [path: string]: Wait };
  /** Names of all other pending tasks, see `awaited.ts`. Undefined in states of older releases. */
  readonly others?: readonly string[] | undefined;
  /** Paths of undos registered without a name, which have no journal entry. */
  readonly undos?: readonly string[] | undefined;
  /** The saga no longer fits its code: how many entries do, and how many there were. (R3) */
  readonly mismatch: readonly [fitting: number, recorded: number] | undefined;
}

/** Times of something that waits. */
export type Wait = readonly [since: number, until: number | null, asked: number];

/** A head as text. */
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

/** A head from its text. */
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
  // An empty list is omitted. Without `o`, the state is of an older release, and the list is unknown.
  const undos = u ?? (o === undefined ? undefined : []);
  return { turn: t, input, progress: p, asked: a, waits: w, others: o, undos, mismatch: m };
}

/** `true` if two states differ in nothing but the number of turns: the turn between them did nothing. */
export function isSameState(one: ProgramState, other: ProgramState): boolean {
  const streams = ['structure', 'client', 'server'] as const;
  return streams.every((stream) => one[stream] === other[stream]) && withoutTurn(one) === withoutTurn(other);
}

function withoutTurn({ head }: ProgramState): string {
  const { asked, waits, ...rest } = decodeHead(head);
  return JSON.stringify({ ...rest, turn: 0, asked: sorted(asked), waits: sorted(waits) });
}

function sorted(entries: object): object {
  return Object.entries(entries).toSorted(([path], [another]) => (path < another ? -1 : 1));
}
