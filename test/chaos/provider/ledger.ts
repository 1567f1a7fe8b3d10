import { rmSync } from 'node:fs';
import sqlite from 'node-sqlite3-wasm';

/** What can be done for a purchase. */
export type Kind = 'charge' | 'ship' | 'thank' | 'room' | 'car' | 'stamp';

/** Something that happened, once: under its idempotency key. */
export interface EffectRow {
  readonly key: string;
  readonly purchase: string;
  readonly kind: Kind;
  /** How often it was asked for. */
  readonly asked: number;
}

/** Something that was undone, or withdrawn before it happened. */
export interface UndoRow {
  readonly key: string;
  /** The idempotency key of what it undoes. */
  readonly effectKey: string;
  readonly purchase: string;
  readonly kind: Kind;
  readonly asked: number;
}

/** A message of the delayed queue: by which token a saga can be cancelled whose client has gone. */
export interface QueuedRow {
  readonly sagaId: string;
  readonly turn: number;
  readonly cancelToken: string;
}

/** What the queue is told of a saga that has ended. */
export interface Settled {
  readonly sagaId: string;
  /** Labels of what could not be undone: somebody has to see to that. */
  readonly residue: readonly string[];
}

/** All that a provider knows. */
export interface LedgerRows {
  readonly effects: readonly EffectRow[];
  readonly undos: readonly UndoRow[];
  /** What was not removed from the queue. */
  readonly queued: readonly QueuedRow[];
  /** What the queue was told that could not be undone. */
  readonly residue: readonly string[];
}

const schema = `
  CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, purchase TEXT, kind TEXT, asked INTEGER);
  CREATE TABLE IF NOT EXISTS undos (key TEXT PRIMARY KEY, effectKey TEXT, purchase TEXT, kind TEXT, asked INTEGER);
  CREATE INDEX IF NOT EXISTS undone ON undos (effectKey);
  CREATE TABLE IF NOT EXISTS residue (label TEXT PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS queue (sagaId TEXT PRIMARY KEY, turn INTEGER, cancelToken TEXT, settled INTEGER);
`;

/** The books of a provider that honours idempotency keys, in SQLite: they outlive its process. */
export class Ledger {
  readonly #database: InstanceType<typeof sqlite.Database>;

  constructor(file: string) {
    // The lock of a process that was killed. There is one provider at a time.
    rmSync(`${file}.lock`, { recursive: true, force: true });
    this.#database = new sqlite.Database(file);
    // Killed processes lose nothing that was written; power cuts are not among the faults.
    this.#database.exec('PRAGMA synchronous = OFF');
    this.#database.exec(schema);
  }

  /** Does something, or finds that it was done. False where it was withdrawn before. */
  effect({ key, purchase, kind }: Omit<EffectRow, 'asked'>): boolean {
    if (this.#database.run('UPDATE effects SET asked = asked + 1 WHERE key = ?', [key]).changes > 0)
      return true;
    if (this.#database.get('SELECT 1 FROM undos WHERE effectKey = ?', [key]) !== null) return false;
    this.#database.run('INSERT INTO effects VALUES (?, ?, ?, 1)', [key, purchase, kind]);
    return true;
  }

  /** Undoes something, or withdraws what has not happened: if it is asked for later, it is not done. */
  undo({ key, effectKey, purchase, kind }: Omit<UndoRow, 'asked'>): void {
    if (this.#database.run('UPDATE undos SET asked = asked + 1 WHERE key = ?', [key]).changes > 0) return;
    this.#database.run('INSERT INTO undos VALUES (?, ?, ?, ?, 1)', [key, effectKey, purchase, kind]);
  }

  /** Replaces the one message of a saga, unless a newer one is there, or the saga has ended. */
  suspended({ sagaId, turn, cancelToken }: QueuedRow): void {
    this.#database.run(
      `INSERT INTO queue VALUES (?, ?, ?, 0) ON CONFLICT (sagaId)
       DO UPDATE SET turn = excluded.turn, cancelToken = excluded.cancelToken WHERE excluded.turn >= turn`,
      [sagaId, turn, cancelToken],
    );
  }

  /** Removes the message of a saga, and notes what it has left. */
  settled({ sagaId, residue }: Settled): void {
    for (const label of residue) this.#database.run('INSERT OR IGNORE INTO residue VALUES (?)', [label]);
    this.#database.run(
      `INSERT INTO queue VALUES (?, 0, '', 1) ON CONFLICT (sagaId) DO UPDATE SET settled = 1`,
      [sagaId],
    );
  }

  rows(): LedgerRows {
    const all = (sql: string): unknown => this.#database.all(sql);
    return {
      effects: all('SELECT * FROM effects') as EffectRow[],
      undos: all('SELECT * FROM undos') as UndoRow[],
      residue: (all('SELECT label FROM residue') as { readonly label: string }[]).map(({ label }) => label),
      queued: all('SELECT sagaId, turn, cancelToken FROM queue WHERE settled = 0') as QueuedRow[],
    };
  }
}
