import type { Provenance } from '../model/client-step.ts';

/** The letter of an entry. */
export type Letter =
  | ('e' | 'p' | 'd' | 'x' | 'o' | 'm' | 'M' | 'l' | 'q' | 'C')
  | ('s' | 'z' | 'v' | 'f' | 't' | 'w' | 'W')
  | ('n' | 'r' | 'u' | 'i' | 'c' | 'k')
  | ('b' | 'g' | 'h' | 'y' | 'a' | 'j' | 'P' | 'L');

/** What an entry's letter says: the outcome, the stream its value stands in, and whether a client gave it. */
export interface EntryOutcome {
  readonly outcome: string;
  readonly stream: 'client' | 'server' | 'none';
  readonly answer: boolean;
}

/**
 * What an entry says became of a step. One letter each, since a token holds thousands of them; the letters are part
 * of the token's format.
 */
export const outcomes: Readonly<Record<Letter, EntryOutcome>> = {
  e: { outcome: 'accepted', stream: 'client', answer: true },
  p: { outcome: 'accepted', stream: 'server', answer: true },
  d: { outcome: 'declined', stream: 'none', answer: true },
  x: { outcome: 'cancelled', stream: 'none', answer: true },
  o: { outcome: 'accepted', stream: 'none', answer: true },
  m: { outcome: 'answered', stream: 'client', answer: true },
  // Sampled at the host: the client does not know it.
  M: { outcome: 'answered', stream: 'server', answer: true },
  l: { outcome: 'answered', stream: 'client', answer: true },
  q: { outcome: 'failed at the client', stream: 'client', answer: true },
  // The client cannot be asked, or cannot be kept waiting.
  C: { outcome: 'the client cannot', stream: 'none', answer: false },
  s: { outcome: 'done', stream: 'server', answer: false },
  z: { outcome: 'done', stream: 'client', answer: false },
  v: { outcome: 'done', stream: 'none', answer: false },
  f: { outcome: 'failed', stream: 'server', answer: false },
  t: { outcome: 'to be tried again', stream: 'server', answer: false },
  w: { outcome: 'withdrawn', stream: 'none', answer: false },
  // Of a poll that was being asked when its branch was ended: replay takes its 'w' then and there, this one in order.
  W: { outcome: 'withdrawn while it ran', stream: 'none', answer: false },
  n: { outcome: 'read', stream: 'server', answer: false },
  r: { outcome: 'read', stream: 'server', answer: false },
  u: { outcome: 'read', stream: 'server', answer: false },
  i: { outcome: 'read', stream: 'server', answer: false },
  c: { outcome: 'called', stream: 'server', answer: false },
  k: { outcome: 'passed', stream: 'none', answer: false },
  b: { outcome: 'can be undone by name', stream: 'server', answer: false },
  g: { outcome: 'failed, outcome unknown', stream: 'server', answer: false },
  h: { outcome: 'passed', stream: 'none', answer: false },
  y: { outcome: 'timed out', stream: 'none', answer: false },
  a: { outcome: 'ended from outside', stream: 'server', answer: false },
  j: { outcome: 'patched', stream: 'none', answer: false },
  P: { outcome: 'answered', stream: 'server', answer: false },
  // Follows the entry of the step behind which the interrupted turn may have executed others.
  L: { outcome: 'outcome unknown', stream: 'none', answer: false },
};

/** Which letters can answer which kind of command. */
export const lettersOf: Readonly<Record<string, string>> = {
  elicit: 'epdxqyCfw',
  elicitUrl: 'odxqyCw',
  sample: 'mMqyCfw',
  roots: 'lqCw',
  step: 'szvftwg',
  now: 'n',
  random: 'rfw',
  uuid: 'ufw',
  info: 'i',
  checkpoint: 'k',
  call: 'cfw',
  sleep: 'kwC',
  poll: 'PfywWC',
  stepKey: 'rfw',
  compensate: 'b',
  pivot: 'h',
  patched: 'j',
  cancel: 'a',
  interrupted: 'L',
};

/** Which kind of command an entry's letter tells of; where several could be, the most common one. */
export function kindOf(letter: string): string {
  if ('dxqyC'.includes(letter)) return 'client step';
  if (letter === 'f' || letter === 'w') return 'step';
  return Object.entries(lettersOf).find(([, letters]) => letters.includes(letter))?.[0] ?? 'step';
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
