/* oxlint-disable typescript/no-unnecessary-type-parameters -- types are compared by them */
/** `true` where two types are the same, which assignability alone does not tell. */
export type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

/** Does not compile unless its parameter is `true`. */
export function expectType<_ extends true>(): void {}
