import type { ProgramState } from '../model/program-state.ts';
import { isRecord, isTexts } from '../values/json.ts';
import { MalformedState } from './malformed-state.ts';

/** The small part of a state that changes from turn to turn. */
export interface Head {
  readonly turn: number;
  /** Stream with the input as its first value. */
  readonly input: 'client' | 'server';
  /** Last reported progress. Never decreases. */
  readonly progress: number | undefined;
  /**
   * Open questions that the client may answer, by path: digests of what an answer refers to. That
   * is the message, and of a form only the names, types, and choices of its fields
   * (`identityOfForm`): a new title or default keeps an answer valid. An answer to a question with
   * another digest is not used, and the question is asked again.
   */
  readonly asked: { readonly [path: string]: string };
  readonly waits: { readonly [path: string]: Wait };
  /**
   * Names of all other pending tasks, see `othersOf`. Undefined if they are unknown: the state of a
   * recording lists only what happened.
   */
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

/** Head as {@link encodeHead} writes it. */
interface Written {
  readonly t: number;
  readonly i: 'c' | 's';
  readonly p?: number;
  readonly a: Head['asked'];
  readonly w: Head['waits'];
  readonly o?: string[];
  readonly u?: string[];
  readonly m?: [number, number];
}

/** Decodes the head of a saga state. Throws MalformedState for another text. */
export function decodeHead(text: string): Head {
  const { t, i, p, a, w, o, u, m } = parsedHead(text);
  const input = i === 'c' ? 'client' : 'server';
  // An empty list is omitted. Without the other tasks, the list is unknown, too.
  const undos = u ?? (o === undefined ? undefined : []);
  return { turn: t, input, progress: p, asked: a, waits: w, others: o, undos, mismatch: m };
}

function parsedHead(text: string): Written {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new MalformedState();
  }
  if (!isRecord(parsed)) throw new MalformedState();
  const { t, i, p, a, w, o, u, m } = parsed;
  const isGood =
    isCount(t) &&
    (i === 'c' || i === 's') &&
    (p === undefined || typeof p === 'number') &&
    isRecord(a) &&
    Object.values(a).every(isText) &&
    isRecord(w) &&
    Object.values(w).every(isWait) &&
    [o, u].every((paths) => paths === undefined || isTexts(paths)) &&
    (m === undefined || (Array.isArray(m) && m.length === 2 && m.every(isCount)));
  if (!isGood) throw new MalformedState();
  return parsed as unknown as Written;
}

function isWait(value: unknown): value is Wait {
  if (!Array.isArray(value) || value.length !== 3) return false;
  const [since, until, asked] = value as unknown[];
  return Number.isFinite(since) && (until === null || Number.isFinite(until)) && isCount(asked);
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
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
