import { AuthoringError } from '../values/errors.ts';
import { command } from '../effects/make-command.ts';
import type { GroupSpec } from '../model/command.ts';
import {
  assertBranch,
  assertOwnHelpers,
  type Branch,
  type BranchResult,
} from './all-race-scope.ts';
import type { CheckedBranch } from './checks/checked-branches.ts';
import type { GroupCommand } from './checks/yielded-commands.ts';
import { assertKnownOptions } from '../values/known-options.ts';
import { isKey } from '../values/path.ts';
import type { NamesOf } from '../values/unknown-option.ts';

/** Options of {@link each} for items that are strings or numbers. */
export interface EachOptions<T> {
  /**
   * Name of the branch of an item: 1 to 256 characters, which no other item of the list has. It is
   * part of the path and the idempotency key of each step in the branch, so a list that changes its
   * order while the saga waits gives each item its own results. The client sees it in
   * the IDs of questions.
   *
   * Default: the item, if it is a string or a number. Other items need a `key`.
   */
  readonly key?: (item: T, index: number) => string;
  /**
   * Number of steps that run at the same time, in all branches together: a whole number from 1, or
   * `Infinity`. May change while sagas run. It also counts questions that the host answers itself,
   * by its model or a fallback, but never questions to the client, polls, and waits.
   * @default 10
   */
  readonly limit?: number;
}

/** Options of {@link each} for items that are no names. */
export interface KeyedEachOptions<T> extends EachOptions<T> {
  readonly key: (item: T, index: number) => string;
}

/**
 * The size of the default pool of common database drivers. Without a limit, a thousand items would
 * send a thousand requests at once.
 */
const defaultLimit = 10;

const names: NamesOf<EachOptions<unknown>> = { key: true, limit: true };

/**
 * Runs a branch for each item, and returns the results in the order of the items. At most `limit`
 * steps run at the same time, 10 by default, those of the first items first. One turn asks the
 * questions of all branches.
 *
 * `steps` is called at once for each item, and returns a command, or a called helper (`helper(x)`,
 * without `yield*`). It is part of the body, and runs again in each replay. The IDs in a branch get
 * the prefix `each/(key)/`. The first branch to fail aborts the others, and `each` throws its error
 * after the others have ended. Catch errors in the helper to go on with the other items.
 * @throws AuthoringError for a missing, invalid, or repeated key, which is named by its position
 * @example
 * ```ts
 * function* invoices(orders: readonly { id: string; cents: number }[]): Steps<readonly string[]> {
 *   return yield* each(
 *     orders,
 *     ({ cents }) => step('invoice', async (): Promise<string> => api.invoice(cents)),
 *     { key: ({ id }) => id, limit: 5 },
 *   );
 * }
 * ```
 */
export function each<T, B>(
  items: readonly T[],
  steps: (item: T, index: number) => B & CheckedBranch<B>,
  ...options: [T] extends [string | number]
    ? [options?: EachOptions<T>]
    : [options: KeyedEachOptions<T>]
): GroupCommand<readonly B[], BranchResult<B>[]> {
  if (!Array.isArray(items) || typeof steps !== 'function') {
    throw new AuthoringError(
      'each() needs a list and a function: each(items, (item) => helper(item), { key }).',
      { anchor: 'bodies' },
    );
  }
  const [given = {}] = options as [options?: EachOptions<T>];
  assertKnownOptions('each', undefined, given, names);
  const { key, limit = defaultLimit } = given;
  if (limit !== Number.POSITIVE_INFINITY && !(Number.isSafeInteger(limit) && limit > 0))
    throw new AuthoringError('limit of each must be a whole number from 1, or Infinity.', {
      anchor: 'arguments-of-commands',
    });
  const taken = new Map<string, number>();
  const branches = items.map((item: T, index) => {
    const name: unknown = key === undefined ? ownKeyOf(item) : key(item, index);
    // Errors name items by position: a key may be an answer, which must not reach a log.
    if (!isKey(name)) {
      throw new AuthoringError(
        `each: the key of item ${index} must be a string of 1 to 256 characters.` +
          (key === undefined ? ' Set key: each(items, steps, { key: (item) => item.id }).' : ''),
        { anchor: 'keys-of-each' },
      );
    }
    const first = taken.get(name);
    if (first !== undefined) {
      throw new AuthoringError(
        `each: items ${first} and ${index} have the same key. Steps could not tell them apart.`,
        { anchor: 'keys-of-each' },
      );
    }
    taken.set(name, index);
    return { key: name, item };
  });
  const listed: GroupSpec['branches'] = branches.map(({ key: name, item }, index) => {
    const branch: unknown = steps(item, index);
    assertBranch(`each: what the function returns for item ${index}`, branch);
    return { key: name, steps: branch as Branch<unknown> };
  });
  assertOwnHelpers('each', listed);
  const bound = limit === Number.POSITIVE_INFINITY ? {} : { limit };
  return command({ kind: 'each', branches: listed, shape: 'array', ...bound }) as never;
}

function ownKeyOf(item: unknown): string | undefined {
  return typeof item === 'string' || typeof item === 'number' ? String(item) : undefined;
}
