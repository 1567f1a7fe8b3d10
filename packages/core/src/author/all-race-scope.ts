import { AuthoringError } from '../values/errors.ts';
import { command, specOf } from '../effects/effect-of.ts';
import type { Command, Steps, GroupSpec, ForkSensitiveCommand } from '../model/command.ts';
import type { IsForkSensitive } from './checks/needs-forks.ts';
import { isIterator } from '../values/generators.ts';
import { assertStepId } from '../values/path.ts';

/** A branch of `all`: a command, or a helper that was called (`helper(x)`, without `yield*`). */
export type Branch<R> = Command<R> | Steps<R>;

/** What a branch returns. */
export type BranchResult<B> =
  B extends Command<infer R> ? R : B extends Generator<unknown, infer R, unknown> ? R : never;

/** Branches by name, or in order. */
export type Branches = { readonly [key: string]: Branch<unknown> } | readonly Branch<unknown>[];

/** The results of branches, in the same shape. */
export type BranchResults<B extends Branches> = { -readonly [K in keyof B]: BranchResult<B[K]> };

/** The command of a group: its saga declares `forks` if that of a branch has to. */
export type GroupCommand<B extends Branches, T> =
  IsForkSensitive<B extends readonly unknown[] ? B[number] : B[keyof B]> extends true
    ? ForkSensitiveCommand<T>
    : Command<T>;

/** How a branch of `allSettled` ended. */
export type Settled<T> =
  | { readonly status: 'fulfilled'; readonly value: T }
  | { readonly status: 'rejected'; readonly reason: unknown };

/** How the branches of `allSettled` ended, in the same shape. */
export type SettledResults<B extends Branches> = { -readonly [K in keyof B]: Settled<BranchResult<B[K]>> };

function group(kind: GroupSpec['kind'], branches: Branches): GroupSpec {
  if (
    typeof branches !== 'object' ||
    branches === null ||
    specOf(branches) !== undefined ||
    isIterator(branches)
  )
    throw new AuthoringError(`${kind}() needs branches: ${kind}({ a: step(…), b: helper() }).`);
  const shape = Array.isArray(branches) ? 'array' : 'record';
  const listed = Object.entries(branches).map(([key, steps]: [string, Branch<unknown>]) => {
    if (shape === 'record') assertStepId(key);
    assertBranch(`${kind}: branch '${key}'`, steps);
    return { key, steps };
  });
  // A generator runs once: given twice, each branch would take the results of the other's steps.
  const helpers = listed.flatMap(({ steps }) => (specOf(steps) === undefined ? [steps] : []));
  if (new Set(helpers).size < helpers.length) {
    throw new AuthoringError(`${kind}: a helper stands in two branches. Call it for each of them.`);
  }
  return { kind, branches: listed, shape };
}

function assertBranch(what: string, steps: unknown): void {
  if (specOf(steps) !== undefined) return;
  const { next, [Symbol.iterator]: iterator } = Object(steps) as Partial<Steps<unknown>>;
  if (typeof next === 'function' && typeof iterator === 'function') return;
  throw new AuthoringError(`${what} is neither a command nor a helper that was called.`);
}

/**
 * Runs branches in parallel and returns their results in the same shape. Questions of all branches go out in one turn.
 *
 * A helper runs in a scope named by its key or index, so IDs may repeat between branches. A single command keeps its ID.
 * The first branch to fail aborts the others. Its error is thrown after they have ended.
 */
export function all<const B extends Branches>(branches: B): GroupCommand<B, BranchResults<B>> {
  return command(group('all', branches)) as GroupCommand<B, BranchResults<B>>;
}

/** Runs branches in parallel, and gives for each how it ended. It does not throw. */
export function allSettled<const B extends Branches>(branches: B): GroupCommand<B, SettledResults<B>> {
  return command(group('allSettled', branches)) as GroupCommand<B, SettledResults<B>>;
}

/** The branch that was done first, and what it returned. */
export type RaceResult<B extends { readonly [key: string]: Branch<unknown> }> = {
  [K in keyof B]: { readonly winner: K; readonly value: BranchResult<B[K]> };
}[keyof B];

/**
 * Runs branches in parallel until the first is done, and returns its key and value, or throws its error. Server steps of the
 * others are aborted and awaited; their questions are withdrawn.
 */
export function race<const B extends { readonly [key: string]: Branch<unknown> }>(
  branches: B,
): GroupCommand<B, RaceResult<B>> {
  const spec = group('race', branches);
  if (spec.branches.length === 0) throw new AuthoringError('race({}) would never end: it needs a branch.');
  return command(spec) as GroupCommand<B, RaceResult<B>>;
}

/** Runs a helper in a scope of its own: the ids in it stand behind `id/` and may repeat those outside. */
export function scope<B extends Branch<unknown>>(
  id: string,
  steps: B,
): GroupCommand<readonly [B], BranchResult<B>> {
  assertStepId(id);
  assertBranch(`scope('${id}')`, steps);
  return command({ kind: 'scope', id, steps }) as GroupCommand<readonly [B], BranchResult<B>>;
}
