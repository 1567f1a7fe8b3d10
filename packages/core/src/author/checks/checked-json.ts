/**
 * Checks that `T` is JSON. A rejected `T` becomes the error text. `Who` is the subject of the text,
 * such as `The input of a step`.
 *
 * The type `Json` would refuse an `interface`, which has no index signature. Type parameters pass,
 * and so does an optional property, which JSON leaves out.
 */
export type CheckedJson<T, Who extends string> = [0] extends [1 & T]
  ? unknown
  : // In this order for type parameters: see CheckedResult.
    'refused' extends ([NotJson<T, []>] extends [never] ? never : 'refused')
    ? [`${Who} must be JSON, not`, NotJson<T, []>]
    : unknown;

/** Refused alternatives of `T`, or their refused properties, down to the fourth level. */
type NotJson<T, Depth extends 0[]> = [0] extends [1 & T]
  ? never
  : unknown extends T
    ? T
    : T extends string | number | boolean | null
      ? never
      : T extends undefined | bigint | Callable
        ? T
        : Depth['length'] extends 4
          ? never
          : T extends readonly (infer Item)[]
            ? [NotJson<Item, [...Depth, 0]>] extends [never]
              ? never
              : T
            : NotJsonProperties<T, [...Depth, 0]>;

type NotJsonProperties<T, Depth extends 0[]> = {
  [K in keyof T as [NotJson<Present<T, K>, Depth>] extends [never] ? never : K]: T[K];
} extends infer Part
  ? {} extends Part
    ? never
    : Part
  : never;

/** Type of a property that is there. */
type Present<T, K extends keyof T> = {} extends Pick<T, K> ? Exclude<T[K], undefined> : T[K];

type Callable = symbol | ((...args: never) => unknown) | (abstract new (...args: never) => unknown);
