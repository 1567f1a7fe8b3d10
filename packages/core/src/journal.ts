import { revive } from './codec.ts';
import { ReplayMismatch, SagaLimitExceeded, type StepFacts } from './errors.ts';
import { mayHoldTag } from './may-hold-tag.ts';
import type { Provenance } from './client-step.ts';
import type { ProgramState } from './program.ts';

/** The letter of an entry. */
export type Letter =
  | ('e' | 'p' | 'd' | 'x' | 'o' | 'm' | 'l' | 'q')
  | ('s' | 'z' | 'v' | 'f' | 't' | 'w')
  | ('n' | 'r' | 'u' | 'i' | 'c' | 'k')
  | ('b' | 'g' | 'h' | 'y' | 'a' | 'j' | 'P');

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
  l: { outcome: 'answered', stream: 'client', answer: true },
  q: { outcome: 'failed at the client', stream: 'client', answer: true },
  s: { outcome: 'done', stream: 'server', answer: false },
  z: { outcome: 'done', stream: 'client', answer: false },
  v: { outcome: 'done', stream: 'none', answer: false },
  f: { outcome: 'failed', stream: 'server', answer: false },
  t: { outcome: 'to be tried again', stream: 'server', answer: false },
  w: { outcome: 'withdrawn', stream: 'none', answer: false },
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
};

/** Which letters can answer which kind of command. */
export const lettersOf: Readonly<Record<string, string>> = {
  elicit: 'epdxqy',
  elicitUrl: 'odxqy',
  sample: 'mqy',
  roots: 'lq',
  step: 'szvftwg',
  now: 'n',
  random: 'rfw',
  uuid: 'ufw',
  info: 'i',
  checkpoint: 'k',
  call: 'cfw',
  sleep: 'kw',
  poll: 'Pfyw',
  stepKey: 'rfw',
  compensate: 'b',
  pivot: 'h',
  patched: 'j',
  cancel: 'a',
};

/** Which kind of command an entry's letter tells of; where several could be, the most common one. */
export function kindOf(letter: string): string {
  if (letter === 'd' || letter === 'x' || letter === 'q' || letter === 'y') return 'client step';
  return Object.entries(lettersOf).find(([, letters]) => letters.includes(letter))?.[0] ?? 'step';
}

const provenances: Readonly<Record<Provenance, string>> = {
  client: 'c',
  model: 'm',
  server: 's',
  'verified-url': 'u',
};

/** An entry to be added. */
export interface NewEntry {
  readonly letter: Letter;
  readonly path: string;
  readonly fingerprint: number;
  /** The encoded value, where the letter has one. */
  readonly text?: string;
  /** For answers: who gave it, and a digest by which a repeated answer is compared. */
  readonly answer?: { readonly provenance: Provenance; readonly agreement: number };
}

/** An entry that no code asks for any more. */
export interface SkippedEntry {
  readonly letter: string;
  readonly path: string;
  readonly value: unknown;
}

/**
 * What has happened in a saga, in order. The state's texts are read once and kept as they are; new entries are
 * appended to them, so that nothing recorded is ever encoded anew, and what a body does to a value it was given
 * cannot reach the journal.
 */
export class Journal {
  readonly #structure: readonly (string | number)[];
  readonly #client: readonly unknown[];
  readonly #server: readonly unknown[];
  #at = 0;
  #clientAt = 0;
  #serverAt = 0;
  #count = 0;
  #stop: number = Number.POSITIVE_INFINITY;
  #texts: { structure: string; client: string; server: string };
  #limit: number;
  /** Most journals hold plain JSON only: one look at the texts spares a walk through every value. */
  readonly #tagged: boolean;

  constructor(state: ProgramState, maxEntries: number) {
    this.#texts = { structure: state.structure, client: state.client, server: state.server };
    this.#structure = JSON.parse(`[${state.structure}]`) as (string | number)[];
    this.#client = JSON.parse(`[${state.client}]`) as unknown[];
    this.#server = JSON.parse(`[${state.server}]`) as unknown[];
    this.#limit = maxEntries;
    this.#tagged = mayHoldTag(state.client) || mayHoldTag(state.server);
  }

  /** How many entries were recorded before this turn. */
  get recorded(): number {
    let count = 0;
    for (const _ of entriesOf(this.#structure)) count += 1;
    return count;
  }

  /** How many entries have been read or added. */
  get count(): number {
    return this.#count;
  }

  /** Whether there are entries left to replay. */
  get replaying(): boolean {
    return this.#at < this.#structure.length;
  }

  /** Replays no more than the first `count` entries: to take the next one off throws, as it did when it was found. */
  stopAt(count: number): void {
    this.#stop = count;
  }

  /** Takes the entries up to the `count`th off without replaying them. */
  skipTo(count: number): readonly SkippedEntry[] {
    this.#stop = Number.POSITIVE_INFINITY;
    const skipped: SkippedEntry[] = [];
    while (this.replaying && this.#count < count) {
      const { letter, path } = this;
      skipped.push({ letter, path, value: this.next() });
    }
    return skipped;
  }

  /** The letter of the next entry. */
  get letter(): string {
    const head = this.#structure[this.#at];
    return typeof head === 'string' ? head.charAt(0) : '';
  }

  /** The path of the next entry. */
  get path(): string {
    const head = this.#structure[this.#at] as string;
    return head.slice(this.#isAnswer(head) ? 2 : 1);
  }

  /** The fingerprint of the next entry. */
  get fingerprint(): number {
    return this.#structure[this.#at + 1] as number;
  }

  /** Whether the next entry is about the step at `path`. */
  isAbout(path: string): boolean {
    const head = this.#structure[this.#at];
    if (typeof head !== 'string') return false;
    const skip = this.#isAnswer(head) ? 2 : 1;
    return head.length === path.length + skip && head.endsWith(path);
  }

  /** The next entry, for errors. */
  facts(): StepFacts {
    return { kind: kindOf(this.letter), path: this.path, fingerprint: this.fingerprint };
  }

  /** Takes the next entry off and gives its value, ready for the body. */
  next(): unknown {
    if (this.#count === this.#stop) throw new ReplayMismatch(this.#count, this.facts(), []);
    const head = this.#structure[this.#at] as string;
    const { stream, answer } = outcomes[head.charAt(0) as Letter];
    this.#at += answer ? 3 : 2;
    this.#count += 1;
    if (stream === 'none') return undefined;
    return this.#take(stream);
  }

  /** The texts with which a saga starts: nothing has happened, and the first value of a stream is its input. */
  skipInput(stream: 'client' | 'server'): unknown {
    return this.#take(stream);
  }

  /** Adds an entry. */
  append(entry: NewEntry): void {
    this.assertRoom(1);
    this.#count += 1;
    const { letter, path, fingerprint, text, answer } = entry;
    const head = JSON.stringify(
      answer === undefined ? letter + path : letter + provenances[answer.provenance] + path,
    );
    const line =
      answer === undefined ? `${head},${fingerprint}` : `${head},${fingerprint},${answer.agreement}`;
    this.#texts.structure += this.#texts.structure === '' ? line : `,${line}`;
    const { stream } = outcomes[letter];
    if (stream !== 'none') this.#texts[stream] += this.#texts[stream] === '' ? text : `,${text}`;
  }

  /** Throws unless `more` entries can be added. */
  assertRoom(more: number): void {
    if (this.#count + more <= this.#limit) return;
    throw new SagaLimitExceeded(
      `The saga's journal has reached its limit of ${this.#limit} entries. Do more in one step, or raise maxJournalEntries.`,
    );
  }

  /** Lifts the limit: undoing what a saga did must not fail for the same reason. */
  lift(): void {
    this.#limit = Number.POSITIVE_INFINITY;
  }

  /** The texts of the journal as it is now. */
  texts(): { readonly structure: string; readonly client: string; readonly server: string } {
    return this.#texts;
  }

  /** The answers in the recorded part, by path: their digests. */
  answered(): ReadonlyMap<string, number> {
    const digests = new Map<string, number>();
    for (const entry of entriesOf(this.#structure)) {
      if (entry.agreement !== undefined) digests.set(entry.path, entry.agreement);
    }
    return digests;
  }

  #take(stream: 'client' | 'server'): unknown {
    const value = stream === 'client' ? this.#client[this.#clientAt++] : this.#server[this.#serverAt++];
    return this.#tagged ? revive(value) : value;
  }

  #isAnswer(head: string): boolean {
    return outcomes[head.charAt(0) as Letter].answer;
  }
}

/** The entries of a parsed structure, one by one. */
export function* entriesOf(
  structure: readonly (string | number)[],
): Generator<{ letter: Letter; path: string; agreement: number | undefined }> {
  for (let at = 0; at < structure.length;) {
    const head = structure[at] as string;
    const letter = head.charAt(0) as Letter;
    const { answer } = outcomes[letter];
    yield {
      letter,
      path: head.slice(answer ? 2 : 1),
      agreement: answer ? (structure[at + 2] as number) : undefined,
    };
    at += answer ? 3 : 2;
  }
}
