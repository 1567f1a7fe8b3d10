import type { Provenance } from '../model/client-step.ts';

/**
 * The types of journal entries: how each is sealed, and how a timeline shows it.
 *
 * An entry has a letter, since a token holds thousands of entries. Letters, streams, and `answer` are part of the token's
 * format. `stream` holds the value of the entry. `answer` marks the answers to questions, which name their provenance. `kind`
 * is the most frequent command if several commands share a type.
 */
export const entryTypes = {
  accepted: { letter: 'e', stream: 'client', answer: true, kind: 'elicit', outcome: 'accepted' },
  // The schema changed the answer, or the server gave it: the client does not know the value.
  parsed: { letter: 'p', stream: 'server', answer: true, kind: 'elicit', outcome: 'accepted' },
  declined: { letter: 'd', stream: 'none', answer: true, kind: 'client step', outcome: 'declined' },
  dismissed: { letter: 'x', stream: 'none', answer: true, kind: 'client step', outcome: 'cancelled' },
  agreed: { letter: 'o', stream: 'none', answer: true, kind: 'elicitUrl', outcome: 'accepted' },
  sampled: { letter: 'm', stream: 'client', answer: true, kind: 'sample', outcome: 'answered' },
  // The host sampled: the client does not know the value.
  sampledHere: { letter: 'M', stream: 'server', answer: true, kind: 'sample', outcome: 'answered' },
  listed: { letter: 'l', stream: 'client', answer: true, kind: 'roots', outcome: 'answered' },
  clientError: {
    letter: 'q',
    stream: 'client',
    answer: true,
    kind: 'client step',
    outcome: 'failed at the client',
  },
  // The client cannot be asked, or cannot be kept waiting.
  clientCannot: {
    letter: 'C',
    stream: 'none',
    answer: false,
    kind: 'client step',
    outcome: 'the client cannot',
  },
  timedOut: { letter: 'y', stream: 'none', answer: false, kind: 'client step', outcome: 'timed out' },
  done: { letter: 's', stream: 'server', answer: false, kind: 'step', outcome: 'done' },
  doneCompressed: { letter: 'z', stream: 'client', answer: false, kind: 'step', outcome: 'done' },
  doneEmpty: { letter: 'v', stream: 'none', answer: false, kind: 'step', outcome: 'done' },
  failed: { letter: 'f', stream: 'server', answer: false, kind: 'step', outcome: 'failed' },
  failedUnknown: {
    letter: 'g',
    stream: 'server',
    answer: false,
    kind: 'step',
    outcome: 'failed, outcome unknown',
  },
  retry: { letter: 't', stream: 'server', answer: false, kind: 'step', outcome: 'to be tried again' },
  withdrawn: { letter: 'w', stream: 'none', answer: false, kind: 'step', outcome: 'withdrawn' },
  // A poll that ran when its branch was ended. Replay reads `withdrawn` at once, and this type in order.
  withdrawnRunning: {
    letter: 'W',
    stream: 'none',
    answer: false,
    kind: 'poll',
    outcome: 'withdrawn while it ran',
  },
  polled: { letter: 'P', stream: 'server', answer: false, kind: 'poll', outcome: 'answered' },
  time: { letter: 'n', stream: 'server', answer: false, kind: 'now', outcome: 'read' },
  read: { letter: 'r', stream: 'server', answer: false, kind: 'random', outcome: 'read' },
  uuid: { letter: 'u', stream: 'server', answer: false, kind: 'uuid', outcome: 'read' },
  info: { letter: 'i', stream: 'server', answer: false, kind: 'info', outcome: 'read' },
  called: { letter: 'c', stream: 'server', answer: false, kind: 'call', outcome: 'called' },
  passed: { letter: 'k', stream: 'none', answer: false, kind: 'checkpoint', outcome: 'passed' },
  // Markers: no task waits for them.
  namedUndo: {
    letter: 'b',
    stream: 'server',
    answer: false,
    kind: 'compensate',
    outcome: 'can be undone by name',
  },
  pivoted: { letter: 'h', stream: 'none', answer: false, kind: 'pivot', outcome: 'passed' },
  patched: { letter: 'j', stream: 'none', answer: false, kind: 'patched', outcome: 'patched' },
  ended: { letter: 'a', stream: 'server', answer: false, kind: 'cancel', outcome: 'ended from outside' },
  // Follows the entry of a step if the interrupted turn may have executed other steps after that step.
  interrupted: {
    letter: 'L',
    stream: 'none',
    answer: false,
    kind: 'interrupted',
    outcome: 'outcome unknown',
  },
} as const;

/** The name of an entry type. */
export type EntryType = keyof typeof entryTypes;

/** How entries of one type are sealed and shown. */
export interface EntryFormat {
  readonly type: EntryType;
  readonly letter: string;
  readonly stream: 'client' | 'server' | 'none';
  readonly answer: boolean;
  readonly kind: string;
  readonly outcome: string;
}

const formats: Readonly<Record<string, EntryFormat>> = /* @__PURE__ */ Object.fromEntries(
  /* @__PURE__ */ Object.entries(entryTypes).map(([type, format]): [string, EntryFormat] => [
    format.letter,
    { type: type as EntryType, ...format },
  ]),
);

/** The format of an entry by its head, which begins with its letter. */
export function formatOf(head: string): EntryFormat {
  return formats[head.charAt(0)] as EntryFormat;
}

/** `true` if a text is the letter of an entry type. */
export function isLetter(text: string): boolean {
  return Object.hasOwn(formats, text);
}

/** `true` if a step was done: its effect has happened, and its result is known. */
export function isDone(type: EntryType | undefined): boolean {
  return type === 'done' || type === 'doneCompressed' || type === 'doneEmpty';
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
