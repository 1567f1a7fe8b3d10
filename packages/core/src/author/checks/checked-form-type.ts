/**
 * Checks that a form can have the fields of `T`; else the type holds the error text. `unknown` and
 * type parameters pass.
 */
export type CheckedForm<T> = [0] extends [1 & T]
  ? unknown
  : // In this order for type parameters: see CheckedResult.
    'refused' extends ([keyof RefusedFields<T>] extends [never] ? never : 'refused')
    ? [
        'A form has fields of text, number, boolean, a choice, or a list of choices. Use z.iso.date() for a date. Not',
        RefusedFields<T>,
      ]
    : unknown;

type RefusedFields<T> = {
  [K in keyof T as [Refused<T[K]>] extends [never] ? never : K]: T[K];
} extends infer Part
  ? Part
  : never;

/** Alternatives of a field that no form supports. */
type Refused<V> = [0] extends [1 & V]
  ? never
  : V extends string | number | boolean | null | undefined
    ? never
    : V extends readonly (infer Item)[]
      ? [Item] extends [string]
        ? never
        : V
      : V extends object | bigint | symbol
        ? V
        : never;
