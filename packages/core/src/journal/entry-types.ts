import type { Provenance } from '../model/client-step.ts';
import { reveal } from './withheld-entry.ts';

/**
 * Types of journal entries: letter, stream of the value, command, outcome, and `true` for an answer with a provenance. Letters,
 * streams, and answers are part of the token format. A timeline shows the most frequent command of a type.
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
  // A poll that ran when its branch was ended. Replay reads `withdrawn` at once, and this type in order.
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
  // Follows the entry of a step if the interrupted turn may have executed other steps after that step.
  interrupted: ['L', 'none', 'interrupted', 'outcome unknown'],
} as const;

/** The name of an entry type. */
export type EntryType = keyof typeof entryTypes;

/** How entries of one type are sealed and shown. */
export interface EntryFormat {
  readonly type: EntryType;
  readonly letter: string;
  readonly stream: 'client' | 'server' | 'none';
  readonly kind: string;
  readonly outcome: string;
  readonly answer: boolean;
}

const formats: Readonly<Record<string, EntryFormat>> = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ Object.entries(entryTypes).map(
    ([type, [letter, stream, kind, outcome, answer = false]]): [string, EntryFormat] => [
      letter,
      { type: type as EntryType, letter, stream, kind, outcome, answer },
    ],
  ),
);

/** The format of an entry by its head, which begins with its letter. Undefined for the letter of a newer release. */
export function formatOf(head: string): EntryFormat {
  return formats[head.charAt(0)] as EntryFormat;
}

/** `true` if a step was done: its effect has happened, and its result is known. */
export function isDone(type: EntryType | undefined): boolean {
  return type === 'done' || type === 'compressed' || type === 'empty';
}

/** The letter of who gave an answer, which stands behind the letter of its entry. */
export const provenanceLetters: Readonly<Record<Provenance, string>> = {
  client: 'c',
  model: 'm',
  server: 's',
  'verified-url': 'u',
};

/** Who gave an answer, by the letter. */
export function provenanceOf(letter: string): Provenance | undefined {
  return (Object.keys(provenanceLetters) as Provenance[]).find((name) => provenanceLetters[name] === letter);
}

/** An entry of a parsed structure, with its position. */
interface Entry {
  readonly at: number;
  readonly format: EntryFormat;
  readonly path: string;
  readonly fingerprint: number;
  readonly provenance: Provenance | undefined;
  readonly agreement: number | undefined;
  /** `true` if the server stream contains its path or fingerprint, before its own value. */
  readonly isWithheld: boolean;
}

/**
 * Reads the entries of a parsed structure. Without the values of the `server` stream, withheld fingerprints are 0, and paths end
 * at their first key.
 */
export function* entriesOf(
  structure: readonly (string | number)[],
  server: readonly unknown[] = [],
): Generator<Entry> {
  let serverAt = 0;
  for (let at = 0; at < structure.length;) {
    const head = structure[at] as string;
    const format = formatOf(head);
    const { answer, stream } = format;
    const isWithheld = typeof structure[at + 1] !== 'number';
    const open = head.slice(answer ? 2 : 1);
    const withheld = isWithheld ? server[serverAt] : undefined;
    const { path, fingerprint } =
      typeof withheld === 'string'
        ? reveal({ open, withheld })
        : { path: open, fingerprint: isWithheld ? 0 : (structure[at + 1] as number) };
    yield {
      at,
      format,
      path,
      fingerprint,
      provenance: answer ? provenanceOf(head.charAt(1)) : undefined,
      agreement: answer && !isWithheld ? (structure[at + 2] as number) : undefined,
      isWithheld,
    };
    if (isWithheld) serverAt += 1;
    if (stream === 'server') serverAt += 1;
    at += isWithheld ? 1 : answer ? 3 : 2;
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

/** Reads the provenance of all answers in a structure. */
export function answerersOf(structure: string): Answerers {
  const byPath = new Map<string, { index: number; provenance: Provenance }>();
  let index = 0;
  for (const { path, provenance } of entriesOf(JSON.parse(`[${structure}]`) as (string | number)[])) {
    if (provenance !== undefined) byPath.set(path, { index, provenance });
    index += 1;
  }
  return { structure, byPath };
}

/** `true` if texts of `encode` may contain a tag (`{"$":…}`); else `revive` changes nothing. JSON never escapes a `$`. */
export function mayHoldTag(text: string): boolean {
  return text.includes('$":');
}

/** An entry to be added. */
export interface NewEntry {
  readonly type: EntryType;
  readonly path: string;
  readonly fingerprint: number;
  /** The encoded value, if entries of its type have one. */
  readonly text?: string;
  /** For answers: who gave it, and a digest by which a repeated answer is compared. */
  readonly answer?: { readonly provenance: Provenance; readonly agreement: number };
}
