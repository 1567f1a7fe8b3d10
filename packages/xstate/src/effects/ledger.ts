import {
  present,
  Journal,
  type EntryType,
  type StepEnd,
  type StepSpec,
  decode,
  encode,
  revive,
  type ProgramState,
  type Runtime,
} from '@mcp-saga/core/program';
import { encodeRecord } from '../record/save-record.ts';
import type { Decision } from './open-wait.ts';

/** Recorded effect. */
export interface LedgerEntry {
  readonly type: EntryType;
  readonly path: string;
  readonly value: unknown;
}

/** Record of a completed effect with an undo. */
export type DoneEffect = readonly [logic: string, input: unknown, result?: unknown];

/** Record of attempts of unknown outcome of an effect with an undo. */
type OpenEffect = readonly [
  attempts: number,
  notBefore: number,
  unknown: boolean,
  logic: string,
  input: unknown,
];

/**
 * Effects of a saga in the order they ended, in a journal as of a generator, so that the same code
 * undoes both.
 */
export class Ledger {
  /** First value of the state: arguments, machine, or reason of an undo. */
  readonly first: unknown;
  /** Entries without attempts before another one. */
  readonly entries: LedgerEntry[] = [];

  #journal: Journal;
  readonly #runs = new Map<string, number>();
  /** Effects of unknown outcome with another attempt, by path. */
  readonly #open = new Map<string, OpenEffect>();

  constructor(
    state: ProgramState,
    stream: 'client' | 'server',
    { limits }: Pick<Runtime, 'limits'>,
  ) {
    const [first, ...values] = JSON.parse(`[${state[stream]}]`) as unknown[];
    this.first = revive(first);
    const { structure } = state;
    const server = values.map((value) => JSON.stringify(value)).join(',');
    this.#journal = new Journal({ ...noTexts, structure, server }, limits.maxJournalEntries);
    for (const entry of this.#journal.skipTo(Number.POSITIVE_INFINITY)) this.#read(entry);
  }

  /** Number of the last run of the effect at a path, from 1; 0 without a run. */
  lastRun(path: string): number {
    return this.#runs.get(path) ?? 0;
  }

  /** Throws SagaLimitExceeded unless `more` effects can run. */
  assertRoom(more: number): void {
    // An effect with a named undo takes two entries.
    this.#journal.assertRoom(2 * more);
  }

  /**
   * Records the outcome of an effect, with the data for its undo, since a cancellation may have
   * neither machine nor code. Attempts of unknown outcome are recorded until the effect ends.
   */
  add(
    path: string,
    end: StepEnd,
    effect: {
      readonly spec: StepSpec;
      readonly logic: string;
      readonly input: unknown;
      /** `true` if the path contains IDs outside of the machine's definition. */
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
        if (compensable)
          this.#append('unknown', path, encode({ name: logic, message: '', data: input }));
        else this.#append('failed', path, '{}');
        return;
      case 'failed':
        this.#append('failed', path, '{}');
        return;
      case 'retry':
        if (compensable && !this.#open.has(path)) {
          // The record of its actor has the interrupted turn.
          const [attempts, notBefore, unknown] = decode(end.text) as readonly unknown[];
          this.#append('retry', path, encode([attempts, notBefore, unknown, logic, input]));
        }
    }
  }

  /**
   * Records the end of a wait for answers from outside: its decision, its failure, or its end
   * before both.
   */
  addWait(
    path: string,
    {
      end,
      isSpawned,
    }: { readonly end: Decision | 'failed' | 'withdrawn' | undefined; readonly isSpawned: boolean },
  ): void {
    if (isSpawned) this.#journal.hidePaths();
    if (typeof end === 'object') this.#append('polled', end.path, end.text);
    else if (end === 'withdrawn') this.#append('withdrawn', path);
    else this.#append('failed', path, '{}');
  }

  /**
   * Records an interrupted turn with unknown effects: an undo reports the turn as uncompensated.
   */
  addInterrupted(turn: number): void {
    const path = `turn ${turn}`;
    if (this.entries.some((entry) => entry.path === path)) return;
    this.#append('unknown', path, encode({ name: '', message: '' }));
  }

  /** Lifts the limit on entries, which can be the reason for the undo. */
  lift(): void {
    this.#journal.lift();
  }

  /** Prepares an undo: pending attempts have an unknown outcome. */
  giveUp(): void {
    for (const [path, [, , , name, data]] of this.#open) {
      this.entries.push({ type: 'unknown', path, value: { name, message: '', data } });
    }
    const { hidesPaths } = this.#journal;
    // Without a limit, which can be the reason for the undo.
    this.#journal = new Journal(noTexts, Number.POSITIVE_INFINITY);
    if (hidesPaths) this.#journal.hidePaths();
    for (const { type, path, value } of this.entries.splice(0)) {
      // Only numbers the runs of the path.
      if (type === 'withdrawn') continue;
      this.#append(type, path, value === undefined ? undefined : encode(value));
    }
  }

  /** Texts of the state: the machine's record, then the records of effects. */
  texts(record: object): Pick<ProgramState, 'structure' | 'client' | 'server'> {
    const { structure, server } = this.#journal.texts();
    const first = encodeRecord(record);
    return { structure, client: '', server: server === '' ? first : `${first},${server}` };
  }

  /**
   * Stores a named undo with its arguments, so that the undo can run without the code of the
   * machine.
   */
  #bind(path: string, { undo }: StepSpec, input: unknown, result: unknown): void {
    const work = undo?.work;
    if (work === undefined || !('bind' in work)) return;
    let text = encode(null);
    try {
      const { name, args } = work.bind({ outcome: 'done', result, input } as never);
      // Actor IDs can contain parentheses, which mark keys elsewhere: null says that there is no
      // key.
      text = encode([name, args, null]);
    } catch {
      // Without valid arguments, an undo reports the effect as uncompensated.
    }
    this.#append('namedUndo', path, text);
  }

  #append(type: EntryType, path: string, text?: string): void {
    // First, so that an error in the journal does not prevent the undo.
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
    // The entry of a decision is below the path of its wait.
    const owner = type === 'polled' ? path.slice(0, path.lastIndexOf('/')) : path;
    const [base, run = '1'] = owner.split('#') as [string, string?];
    this.#runs.set(base, Math.max(this.lastRun(base), Number(run)));
  }
}

const noTexts: ProgramState = { head: '', structure: '', client: '', server: '' };
