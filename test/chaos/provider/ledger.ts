import { rmSync } from 'node:fs';
import sqlite from 'node-sqlite3-wasm';
import type { NewNote, NoteRow } from './notes.ts';

/** Effects for a purchase. */
export type Kind = 'charge' | 'ship' | 'thank' | 'room' | 'car' | 'stamp';

/** An effect. The ledger stores each idempotency key once. */
export interface EffectRow {
  readonly key: string;
  readonly purchase: string;
  readonly kind: Kind;
  /** Number of requests for the effect. */
  readonly asked: number;
}

/** An undone effect, or one withdrawn before it ran. */
export interface UndoRow {
  readonly key: string;
  /** Idempotency key of the undone effect. */
  readonly effectKey: string;
  readonly purchase: string;
  readonly kind: Kind;
  readonly asked: number;
}

/** A message of the delayed queue, which continues or ends the saga of an absent client. */
export interface QueuedRow {
  readonly sagaId: string;
  readonly turn: number;
  readonly token: string;
  /** Earliest time of its delivery, in milliseconds since the epoch. */
  readonly at: number;
}

/** Report to the operator about an ended saga. */
export interface Settled {
  readonly sagaId: string;
  /** Labels of uncompensated steps, which a person must repair. */
  readonly uncompensated: readonly string[];
}

/** Contents of the provider's ledger. */
export interface LedgerRows {
  readonly effects: readonly EffectRow[];
  readonly undos: readonly UndoRow[];
  /** Messages that remain in the queue. */
  readonly queued: readonly QueuedRow[];
  /** Uncompensated steps reported to the operator. */
  readonly uncompensated: readonly string[];
  readonly notes: readonly NoteRow[];
  /** IDs of the ended sagas reported to the operator. */
  readonly settled: readonly string[];
}

const schema = `
  CREATE TABLE IF NOT EXISTS effects (key TEXT PRIMARY KEY, purchase TEXT, kind TEXT, asked INTEGER);
  CREATE TABLE IF NOT EXISTS undos (key TEXT PRIMARY KEY, effectKey TEXT, purchase TEXT, kind TEXT, asked INTEGER);
  CREATE INDEX IF NOT EXISTS undone ON undos (effectKey);
  CREATE TABLE IF NOT EXISTS uncompensated (label TEXT PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS settled (sagaId TEXT PRIMARY KEY);
  CREATE TABLE IF NOT EXISTS queue (sagaId TEXT PRIMARY KEY, turn INTEGER, token TEXT, at INTEGER);
  CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT UNIQUE, note TEXT, asked INTEGER);
`;

/**
 * Ledger of a provider that supports idempotency keys. SQLite keeps it when the process is killed.
 */
export class Ledger {
  readonly #database: InstanceType<typeof sqlite.Database>;

  constructor(file: string) {
    // A killed process leaves its lock behind. Only one provider runs at a time.
    rmSync(`${file}.lock`, { recursive: true, force: true });
    this.#database = new sqlite.Database(file);
    // A killed process loses no written data, and the test includes no power failures.
    this.#database.exec('PRAGMA synchronous = OFF');
    this.#database.exec(schema);
  }

  /** Runs an effect, unless it already ran. Returns `false` if it was withdrawn before. */
  effect({ key, purchase, kind }: Omit<EffectRow, 'asked'>): boolean {
    if (this.#database.run('UPDATE effects SET asked = asked + 1 WHERE key = ?', [key]).changes > 0)
      return true;
    if (this.#database.get('SELECT 1 FROM undos WHERE effectKey = ?', [key]) !== null) return false;
    this.#database.run('INSERT INTO effects VALUES (?, ?, ?, 1)', [key, purchase, kind]);
    return true;
  }

  /** Undoes an effect, or prevents an effect that has not happened yet. */
  undo({ key, effectKey, purchase, kind }: Omit<UndoRow, 'asked'>): void {
    if (this.#database.run('UPDATE undos SET asked = asked + 1 WHERE key = ?', [key]).changes > 0)
      return;
    this.#database.run('INSERT INTO undos VALUES (?, ?, ?, ?, 1)', [
      key,
      effectKey,
      purchase,
      kind,
    ]);
  }

  /** Replaces the message of a saga, unless the stored one is newer. */
  sent({ sagaId, turn, token, at }: QueuedRow): void {
    this.#database.run(
      `INSERT INTO queue VALUES (?, ?, ?, ?) ON CONFLICT (sagaId)
       DO UPDATE SET turn = excluded.turn, token = excluded.token, at = excluded.at WHERE excluded.turn >= turn`,
      [sagaId, turn, token, at],
    );
  }

  /** Removes a delivered message, unless another one has replaced it. */
  delivered({ sagaId, token }: Pick<QueuedRow, 'sagaId' | 'token'>): void {
    this.#database.run('DELETE FROM queue WHERE sagaId = ? AND token = ?', [sagaId, token]);
  }

  /** Removes the message of a saga that has ended. */
  removed({ sagaId }: Pick<QueuedRow, 'sagaId'>): void {
    this.#database.run('DELETE FROM queue WHERE sagaId = ?', [sagaId]);
  }

  /** Stores that a saga has ended, and its uncompensated steps. */
  settled({ sagaId, uncompensated }: Settled): void {
    for (const label of uncompensated)
      this.#database.run('INSERT OR IGNORE INTO uncompensated VALUES (?)', [label]);
    this.#database.run('INSERT OR IGNORE INTO settled VALUES (?)', [sagaId]);
  }

  /** Stores a note, unless its key is already stored. */
  note(note: NewNote): void {
    const { changes } = this.#database.run('UPDATE notes SET asked = asked + 1 WHERE key = ?', [
      note.key,
    ]);
    if (changes > 0) return;
    this.#database.run('INSERT INTO notes (key, note, asked) VALUES (?, ?, 1)', [
      note.key,
      JSON.stringify(note),
    ]);
  }

  /** Notes with a number above the given one. */
  notes(after: number): readonly NoteRow[] {
    const rows = this.#database.all('SELECT id, note, asked FROM notes WHERE id > ? ORDER BY id', [
      after,
    ]);
    return (rows as { readonly id: number; readonly note: string; readonly asked: number }[]).map(
      ({ id, note, asked }) => ({ ...(JSON.parse(note) as NewNote), id, asked }),
    );
  }

  rows(): LedgerRows {
    const all = (sql: string): unknown => this.#database.all(sql);
    return {
      effects: all('SELECT * FROM effects') as EffectRow[],
      undos: all('SELECT * FROM undos') as UndoRow[],
      uncompensated: (all('SELECT label FROM uncompensated') as { readonly label: string }[]).map(
        ({ label }) => label,
      ),
      notes: this.notes(0),
      settled: (all('SELECT sagaId FROM settled') as { readonly sagaId: string }[]).map(
        ({ sagaId }) => sagaId,
      ),
      queued: all('SELECT * FROM queue') as QueuedRow[],
    };
  }
}
