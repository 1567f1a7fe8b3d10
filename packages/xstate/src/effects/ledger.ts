import {
  present,
  Journal,
  type EntryType,
  type StepEnd,
  type StepSpec,
  decode,
  encode,
  type ProgramState,
  type Runtime,
} from '@mcp-saga/core/program';
import { encodeRecord } from '../record/save-record.ts';

/** One effect that was run. */
export interface LedgerEntry {
  readonly type: EntryType;
  readonly path: string;
  readonly value: unknown;
}

/** What a compensable effect leaves behind: the name of its logic, its input, its result. */
export type DoneEffect = readonly [logic: string, input: unknown, result?: unknown];

/** What came of attempts after which there is to be another one. */
export type Attempts = readonly [attempts: number, notBefore: number, unknown: boolean];

/** What a compensable effect leaves behind that is to be tried again, and may have happened. */
type OpenEffect = readonly [...Attempts, logic: string, input: unknown];

/** The effects of a saga in the order they ended, as a journal like a generator's, so that the same code undoes both. */
export class Ledger {
  /** What the first value of the state is: the arguments, a machine, or why it is being undone. */
  readonly first: unknown;
  /** Without those of effects that were to be tried again. */
  readonly entries: LedgerEntry[] = [];

  #journal: Journal;
  readonly #engine: number;
  readonly #runs = new Map<string, number>();
  /** Those that are to be tried again, by path. */
  readonly #open = new Map<string, OpenEffect>();

  constructor(
    state: ProgramState,
    stream: 'client' | 'server',
    { limits, engine }: Pick<Runtime, 'limits' | 'engine'>,
  ) {
    const [first, ...values] = JSON.parse(`[${state[stream]}]`) as unknown[];
    this.first = decode(JSON.stringify(first));
    const { structure } = state;
    const server = values.map((value) => JSON.stringify(value)).join(',');
    this.#engine = engine;
    this.#journal = new Journal({ ...noTexts, structure, server }, limits.maxJournalEntries, engine);
    for (const entry of this.#journal.skipTo(Number.POSITIVE_INFINITY)) this.#read(entry);
  }

  /** The number of the last run of the effect at a path, from 1; 0 where it was not run. */
  lastRun(path: string): number {
    return this.#runs.get(path) ?? 0;
  }

  /** Throws unless `more` effects can be run. */
  assertRoom(more: number): void {
    // A compensable effect with a named undo takes two entries.
    this.#journal.assertRoom(2 * more);
  }

  /**
   * Records the outcome of an effect, with what its undo takes: who cancels the saga may have neither machine nor code. An effect
   * that may have happened and will be tried again is recorded until it ends.
   */
  add(
    path: string,
    end: StepEnd,
    effect: {
      readonly spec: StepSpec;
      readonly logic: string;
      readonly input: unknown;
      /** `true` if its path holds ids that are not in the machine's definition. */
      readonly isSpawned: boolean;
    },
  ): void {
    const { spec, logic, input, isSpawned } = effect;
    if (isSpawned) this.#journal.hidePaths();
    const compensable = spec.undo !== undefined;
    switch (end.type) {
      case 'done':
      case 'compressed':
      case 'empty': {
        if (!compensable) {
          this.#append('empty', path);
          return;
        }
        const result: unknown = 'text' in end ? decode(end.text) : undefined;
        const done: DoneEffect = result === undefined ? [logic, input] : [logic, input, result];
        this.#append('done', path, encode(done));
        this.#bind(path, spec, input, result);
        return;
      }
      case 'unknown':
        if (compensable) this.#append('unknown', path, encode({ name: logic, message: '', data: input }));
        else this.#append('failed', path, '{}');
        return;
      case 'failed':
        this.#append('failed', path, '{}');
        return;
      case 'retry':
        if (compensable && !this.#open.has(path)) {
          this.#append('retry', path, encode([...(decode(end.text) as Attempts), logic, input]));
        }
    }
  }

  /** Records an interrupted turn whose effects are unknown: an undo names the turn as uncompensated. */
  addInterrupted(turn: number): void {
    const path = `turn ${turn}`;
    if (this.entries.some((entry) => entry.path === path)) return;
    this.#append('unknown', path, encode({ name: '', message: '' }));
  }

  /** Lifts the limit on entries, which may be the reason why the saga is undone. */
  lift(): void {
    this.#journal.lift();
  }

  /** The saga is undone: whether what was to be tried again has happened, nobody will ever know. (E4) */
  giveUp(): void {
    for (const [path, [, , , name, data]] of this.#open) {
      this.entries.push({ type: 'unknown', path, value: { name, message: '', data } });
    }
    const { hidesPaths } = this.#journal;
    // Anew, without a limit: it may be why.
    this.#journal = new Journal(noTexts, Number.POSITIVE_INFINITY, this.#engine);
    if (hidesPaths) this.#journal.hidePaths();
    for (const { type, path, value } of this.entries.splice(0)) {
      this.#append(type, path, value === undefined ? undefined : encode(value));
    }
  }

  /** The texts of the state: the machine's record, then what its effects left behind. */
  texts(record: object): Pick<ProgramState, 'structure' | 'client' | 'server'> {
    const { structure, server } = this.#journal.texts();
    const first = encodeRecord(record);
    return { structure, client: '', server: server === '' ? first : `${first},${server}` };
  }

  /** A named undo is sealed with its arguments, at once: it runs even where the code is gone. */
  #bind(path: string, { undo }: StepSpec, input: unknown, result: unknown): void {
    const known = undo?.known;
    if (known === undefined || !('bind' in known)) return;
    let text = encode(null);
    try {
      const { name, args } = known.bind({ result: result as never, input: input as never });
      // Ids of actors may have parentheses, as no others have: null says that they hold no key.
      text = encode([name, args, null]);
    } catch {
      // It is done and cannot be undone: it is residue, should it come to that.
    }
    this.#append('namedUndo', path, text);
  }

  #append(type: EntryType, path: string, text?: string): void {
    // First of all: whatever goes wrong in recording it, it was done, and can be undone.
    this.#read({ type, path, value: text === undefined ? undefined : decode(text) });
    this.#journal.append({ type, path, fingerprint: 0, ...present({ text }) });
  }

  #read(entry: LedgerEntry): void {
    const { type, path, value } = entry;
    if (type === 'retry') {
      this.#open.set(path, value as OpenEffect);
    } else {
      this.#open.delete(path);
      this.entries.push(entry);
    }
    if (type === 'namedUndo') return;
    const [base, run = '1'] = path.split('#') as [string, string?];
    this.#runs.set(base, Math.max(this.lastRun(base), Number(run)));
  }
}

const noTexts: ProgramState = { head: '', structure: '', client: '', server: '' };
