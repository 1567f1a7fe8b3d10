import { AuthoringError } from '../values/errors.ts';
import { command, specOf } from '../effects/make-command.ts';
import type { Command, GroupSpec, ScopeSpec, Steps } from '../model/command.ts';
import type { CheckedBranches } from './checks/checked-branches.ts';
import type { GroupCommand } from './checks/yielded-commands.ts';
import { isIterator } from '../values/generators.ts';
import { assertStepId } from '../values/path.ts';

/** A branch of `all`: a command, or a called helper (`helper(x)`, without `yield*`). */
export type Branch<R> = Command<R> | Steps<R>;

/** Result of a branch. */
export type BranchResult<B> =
  B extends Command<infer R> ? R : B extends Generator<unknown, infer R, unknown> ? R : never;

/** Branches by name. `all` and its kind check each of them, so that a wrong one is named. */
export interface NamedBranches {
  readonly [key: string]: unknown;
}

/** Branches by name, or in order. */
export type Branches = NamedBranches | readonly unknown[];

/** Outcome of a branch of `allSettled`. */
export type Settled<T> =
  | { readonly status: 'fulfilled'; readonly value: T }
  | { readonly status: 'rejected'; readonly reason: unknown };

// Results are written out in the signatures: a name would hide them where editors show a type.

function group(kind: GroupSpec['kind'], branches: Branches): GroupSpec {
  if (
    typeof branches !== 'object' ||
    branches === null ||
    specOf(branches) !== undefined ||
    isIterator(branches)
  )
    throw new AuthoringError(`${kind}() needs branches: ${kind}({ a: step(…), b: helper() }).`, {
      anchor: 'bodies',
    });
  const shape = Array.isArray(branches) ? 'array' : 'record';
  const entries = Object.entries(branches as { readonly [key: string]: Branch<unknown> });
  const listed = entries.map(([key, steps]) => {
    if (shape === 'record') assertStepId(key);
    assertBranch(`${kind}: branch '${key}'`, steps);
    return { key, steps };
  });
  assertOwnHelpers(kind, listed);
  return { kind, branches: listed, shape };
}

/**
 * Throws an `AuthoringError` if two branches share a helper. A generator runs once: given twice, each
 * branch would take the results of the other's steps.
 */
export function assertOwnHelpers(kind: GroupSpec['kind'], listed: GroupSpec['branches']): void {
  const helpers = listed.flatMap(({ steps }) => (specOf(steps) === undefined ? [steps] : []));
  if (new Set(helpers).size === helpers.length) return;
  throw new AuthoringError(
    `${kind}: two branches share a helper. Call the helper once for each branch.`,
    { anchor: 'bodies' },
  );
}

/** Throws an `AuthoringError` for a value that is no branch. */
export function assertBranch(what: string, steps: unknown): void {
  if (specOf(steps) !== undefined) return;
  const { next, [Symbol.iterator]: iterator } = Object(steps) as Partial<Steps<unknown>>;
  if (typeof next === 'function' && typeof iterator === 'function') return;
  throw new AuthoringError(
    `${what} is neither a command nor a helper that was called. Write step('id', async () => …), or helper(…), without yield*.`,
    { anchor: 'bodies' },
  );
}

/**
 * Runs branches in parallel and returns their results in the same shape. One turn asks the
 * questions of all branches.
 *
 * A helper runs in a scope named by its key or index, so IDs may repeat between branches. A single
 * command keeps its ID. The first branch to fail aborts the others. `all` throws its error after
 * the others have ended.
 * @example
 * ```ts
 * function* quote(): Steps<number> {
 *   const { flight, hotel } = yield* all({
 *     flight: step('flight', async (): Promise<number> => api.flightPrice()),
 *     hotel: step('hotel', async (): Promise<number> => api.hotelPrice()),
 *   });
 *   return flight + hotel;
 * }
 * ```
 */
export function all<const B extends Branches>(
  branches: B & CheckedBranches<B>,
): GroupCommand<B, { -readonly [K in keyof B]: BranchResult<B[K]> }> {
  return command(group('all', branches)) as never;
}

/**
 * Runs branches in parallel and returns how each branch ended. A branch that fails does not end the
 * others.
 * @example
 * ```ts
 * function* notify(): Steps<boolean> {
 *   const { email } = yield* allSettled({
 *     email: step('email', () => mail.send('Done')),
 *     chat: step('chat', () => api.post('Done')),
 *   });
 *   return email.status === 'fulfilled';
 * }
 * ```
 */
export function allSettled<const B extends Branches>(
  branches: B & CheckedBranches<B>,
): GroupCommand<B, { -readonly [K in keyof B]: Settled<BranchResult<B[K]>> }> {
  return command(group('allSettled', branches)) as never;
}

/**
 * Runs branches in parallel until the first one ends, and returns its key and value, or throws its
 * error. Server steps of the other branches are aborted and awaited. Their questions are withdrawn.
 * @throws AuthoringError without a branch
 * @example
 * ```ts
 * const Sure = z.object({ sure: z.boolean() });
 * function* confirm(): Steps<boolean> {
 *   const first = yield* race({
 *     answer: elicit('sure', { message: 'Delete it?', schema: Sure }),
 *     late: sleep(300_000),
 *   });
 *   return first.winner === 'answer' && first.value.sure;
 * }
 * ```
 */
export function race<const B extends NamedBranches>(
  branches: B & CheckedBranches<B>,
): GroupCommand<
  B,
  { [K in keyof B]: { readonly winner: K; readonly value: BranchResult<B[K]> } }[keyof B]
> {
  const spec = group('race', branches);
  if (spec.branches.length === 0)
    throw new AuthoringError('race({}) would never end: it needs a branch.', {
      anchor: 'arguments-of-commands',
    });
  return command(spec) as never;
}

/**
 * Runs a helper in a scope: IDs inside get the prefix `id/`, so they may repeat IDs outside the
 * scope.
 * @example
 * ```ts
 * function* charge(cents: number): Steps<void> {
 *   yield* step('charge', () => bank.charge(cents));
 * }
 * function* both(): Steps<void> {
 *   yield* scope('first', charge(100));
 *   yield* scope('second', charge(200));
 * }
 * ```
 */
export function scope<B extends Branch<unknown>>(
  id: string,
  steps: B,
): GroupCommand<readonly [B], BranchResult<B>> {
  assertStepId(id);
  assertBranch(`scope('${id}')`, steps);
  return command({ kind: 'scope', id, steps }) as GroupCommand<readonly [B], BranchResult<B>>;
}

/** Runs the steps of a question to other people or another system in a scope. */
export function questionScope<R>(
  question: NonNullable<ScopeSpec['question']>,
  id: string,
  steps: Steps<R>,
): Command<R> {
  assertStepId(id);
  return command<R>({ kind: 'scope', id, steps, question });
}
