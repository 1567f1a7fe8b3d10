import type { Command } from '../../model/command.ts';

/**
 * Body with yields `Y` and result `R`, if `W` is expected. Inferred and checked here for shorter
 * compiler errors.
 */
export type CheckedBody<A, Y, R, W> = ((input: A) => Generator<Y, R | W, unknown>) &
  Verdict<Y, R, W>;

type Verdict<Y, R, W> = [Y] extends [Command<unknown>]
  ? [R] extends [Readable<W>]
    ? unknown
    : ['The body must return', W]
  : Exclude<Y, Command<unknown>> extends infer V
    ? [V] extends [PromiseLike<unknown>]
      ? ["A saga yields commands. For a promise, write: yield* step('id', async () => …)", V]
      : [V] extends [Generator]
        ? ['A saga yields commands. Call a helper with: yield* helper(…)', V]
        : ['A saga yields commands: yield* elicit(…), yield* step(…)', V]
    : never;

// Infers `R` as a constant: `return { state: 'ok' }` is not widened to a string. Constants are
// readonly.
export type Readable<T> = unknown extends T
  ? T
  : T extends readonly unknown[]
    ? number extends T['length']
      ? readonly Readable<T[number]>[]
      : { readonly [K in keyof T]: Readable<T[K]> }
    : { readonly [K in keyof T]: Readable<T[K]> };
