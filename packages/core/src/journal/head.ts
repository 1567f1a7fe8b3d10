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
  /**
   * Number of entries that fit the code, and of all entries, if the saga no longer fits the code.
   */
  readonly mismatch: readonly [fitting: number, recorded: number] | undefined;
  /**
   * Number of a turn of which an interrupted run may have gone on behind a time that has not passed
   * yet, to steps that no later turn can name before it starts them.
   */
  readonly interrupted?: number | undefined;
}

/** A timed wait: start and end (ms since the epoch), and the number of questions asked. */
export type Wait = readonly [since: number, until: number | null, asked: number];

/** Head as JSON. What most sagas lack is omitted, because every token holds a head. */
interface Written {
  readonly turn: number;
  /** Absent: `client`. */
  readonly input?: 'server';
  readonly progress?: number;
  /** Absent if no question is open. `waits` is written in the same way. */
  readonly asked?: Head['asked'];
  readonly waits?: Head['waits'];
  /** Absent: none. Null: unknown. */
  readonly others?: readonly string[] | null;
  readonly mismatch?: readonly [number, number];
  readonly interrupted?: number;
}

/** Encodes the head of a saga state. */
export function encodeHead(head: Head): string {
  const { turn, input, progress, asked, waits, others, mismatch, interrupted } = head;
  return JSON.stringify({
    turn,
    input: input === 'client' ? undefined : input,
    progress,
    asked: Object.keys(asked).length === 0 ? undefined : asked,
    waits: Object.keys(waits).length === 0 ? undefined : waits,
    others: others === undefined ? null : others.length === 0 ? undefined : others,
    mismatch,
    interrupted,
  });
}

/** Decodes the head of a saga state. Throws MalformedState for another text. */
export function decodeHead(text: string): Head {
  const written = parsedHead(text);
  const { turn, input = 'client', progress, asked = {}, waits = {} } = written;
  const { mismatch, interrupted } = written;
  const others = written.others === null ? undefined : (written.others ?? []);
  return { turn, input, progress, asked, waits, others, mismatch, interrupted };
}

function parsedHead(text: string): Written {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new MalformedState();
  }
  if (!isRecord(parsed)) throw new MalformedState();
  const { turn, input, progress, asked = {}, waits = {}, others = [] } = parsed;
  const { mismatch = [0, 0], interrupted = 0 } = parsed;
  const isGood =
    isCount(turn) &&
    (input === undefined || input === 'server') &&
    (progress === undefined || typeof progress === 'number') &&
    isRecord(asked) &&
    Object.values(asked).every(isText) &&
    isRecord(waits) &&
    Object.values(waits).every(isWait) &&
    (others === null || isTexts(others)) &&
    Array.isArray(mismatch) &&
    mismatch.length === 2 &&
    mismatch.every(isCount) &&
    isCount(interrupted);
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
