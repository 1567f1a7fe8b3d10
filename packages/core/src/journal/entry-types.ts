import type { Provenance } from '../model/client-step.ts';
import { decode } from '../values/codec.ts';
import { agreementDigest } from '../values/fingerprint.ts';
import { isRecord, type Json } from '../values/json.ts';
import { MalformedState, parseTexts } from './malformed-state.ts';
import { isOpen, reveal } from './withheld-entry.ts';

/**
 * Types of journal entries: letter, stream of the value, command, outcome, and `true` for an answer
 * with a provenance. Letters, streams, and answers are part of the token format. A timeline shows
 * the most frequent command of a type.
 */
export const entryTypes = {
  accepted: ['e', 'client', 'elicit', 'accepted', true],
  // The schema changed the answer, or the server gave it: the client does not know the value.
  parsed: ['p', 'server', 'elicit', 'accepted', true],
  declined: ['d', 'none', 'client step', 'declined', true],
  dismissed: ['x', 'none', 'client step', 'cancelled', true],
  agreed: ['o', 'none', 'elicitUrl', 'accepted', true],
  sampled: ['m', 'client', 'sample', 'answered', true],
  // The host sampled: the client does not know the value.
  sampledHere: ['M', 'server', 'sample', 'answered', true],
  listed: ['l', 'client', 'roots', 'answered', true],
  clientError: ['q', 'client', 'client step', 'failed at the client', true],
  // The client cannot be asked, or cannot be kept waiting.
  cannot: ['C', 'none', 'client step', 'the client cannot'],
  timedOut: ['y', 'none', 'client step', 'timed out'],
  done: ['s', 'server', 'step', 'done'],
  compressed: ['z', 'client', 'step', 'done'],
  empty: ['v', 'none', 'step', 'done'],
  failed: ['f', 'server', 'step', 'failed'],
  unknown: ['g', 'server', 'step', 'failed, outcome unknown'],
  retry: ['t', 'server', 'step', 'to be tried again'],
  withdrawn: ['w', 'none', 'step', 'withdrawn'],
  // A poll that ran when the branch was ended. Replay reads `withdrawn` at once, but `stopped` in
  // order.
  stopped: ['W', 'none', 'poll', 'withdrawn while it ran'],
  polled: ['P', 'server', 'poll', 'answered'],
  time: ['n', 'server', 'now', 'read'],
  read: ['r', 'server', 'random', 'read'],
  uuid: ['u', 'server', 'uuid', 'read'],
  info: ['i', 'server', 'info', 'read'],
  called: ['c', 'server', 'call', 'called'],
  passed: ['k', 'none', 'checkpoint', 'passed'],
  // Markers: no task waits for them.
  namedUndo: ['b', 'server', 'compensate', 'can be undone by name'],
  pivoted: ['h', 'none', 'pivot', 'passed'],
  patched: ['j', 'none', 'patched', 'patched'],
  ended: ['a', 'server', 'cancel', 'ended from outside'],
  // Follows the entry of a step if the interrupted turn may have executed other steps after that
  // step.
  interrupted: ['L', 'none', 'interrupted', 'outcome unknown'],
  // The interrupted turn may have executed any of the steps of lists that wait here: the fingerprint
  // is that of their paths. The value is the number of the turn if it may have executed steps after
  // them, too; else 0.
  suspected: ['Q', 'server', 'interrupted', 'outcome unknown'],
} as const;

/** Type of a journal entry. */
export type EntryType = keyof typeof entryTypes;

/** Layout of entries of one type in a token and in a timeline. */
export interface EntryFormat {
  readonly type: EntryType;
  readonly letter: string;
  readonly stream: 'client' | 'server' | 'none';
  readonly kind: string;
  readonly outcome: string;
  readonly answer: boolean;
}

const formats: Readonly<Record<number, EntryFormat>> = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ Object.entries(entryTypes).map(
    ([type, [letter, stream, kind, outcome, answer = false]]): [number, EntryFormat] => [
      letter.charCodeAt(0),
      { type: type as EntryType, letter, stream, kind, outcome, answer },
    ],
  ),
);

/**
 * Format of an entry by the letter at the start of its head. Throws MalformedState for a letter that
 * no entry has.
 */
export function formatOf(head: unknown): EntryFormat {
  const format = typeof head === 'string' ? formats[head.charCodeAt(0)] : undefined;
  if (format === undefined) throw new MalformedState();
  return format;
}

const isErrorData = (value: unknown): boolean =>
  isRecord(value) &&
  [value['name'], value['message']].every((one) => one === undefined || typeof one === 'string');

/**
 * Shapes of values that the engine reads itself when it replays a generator. All other values go to
 * the body as they are.
 */
const shapes: { readonly [type in EntryType]?: (value: unknown) => boolean } = {
  clientError: isErrorData,
  failed: isErrorData,
  unknown: isErrorData,
  retry: (value) =>
    Array.isArray(value) && value.length >= 3 && value.slice(0, 2).every(Number.isFinite),
  sampled: isRecord,
  sampledHere: isRecord,
  listed: Array.isArray,
  time: Number.isFinite,
  suspected: Number.isFinite,
  info: (value) =>
    Array.isArray(value) &&
    value.slice(0, 3).every(Number.isFinite) &&
    (value.length === 3 || (value.length === 4 && isRecord(value[3]))),
};

/** Throws MalformedState for a value that no entry of the type has. */
export function assertShape(type: EntryType, value: unknown): void {
  if (shapes[type]?.(value) === false) throw new MalformedState();
}

/** `true` for a step with a known result. */
export function isDone(type: EntryType | undefined): boolean {
  return type === 'done' || type === 'compressed' || type === 'empty';
}

/** Letters for the provenance of an answer, after the letter of the entry. */
export const provenanceLetters: Readonly<Record<Provenance, string>> = {
  client: 'c',
  model: 'm',
  server: 's',
  'verified-url': 'u',
};

export function provenanceOf(letter: string): Provenance | undefined {
  return (Object.keys(provenanceLetters) as Provenance[]).find(
    (name) => provenanceLetters[name] === letter,
  );
}

/** An entry of a parsed structure, with its position. */
interface Entry {
  readonly at: number;
  readonly format: EntryFormat;
  readonly path: string;
  readonly fingerprint: number;
  readonly provenance: Provenance | undefined;
  readonly agreement: number | undefined;
  /** `true` if the server stream contains the path or fingerprint, before the value. */
  readonly isWithheld: boolean;
}

/** Stands for a server stream that is not read. */
const withoutValues: readonly unknown[] = [];

/**
 * Reads the entries of a parsed structure. Without the values of the `server` stream, withheld
 * fingerprints are 0, and paths end at their first key.
 */
export function* entriesOf(
  structure: readonly (string | number)[],
  server: readonly unknown[] = withoutValues,
): Generator<Entry> {
  let serverAt = 0;
  const opens = new OpenParts();
  for (let at = 0; at < structure.length;) {
    const head = structure[at] as string;
    const format = formatOf(head);
    const { answer, stream } = format;
    const hasParts = typeof structure[at + 1] !== 'number';
    const agreement = hasParts ? undefined : structure[at + 2];
    const written = head.slice(answer ? 2 : 1);
    const open = hasParts ? opens.restore(written) : written;
    const { path, fingerprint } =
      hasParts && server !== withoutValues
        ? reveal(open, server[serverAt])
        : { path: open, fingerprint: hasParts ? 0 : (structure[at + 1] as number) };
    yield {
      at,
      format,
      path,
      fingerprint,
      provenance: answer ? provenanceOf(head.charAt(1)) : undefined,
      agreement: typeof agreement === 'number' ? agreement : undefined,
      isWithheld: hasParts,
    };
    if (hasParts) serverAt += 1;
    if (stream === 'server') serverAt += 1;
    at += hasParts ? 1 : typeof agreement === 'number' ? 3 : 2;
  }
}

/** Reconstructs the answer from the value of an entry, for types with complete entries. */
const wholeAnswers: { readonly [type in EntryType]?: (value: () => unknown) => unknown } = {
  accepted: (value) => ({ result: { action: 'accept', content: value() } }),
  agreed: () => ({ result: { action: 'accept' } }),
  declined: () => ({ result: { action: 'decline' } }),
  dismissed: () => ({ result: { action: 'cancel' } }),
  sampled: (value) => ({ result: value() }),
  listed: (value) => ({ result: { roots: value() } }),
};

function recordedDigest(type: EntryType, value: () => unknown): number | undefined {
  const whole = wholeAnswers[type];
  return whole === undefined ? undefined : agreementDigest(whole(value) as Json);
}

/** Digest to write with an answer. Undefined if reading the entry gives the same digest. */
export function writtenDigest({ type, text, answer }: NewEntry): number | undefined {
  const digest = answer?.agreement;
  const value = (): unknown => decode(text as string);
  return digest !== undefined && recordedDigest(type, value) === digest ? undefined : digest;
}

/**
 * `true` if an entry may hold a value that the client has not seen. It has seen each question that it
 * answered, with the keys in its path.
 */
export function isWithheld({ path, fingerprint, answer }: NewEntry, hidesPaths: boolean): boolean {
  const isAsked = answer !== undefined && answer.provenance !== 'server';
  return (
    hidesPaths || (!isAsked && (path.includes('(') || fingerprint !== 0 || answer !== undefined))
  );
}

/**
 * Digests of the answers of a client, by path. `copyOf` gives the value at a position of the client
 * stream.
 */
export function digestsOf(
  structure: readonly (string | number)[],
  inputs: number,
  copyOf: (at: number) => unknown,
): ReadonlyMap<string, () => number | undefined> {
  const digests = new Map<string, () => number | undefined>();
  let clientAt = inputs;
  for (const entry of entriesOf(structure)) {
    const { format, path, agreement, provenance } = entry;
    const at = clientAt;
    if (format.stream === 'client') clientAt += 1;
    // For a question never sent to the client, a conflict would reveal if a guess matches the
    // server's answer.
    if (provenance === undefined || provenance === 'server' || entry.isWithheld) continue;
    digests.set(path, () => agreement ?? recordedDigest(format.type, () => copyOf(at)));
  }
  return digests;
}

/** Open parts of a structure, to add entries. */
export function openPartsOf(structure: readonly (string | number)[]): OpenParts {
  const opens = new OpenParts();
  for (const entry of entriesOf(structure)) if (entry.isWithheld) opens.restore(entry.path);
  return opens;
}

/** Replaces an open part equal to the last open part with a key, as for a step in a loop. */
const repeated = '(';

/** Open parts in the order of their entries. A repeated part is written as `(`. */
export class OpenParts {
  #last = '';

  /** Shortens an open part for writing. A path that begins with `(` has no open part. */
  shorten(open: string): string {
    const isRepeated = open === this.#last && open !== '';
    if (isOpen(open)) this.#last = open;
    return isRepeated ? repeated : open;
  }

  /** Restores an open part after reading. */
  restore(open: string): string {
    if (!isOpen(open)) return open;
    if (open !== repeated || this.#last === '') this.#last = open;
    return this.#last;
  }
}

/** Positions of the last entry of each path. */
export function lastOf(
  structure: readonly (string | number)[],
  server: readonly unknown[],
): ReadonlyMap<string, number> {
  const last = new Map<string, number>();
  for (const { at, path } of entriesOf(structure, server)) last.set(path, at);
  return last;
}

/** Provenance and entry of each answer in a structure, by path. */
export interface Answerers {
  readonly structure: string;
  readonly byPath: ReadonlyMap<string, { readonly index: number; readonly provenance: Provenance }>;
}

export function answerersOf(structure: string): Answerers {
  const byPath = new Map<string, { index: number; provenance: Provenance }>();
  let index = 0;
  for (const { path, provenance } of entriesOf(parseTexts(structure) as (string | number)[])) {
    if (provenance !== undefined) byPath.set(path, { index, provenance });
    index += 1;
  }
  return { structure, byPath };
}

/**
 * `true` if texts of `encode` may contain a tag (`{"$":…}`); else `revive` changes nothing. JSON
 * never escapes a `$`.
 */
export function mayHoldTag(text: string): boolean {
  return text.includes('$":');
}

export interface NewEntry {
  readonly type: EntryType;
  readonly path: string;
  readonly fingerprint: number;
  /** Encoded value, if the type has a value. */
  readonly text?: string;
  /** Provenance and digest of an answer. The digest identifies a repeated answer. */
  readonly answer?: { readonly provenance: Provenance; readonly agreement: number };
}
