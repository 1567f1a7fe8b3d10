/**
 * Checks that the codec can keep an `R`, or its step would fail after its effect; else the type holds the error text. `Who`
 * has the result: `A step`.
 *
 * Rejects functions, symbols, objects with methods, and lists and objects of them. `unknown`, `any`, and type parameters pass.
 */
export type CheckedResult<R, Who extends string> = [0] extends [1 & R]
  ? unknown
  : // Not `[Refused<R>] extends [never]` alone: where R is a type parameter of a helper that is not decided, and nothing could
    // be given. Asked this way, the compiler sees that it is not so whatever the parameter is, and takes the other branch.
    'refused' extends ([Refused<R>] extends [never] ? never : 'refused')
    ? [R] extends [Generator | AsyncGenerator]
      ? [`${Who} is a function or an async function. It must not be a generator:`, R]
      : [`${Who} must return plain data, Date, Map, Set, URL, Uint8Array or Error, not`, Refused<R>]
    : unknown;

/** The alternatives of `R` that are refused, or their properties that are. */
type Refused<R> = R extends Leaf
  ? never
  : IsRefused<R> extends true
    ? R
    : R extends Kept
      ? never
      : RefusedProperties<R>;

type RefusedProperties<R> = {
  [K in keyof R as R[K] extends Callable ? never : IsRefused<R[K]> extends true ? K : never]: R[K];
} extends infer Part
  ? {} extends Part
    ? never
    : Part
  : never;

/** Whether all alternatives of `T` are refused: one that may be missing, or something else, passes. */
type IsRefused<T> = 'kept' extends Judged<T> ? false : 'refused' extends Judged<T> ? true : false;

type Judged<T> = T extends readonly unknown[] ? JudgedItem<T[number]> : JudgedItem<T>;

type JudgedItem<T> = T extends Leaf | Kept
  ? 'kept'
  : T extends Callable
    ? 'refused'
    : [Method<T, keyof T>] extends [never]
      ? 'kept'
      : [KeptAs<T, KeptInstance>] extends [never]
        ? 'refused'
        : 'kept';

/** The names of the methods that a `T` is sure to have, and `{}` has not. */
type Method<T, K extends keyof T> = K extends unknown
  ? [0] extends [1 & T[K]]
    ? never
    : [T[K]] extends [never]
      ? never
      : [T[K]] extends [Callable]
        ? {} extends Pick<T, K>
          ? never
          : K
        : never
  : never;

/** What is kept and is a `T`: an Iterable has a method, and may be a list or a Map. */
type KeptAs<T, S> = S extends T ? S : never;

type Callable = symbol | ((...args: never) => unknown) | (abstract new (...args: never) => unknown);
type Leaf = string | number | bigint | boolean | null | undefined | void;
type Kept =
  | readonly unknown[]
  | Date
  | ReadonlyMap<unknown, unknown>
  | ReadonlySet<unknown>
  | URL
  | Uint8Array
  | Error;
type KeptInstance =
  | string
  | readonly never[]
  | Date
  | Map<never, never>
  | Set<never>
  | URL
  | Uint8Array
  | Error;
