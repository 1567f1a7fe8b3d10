import type { LooseFields } from '../../values/standard-schema.ts';

/**
 * What may be the schema of a form with fields of `T`: an `S`, if a form can have the fields; else
 * the type is the error text. `unknown` and type parameters pass. Fields without a schema have an
 * error text of their own.
 *
 * Not an intersection of `S` with the text: compilers would first print the type of the schema, and
 * cut off the text.
 */
export type CheckedForm<T, S> = [0] extends [1 & T]
  ? S | LooseFields
  : // In this order for type parameters: see CheckedResult.
    'refused' extends ([keyof RefusedFields<T>] extends [never] ? never : 'refused')
    ? [
        'A form has fields of text, number, boolean, a choice, or a list of choices. Use z.iso.date() for a date. Not',
        RefusedFields<T>,
      ]
    : S | LooseFields;

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
