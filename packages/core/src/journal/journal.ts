import { revive } from '../values/codec.ts';
import { ReplayMismatch, SagaLimitExceeded, type StepFacts } from '../values/errors.ts';
import {
  answerersOf,
  entriesOf,
  lastOf,
  mayHoldTag,
  type Answerers,
  entryTypes,
  formatOf,
  provenanceLetters,
  type EntryType,
  type NewEntry,
} from './entry-types.ts';
import type { Provenance } from '../model/client-step.ts';
import { engineVersion, type ProgramState } from '../model/program-state.ts';
import { endMark, undoMark } from '../values/path.ts';
import { RecordedValues } from './recorded-values.ts';
import { reveal, withhold, type Revealed } from './withheld-entry.ts';

/** An entry about a task, which says itself where it belongs. */
export type TaskEntry = Omit<NewEntry, 'path' | 'fingerprint'>;

/** An entry that no code asks for any more. */
export interface SkippedEntry {
  readonly type: EntryType;
  readonly path: string;
  readonly value: unknown;
}

/**
 * Entries of a saga in order. Texts of the state are kept as read, and new ones appended: nothing is encoded twice, and a
 * body that changes a value cannot reach the journal.
 */
export class Journal {
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
  /** Values in the server stream before the first entry's. */
  #inputs = 0;
  #revealed: { readonly at: number; readonly parts: Revealed } | undefined;
  #hidesPaths: boolean;
  readonly #withholds: boolean;
  #texts: { structure: string; client: string; server: string };
  #limit: number;
  #awaited: StepFacts | undefined;
  /** Most journals hold plain JSON only: one look at the texts spares a walk through every value. */
  readonly #tagged: boolean;
  #last: ReadonlyMap<string, number> | undefined;
  #answerers: Answerers | undefined;

  /** @param engine - version of the engine that began the saga: version 1 compresses keys and fingerprints */
  constructor(state: ProgramState, maxEntries: number, engine: number = engineVersion) {
    this.#state = state;
    this.#texts = { structure: state.structure, client: state.client, server: state.server };
    this.#structure = JSON.parse(`[${state.structure}]`) as (string | number)[];
    this.#client = JSON.parse(`[${state.client}]`) as unknown[];
    this.#server = JSON.parse(`[${state.server}]`) as unknown[];
    this.#limit = maxEntries;
    this.#tagged = mayHoldTag(state.client) || mayHoldTag(state.server);
    this.#withholds = engine > 1;
    // A head that is a letter alone has its whole path in the server stream.
    this.#hidesPaths = /"[A-Za-z]"/.test(state.structure);
  }

  /** `true` if the journal keeps whole paths in the server stream. */
  get hidesPaths(): boolean {
    return this.#hidesPaths;
  }

  /** Keeps the whole paths of all further entries in the server stream, because they contain values. */
  hidePaths(): void {
    this.#hidesPaths = true;
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
      skipped.push({ type: this.type as EntryType, path: this.path, value: this.next() });
    }
    return skipped;
  }

  /** Rejects new entries until `thaw()`: unchanged code adds no entries during replay. */
  freeze(awaited: StepFacts): void {
    this.#awaited = awaited;
  }

  /** `true` if the next entry says that the body was halted, because it met a limit. */
  get isHaltedHere(): boolean {
    return this.replaying && this.path === `${endMark}limit`;
  }

  /** `true` if the journal is frozen and its saga is being undone. */
  get isFrozenUndo(): boolean {
    return this.#awaited?.path.startsWith(undoMark) === true;
  }

  /** Accepts new entries again. */
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
    const head = this.#structure[this.#at];
    return typeof head === 'string' ? formatOf(head).type : undefined;
  }

  /** The path of the next entry. */
  get path(): string {
    const head = this.#structure[this.#at] as string;
    return this.#withheld?.path ?? head.slice(formatOf(head).answer ? 2 : 1);
  }

  /** The fingerprint of the next entry. */
  get fingerprint(): number {
    return this.#withheld?.fingerprint ?? (this.#structure[this.#at + 1] as number);
  }

  /** Whether the next entry is about the step at `path`. */
  isAbout(path: string): boolean {
    const head = this.#structure[this.#at];
    if (typeof head !== 'string') return false;
    if (this.#withheld !== undefined) return this.#withheld.path === path;
    const skip = formatOf(head).answer ? 2 : 1;
    return head.length === path.length + skip && head.endsWith(path);
  }

  /** The next entry, for errors. */
  facts(): StepFacts {
    const { kind } = formatOf(this.#structure[this.#at] as string);
    return { kind, path: this.path, fingerprint: this.fingerprint };
  }

  /** Takes the next entry off and gives its value, ready for the body. */
  next(): unknown {
    if (this.#count === this.#stop) throw new ReplayMismatch(this.#count, this.facts(), []);
    const head = this.#structure[this.#at] as string;
    const { stream, answer } = formatOf(head);
    if (this.#withheld !== undefined) this.#serverAt += 1;
    this.#at += this.#withheld !== undefined ? 1 : answer ? 3 : 2;
    this.#count += 1;
    if (stream === 'none') return undefined;
    return this.#take(stream);
  }

  /** Makes copies of the value that `next()` gave last: a body may change what it was given. */
  copierOf(value: unknown, stream: 'client' | 'server'): () => unknown {
    if (typeof value !== 'object' || value === null) return () => value;
    const at = (stream === 'client' ? this.#clientAt : this.#serverAt) - 1;
    return () => (this.#recorded ??= new RecordedValues(this.#state)).copyAt(stream, at);
  }

  /** The texts with which a saga starts: nothing has happened, and the first value of a stream is its input. */
  skipInput(stream: 'client' | 'server'): unknown {
    if (stream === 'server') this.#inputs += 1;
    return this.#take(stream);
  }

  /** Adds an entry, if there is room for it. */
  append(entry: NewEntry): void {
    this.assertRoom(1);
    this.add(entry);
  }

  /** Adds an entry, be the journal full. */
  add(entry: NewEntry): void {
    const { type, path, fingerprint, text, answer } = entry;
    const [letter, stream, kind] = entryTypes[type];
    this.assertThawed(kind, path, fingerprint);
    this.#count += 1;
    const mark = answer === undefined ? letter : letter + provenanceLetters[answer.provenance];
    if (this.#isWithheld(entry)) {
      const { open, withheld } = withhold(entry, this.#hidesPaths);
      this.#write('structure', JSON.stringify(mark + open));
      this.#write('server', JSON.stringify(withheld));
    } else {
      const numbers = answer === undefined ? fingerprint : `${fingerprint},${answer.agreement}`;
      this.#write('structure', `${JSON.stringify(mark + path)},${numbers}`);
    }
    if (stream !== 'none') this.#write(stream, text as string);
  }

  #write(stream: 'structure' | 'client' | 'server', text: string): void {
    this.#texts[stream] += this.#texts[stream] === '' ? text : `,${text}`;
  }

  /** `true` if an entry contains a value of the server. A question that the client answered was sent to it. */
  #isWithheld({ path, fingerprint, answer }: NewEntry): boolean {
    if (!this.#withholds) return false;
    const isAsked = answer !== undefined && answer.provenance !== 'server';
    return (
      this.#hidesPaths || path.includes('(') || (!isAsked && (fingerprint !== 0 || answer !== undefined))
    );
  }

  /** `true` if `more` entries can be added. */
  hasRoom(more: number): boolean {
    return this.#count + more <= this.#limit;
  }

  /** Throws unless `more` entries can be added. */
  assertRoom(more: number): void {
    if (this.hasRoom(more)) return;
    throw new SagaLimitExceeded(
      `The journal has reached its limit of ${this.#limit} entries. Do more in one step, or raise maxJournalEntries.`,
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
    for (const { path, agreement, provenance } of entriesOf(this.#structure)) {
      // A conflict would tell a client that has never been asked whether its guess is the server's answer.
      if (agreement !== undefined && provenance !== 'server') digests.set(path, agreement);
    }
    return digests;
  }

  /** Whether an entry about the step at `path` is still to be replayed. */
  isAhead(path: string): boolean {
    this.#last ??= lastOf(this.#structure, this.#server.slice(this.#inputs));
    return (this.#last.get(path) ?? -1) >= this.#at;
  }

  /** Who answered the step at `path`, as far as the journal has been read or written. Scanned when it is asked. */
  answeredBy(path: string): Provenance | undefined {
    const { structure } = this.#texts;
    if (this.#answerers?.structure !== structure) this.#answerers = answerersOf(structure);
    const found = this.#answerers.byPath.get(path);
    return found !== undefined && found.index < this.#count ? found.provenance : undefined;
  }

  /** Path and fingerprint of the next entry, if they are in the server stream. */
  get #withheld(): Revealed | undefined {
    const at = this.#at;
    if (!this.replaying || typeof this.#structure[at + 1] === 'number') return undefined;
    if (this.#revealed?.at !== at) {
      const head = this.#structure[at] as string;
      const open = head.slice(formatOf(head).answer ? 2 : 1);
      const withheld = this.#server[this.#serverAt] as string;
      this.#revealed = { at, parts: reveal({ open, withheld }) };
    }
    return this.#revealed.parts;
  }

  #take(stream: 'client' | 'server'): unknown {
    const value = stream === 'client' ? this.#client[this.#clientAt++] : this.#server[this.#serverAt++];
    return this.#tagged ? revive(value) : value;
  }
}
