/** Something that a step says: as it is, or made of the step's `input`. */
export type OfInput<T, I> = T | ((step: { readonly input: I }) => T);

/** What a step says for this input. */
export function ofInput<T, I>(given: OfInput<T, I>, input: I): T {
  return typeof given === 'function' ? (given as (step: { readonly input: I }) => T)({ input }) : given;
}
