/**
 * What has happened in a saga, in order. The state of a saga is a small head (`head.ts`), which
 * changes each turn, and three streams of JSON texts, which only grow:
 *
 * - `structure`: type, path, and fingerprint of each entry
 * - `client`: values that the client knows already
 * - `server`: values that the client must not see before they are shown
 *
 * The token layer compresses the streams apart, so that the length of a token cannot show
 * whether a secret equals a value that the client chose. `entry-types.ts` lists the types of
 * entries with their letters, which are part of the token format.
 *
 * - An entry is written once and never changed. Values are encoded when they are recorded, so
 *   that a body cannot change them later.
 * - The journal comes back from the client. Whatever does not parse, or does not fit its type, is
 *   `MalformedState`: the saga neither continues nor is undone by it.
 * - The number of entries has a limit, which is checked before an effect runs.
 */
import { revive } from '../values/codec.ts';
import { ReplayMismatch, SagaLimitExceeded, type StepFacts } from '../values/errors.ts';
import {
  answerersOf,
  digestsOf,
  entriesOf,
  lastOf,
  mayHoldTag,
  OpenParts,
  openPartsOf,
  type Answerers,
  entryTypes,
  formatOf,
  isWithheld,
  provenanceLetters,
  type EntryType,
  writtenDigest,
  type NewEntry,
} from './entry-types.ts';
import type { Provenance } from '../model/client-step.ts';
import type { ProgramState } from '../model/program-state.ts';
import { endMark } from '../values/path.ts';
import { RecordedValues } from './journal-values.ts';
import { MalformedState, parseTexts } from './malformed-state.ts';
import { fingerprintIn, isOpen, reveal, withhold } from './withheld-entry.ts';

function revived(value: unknown): unknown {
  try {
    return revive(value);
  } catch {
    throw new MalformedState();
  }
}

/** Entry of a task. The task adds path and fingerprint. */
export type TaskEntry = Omit<NewEntry, 'path' | 'fingerprint'>;

/** Recorded entry that the code no longer issues. */
export interface SkippedEntry {
  readonly type: EntryType;
  readonly path: string;
  readonly value: unknown;
}

/**
 * Entries of a saga, in order. Keeps the texts as read: values are encoded once, and a body cannot
 * change them.
 */
export class Journal {
  /** Text of the ID and the capabilities that `info()` has recorded last, up to here. */
  lastingFacts: string | undefined;
  readonly #state: ProgramState;
  #recorded: RecordedValues | undefined;
  readonly #structure: readonly (string | number)[];
  readonly #client: readonly unknown[];
  readonly #server: readonly unknown[];
  #at = 0;
  #clientAt = 0;
  #serverAt = 0;
  #count = 0;
  #stop: number = Number.POSITIVE_INFINITY;
  /** Values in each stream before the first entry's. */
  readonly #inputs = { client: 0, server: 0 };
  readonly #read = new OpenParts();
  #opens: OpenParts | undefined;
  /** Path at `#revealedAt`. */
  #revealed = '';
  #revealedAt = -1;
  #hidesPaths: boolean;
  #texts: { structure: string; client: string; server: string };
  #limit: number;
  #awaited: StepFacts | undefined;
  /** `true` if a value may need `revive`. Most journals hold plain JSON only. */
  readonly #tagged: boolean;
  #last: ReadonlyMap<string, number> | undefined;
  #answerers: Answerers | undefined;

  constructor(state: ProgramState, maxEntries: number) {
    this.#state = state;
    this.#texts = { structure: state.structure, client: state.client, server: state.server };
    this.#structure = parseTexts(state.structure) as (string | number)[];
    this.#client = parseTexts(state.client);
    this.#server = parseTexts(state.server);
    this.#limit = maxEntries;
    this.#tagged = mayHoldTag(state.client) || mayHoldTag(state.server);
    // If a head is only a letter, the server stream contains the path.
    this.#hidesPaths = /"[A-Za-z]"/.test(state.structure);
  }

  /** `true` if the journal keeps whole paths in the server stream. */
  get hidesPaths(): boolean {
    return this.#hidesPaths;
  }

  /**
   * Keeps the whole paths of all further entries in the server stream, because they contain values.
   */
  hidePaths(): void {
    this.#hidesPaths = true;
  }

  /** Number of entries recorded before this turn. */
  get recorded(): number {
    let count = 0;
    for (const _ of entriesOf(this.#structure)) count += 1;
    return count;
  }

  /** Number of entries read or added so far. */
  get count(): number {
    return this.#count;
  }

  /** `true` if entries are left to replay. */
  get replaying(): boolean {
    return this.#at < this.#structure.length;
  }

  /** Limits replay to the first `count` entries: after them, `next()` throws a `ReplayMismatch`. */
  stopAt(count: number): void {
    this.#stop = count;
  }

  /** Skips the entries up to number `count` without replay. */
  skipTo(count: number): readonly SkippedEntry[] {
    this.#stop = Number.POSITIVE_INFINITY;
    const skipped: SkippedEntry[] = [];
    while (this.replaying && this.#count < count) {
      skipped.push({ type: this.type as EntryType, path: this.path, value: this.next() });
    }
    return skipped;
  }

  /** Rejects new entries until `thaw()`: unchanged code adds no entries during replay. */
  freeze(awaited: StepFacts): void {
    this.#awaited = awaited;
  }

  /** `true` if the next entry records that a limit halted the body. */
  get isHaltedHere(): boolean {
    return this.replaying && this.path === `${endMark}limit`;
  }

  thaw(): void {
    this.#awaited = undefined;
  }

  /** Throws a `ReplayMismatch` if the journal is frozen. */
  assertThawed(kind: string, path: string, fingerprint: number): void {
    if (this.#awaited !== undefined)
      throw new ReplayMismatch(this.#count, this.#awaited, [{ kind, path, fingerprint }]);
  }

  /** Type of the next entry. Undefined if no entry is left. */
  get type(): EntryType | undefined {
    return this.replaying ? formatOf(this.#structure[this.#at]).type : undefined;
  }

  get path(): string {
    const at = this.#at;
    const head = this.#structure[at] as string;
    const open = head.slice(formatOf(head).answer ? 2 : 1);
    if (typeof this.#structure[at + 1] === 'number') return open;
    // Once: a repeated open part is restored by its place among the others.
    if (this.#revealedAt !== at) {
      this.#revealed = reveal(this.#read.restore(open), this.#server[this.#serverAt]).path;
      this.#revealedAt = at;
    }
    return this.#revealed;
  }

  get fingerprint(): number {
    const open = this.#structure[this.#at + 1];
    return typeof open === 'number' ? open : fingerprintIn(this.#server[this.#serverAt]);
  }

  /** Returns `true` if the next entry is about the step at `path`. */
  isAbout(path: string): boolean {
    const head = this.#structure[this.#at];
    if (typeof head !== 'string') return false;
    const skip = formatOf(head).answer ? 2 : 1;
    // A part of a path, or no path at all: the server stream has the rest.
    const isSplit =
      typeof this.#structure[this.#at + 1] !== 'number' && (head.length === skip || isOpen(head));
    if (isSplit) return this.path === path;
    return head.length === path.length + skip && head.endsWith(path);
  }

  /** The next entry, for errors. */
  facts(): StepFacts {
    const { kind } = formatOf(this.#structure[this.#at]);
    return { kind, path: this.path, fingerprint: this.fingerprint };
  }

  /** Removes the next entry and returns the value for the body. */
  next(): unknown {
    if (this.#count === this.#stop) throw new ReplayMismatch(this.#count, this.facts(), []);
    const { stream } = formatOf(this.#structure[this.#at]);
    const hasParts = typeof this.#structure[this.#at + 1] !== 'number';
    if (hasParts) this.#serverAt += 1;
    this.#at += hasParts ? 1 : typeof this.#structure[this.#at + 2] === 'number' ? 3 : 2;
    this.#count += 1;
    if (stream === 'none') return undefined;
    return this.#take(stream);
  }

  /** Returns a function that copies the last value of `next()`: a body may change the value. */
  copierOf(value: unknown, stream: 'client' | 'server'): () => unknown {
    if (typeof value !== 'object' || value === null) return () => value;
    const at = (stream === 'client' ? this.#clientAt : this.#serverAt) - 1;
    return () => this.#copyOf(stream, at);
  }

  #copyOf(stream: 'client' | 'server', at: number): unknown {
    return (this.#recorded ??= new RecordedValues(this.#state)).copyAt(stream, at);
  }

  /** Takes the input of the saga, the first value of a stream. */
  skipInput(stream: 'client' | 'server'): unknown {
    this.#inputs[stream] += 1;
    return this.#take(stream);
  }

  /** Adds an entry. Throws if the journal is full. */
  append(entry: NewEntry): void {
    this.assertRoom(1);
    this.add(entry);
  }

  /** Adds an entry, even to a full journal. */
  add(entry: NewEntry): void {
    const { type, path, fingerprint, text, answer } = entry;
    const [letter, stream, kind] = entryTypes[type];
    this.assertThawed(kind, path, fingerprint);
    this.#count += 1;
    const mark = answer === undefined ? letter : letter + provenanceLetters[answer.provenance];
    if (isWithheld(entry, this.#hidesPaths)) {
      const { open, withheld } = withhold(entry, this.#hidesPaths || path.startsWith('('));
      const written = open.endsWith('(')
        ? (this.#opens ??= openPartsOf(this.#structure)).shorten(open)
        : open;
      this.#write('structure', JSON.stringify(mark + written));
      this.#write('server', JSON.stringify(withheld));
    } else {
      const digest = writtenDigest(entry);
      const numbers = digest === undefined ? fingerprint : `${fingerprint},${digest}`;
      this.#write('structure', `${JSON.stringify(mark + path)},${numbers}`);
    }
    if (stream !== 'none') this.#write(stream, text as string);
  }

  #write(stream: 'structure' | 'client' | 'server', text: string): void {
    this.#texts[stream] += this.#texts[stream] === '' ? text : `,${text}`;
  }

  hasRoom(more: number): boolean {
    return this.#count + more <= this.#limit;
  }

  assertRoom(more: number): void {
    if (this.hasRoom(more)) return;
    throw new SagaLimitExceeded(
      `The journal has reached its limit of ${this.#limit} entries. Combine steps, continue as a new saga, or raise limits.maxTokenBytes.`,
    );
  }

  /** Lifts the limit for the undo of a saga that reached the limit. */
  lift(): void {
    this.#limit = Number.POSITIVE_INFINITY;
  }

  /** UTF-16 units that were added to the texts. */
  get addedLength(): number {
    const { structure, client, server } = this.#texts;
    const added = structure.length + client.length + server.length;
    return (
      added - this.#state.structure.length - this.#state.client.length - this.#state.server.length
    );
  }

  /** State with all entries, those of this turn included. */
  get state(): ProgramState {
    return { ...this.#state, ...this.#texts };
  }

  texts(): { readonly structure: string; readonly client: string; readonly server: string } {
    return this.#texts;
  }

  /** Functions for the digests of the recorded answers, by path. */
  answered(): ReadonlyMap<string, () => number | undefined> {
    return digestsOf(this.#structure, this.#inputs.client, (at) => this.#copyOf('client', at));
  }

  /** `true` if an entry about the step at `path` is left to replay. */
  isAhead(path: string): boolean {
    this.#last ??= lastOf(this.#structure, this.#server.slice(this.#inputs.server));
    return (this.#last.get(path) ?? -1) >= this.#at;
  }

  /**
   * Origin of the answer at `path`, in the part of the journal read or written so far. Scanned on
   * demand.
   */
  answeredBy(path: string): Provenance | undefined {
    const { structure } = this.#texts;
    if (this.#answerers?.structure !== structure) this.#answerers = answerersOf(structure);
    const found = this.#answerers.byPath.get(path);
    return found !== undefined && found.index < this.#count ? found.provenance : undefined;
  }

  #take(stream: 'client' | 'server'): unknown {
    const value =
      stream === 'client' ? this.#client[this.#clientAt++] : this.#server[this.#serverAt++];
    // JSON has no undefined: the stream has fewer values than the structure has entries.
    if (value === undefined) throw new MalformedState();
    return this.#tagged ? revived(value) : value;
  }
}
