/**
 * Checks that the codec supports `R`: otherwise the step would fail after the effect. A rejected
 * `R` becomes the error text. `Who` is the subject of the text, such as `A step`.
 *
 * Rejects functions, symbols, objects with methods, and lists and objects of them. `unknown`,
 * `any`, and type parameters pass.
 */
export type CheckedResult<R, Who extends string> = [0] extends [1 & R]
  ? unknown
  : // `[Refused<R>] extends [never]` alone stays undecided if `R` is a type parameter of a helper. In this order, the
    // compiler takes the last branch for every parameter.
    'refused' extends ([Refused<R>] extends [never] ? never : 'refused')
    ? [R] extends [Generator | AsyncGenerator]
      ? [`${Who} is a function or an async function. It must not be a generator:`, R]
      : [`${Who} must return plain data, Date, Map, Set, URL, Uint8Array or Error, not`, Refused<R>]
    : unknown;

/** Refused alternatives of `R`, or their refused properties. */
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

/** `true` if all alternatives of `T` are refused. Optional and mixed values pass. */
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

/** Names of the required methods of `T`, without the methods of `{}`. */
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

/** Supported types assignable to `T`: an Iterable has a method, but may be a list or a Map. */
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
