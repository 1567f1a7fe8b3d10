import { AuthoringError } from './errors.ts';
import { checkedDuration } from './retry.ts';

const idPattern = /^[A-Za-z_][\w.:-]{0,63}$/;

/** Throws an `AuthoringError` unless `id` can name a step. */
export function assertStepId(id: string): void {
  if (typeof id !== 'string' || !idPattern.test(id)) {
    throw new AuthoringError(
      `${typeof id === 'string' ? `'${id.slice(0, 80)}'` : `A ${typeof id}`} cannot name a step: an ID starts with a ` +
        `letter or '_', goes on with letters, digits, '_', '.', ':' or '-', and has 64 characters at most.`,
    );
  }
}

/** Throws an `AuthoringError` unless `key` can tell one run of a step from another. */
export function assertStepKey(id: string, key: string): void {
  if (typeof key !== 'string' || key.length === 0 || key.length > 256 || /\p{Surrogate}/u.test(key)) {
    throw new AuthoringError(`The key of step '${id}' must be a string of 1 to 256 characters.`);
  }
}

/** Checks a time to live, in milliseconds. Throws an `AuthoringError` for anything but a positive, finite number or undefined. */
export function checkedTtl(id: string, ttl: number | undefined): number | undefined {
  return ttl === undefined ? undefined : checkedDuration(`timeoutMs of '${id}'`, ttl, 'more than 0');
}

/** A namespace for step IDs. Later uses of an ID are `id#2`, `id#3`; nested scopes prefix their path: `ship/label#2`. */
export class Scope {
  /** What stands before each id. */
  readonly prefix: string;
  readonly #seen = new Map<string, { uses: number }>();

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  /** The path of the next use of `id`. */
  path(id: string): string {
    const seen = this.#seen.get(id);
    if (seen === undefined) {
      this.#seen.set(id, { uses: 1 });
      return this.prefix + id;
    }
    // In place: a step in a loop comes here on every replay, and a second look into the map is what it costs most.
    seen.uses += 1;
    return `${this.prefix}${id}#${seen.uses}`;
  }

  /** The scope below the next use of `id`. */
  below(id: string): Scope {
    return new Scope(`${this.path(id)}/`);
  }
}

/** The mark of paths that belong to undoing; ids of authors never begin with it. */
export const undoMark = '~';
/** The mark of entries about how a body ends: neither steps nor undos have such paths. */
export const endMark = '!';
/** The mark of the entry at which an undo that is a generator reads the key of its step. */
export const undoKeyMark = '~~';

/** Path of the journal entry for steps that nothing can name: an interrupted turn may have executed them. */
export function pathOfTurn(turn: number): string {
  return `turn ${turn}`;
}
