import { AuthoringError } from './errors.ts';
import { checkedDuration } from './checked-duration.ts';
import type { Duration } from './duration.ts';

const idPattern = /^[A-Za-z_][\w.:-]{0,63}$/;

/** IDs that were checked before: replay checks the same few again and again. */
const validIds = new Set<string>();

/** Throws an `AuthoringError` unless `id` can name a step. */
export function assertStepId(id: string): void {
  if (validIds.has(id)) return;
  if (typeof id !== 'string' || !idPattern.test(id)) {
    throw new AuthoringError(
      (typeof id === 'string'
        ? `'${id.slice(0, 80)}' cannot name a step`
        : `The ID of a step is missing: the first argument is of type ${typeof id}`) +
        ". An ID has at most 64 letters, digits, '_', '.', ':' or '-', and starts with a letter or '_'. Values go into `key`.",
      { anchor: 'step-ids' },
    );
  }
  if (validIds.size < 1000) validIds.add(id);
}

/** Throws an `AuthoringError` unless `key` can distinguish runs of a step. */
export function assertStepKey(id: string, key: string): void {
  if (!isKey(key))
    throw new AuthoringError(`The key of step '${id}' must be a string of 1 to 256 characters.`, {
      anchor: 'steps',
    });
}

/** `true` for a value that can distinguish runs of a step, or branches of `each`. */
export function isKey(key: unknown): key is string {
  return (
    typeof key === 'string' && key.length > 0 && key.length <= 256 && !/\p{Surrogate}/u.test(key)
  );
}

/**
 * Prefix of the paths in a branch of `each`: `each/(key)/`. The key is in parentheses, so that
 * {@link withoutKeys} removes it, too, and follows a slash, which tells it from the key of a step. It
 * holds neither a parenthesis nor a slash, or two keys could give the same path.
 */
export function branchPrefix(group: string, key: string): string {
  const escaped = key.replaceAll(/[%()/#]/g, (one) => `%${one.charCodeAt(0).toString(16)}`);
  return `${group}/(${escaped})/`;
}

/**
 * The branches of `each` at the start of a path, whose keys hold no parenthesis, and the rest: a step,
 * whose key may hold anything.
 */
const branchesAndRest = /^((?:[^(]*\/\([^)]*\)\/)*)(.*)$/s;

/**
 * Removes keys from a path, since they may be answers: `charge(7)` becomes `charge(*)`, and
 * `each/(7)/charge` becomes `each/(*)/charge`.
 */
export function withoutKeys(path: string): string {
  return path.replace(
    branchesAndRest,
    (_, branches: string, rest: string) =>
      branches.replaceAll(/\([^)]*\)/g, '(*)') + rest.replace(/\(.*\)/s, '(*)'),
  );
}

/** Author's key of a step, from the path `id(key)#2`. */
export function keyInPath(path: string): string | undefined {
  const rest = branchesAndRest.exec(path)?.[2] ?? path;
  return /^[^(]*\((.*)\)(?:#\d+)?$/s.exec(rest)?.[1];
}

/**
 * Returns a timeout in milliseconds. Throws an `AuthoringError` for a value that is no duration, or
 * not more than 0.
 */
export function checkedTimeout(id: string, timeout: Duration | undefined): number | undefined {
  return timeout === undefined
    ? undefined
    : checkedDuration(`timeout of '${id}'`, timeout, 'more than 0');
}

/**
 * A namespace for step IDs. Later uses of an ID are `id#2`, `id#3`; nested scopes prefix their
 * path: `ship/label#2`.
 */
export class Scope {
  readonly prefix: string;
  #seen: Map<string, { uses: number }> | undefined;
  #first: string | undefined;

  constructor(prefix: string) {
    this.prefix = prefix;
  }

  path(id: string): string {
    // Most scopes of calls hold a single command: they need no map.
    if (this.#first === undefined) {
      this.#first = id;
      return this.prefix + id;
    }
    this.#seen ??= new Map([[this.#first, { uses: 1 }]]);
    const seen = this.#seen.get(id);
    if (seen === undefined) {
      this.#seen.set(id, { uses: 1 });
      return this.prefix + id;
    }
    // In place: a step in a loop calls this function on every replay, and a second map access would
    // dominate the cost.
    seen.uses += 1;
    return `${this.prefix}${id}#${seen.uses}`;
  }

  /** Paths of the uses of an ID, the newest first. */
  uses(id: string): readonly string[] {
    const uses = this.#seen?.get(id)?.uses ?? 1;
    return Array.from({ length: uses }, (_, at) =>
      at === uses - 1 ? this.prefix + id : `${this.prefix}${id}#${uses - at}`,
    );
  }

  below(id: string): Scope {
    return new Scope(`${this.path(id)}/`);
  }
}

/** Mark of paths of undos. IDs of authors never begin with the mark. */
export const undoMark = '~';
/** Mark of entries about the end of a body. Neither steps nor undos have such paths. */
export const endMark = '!';
/** Mark of the entry with which a generator undo reads the key of a step. */
export const undoKeyMark = '~~';

/** Path of the journal entry for unknown steps of an interrupted turn. */
export function pathOfTurn(turn: number): string {
  return `turn ${turn}`;
}
