/** What kind of `function*` a function is written as, if any. */
export function generatorKind(given: unknown): 'sync' | 'async' | undefined {
  const tag = Object.prototype.toString.call(given);
  if (tag === '[object GeneratorFunction]') return 'sync';
  return tag === '[object AsyncGeneratorFunction]' ? 'async' : undefined;
}

/** Whether a value is a generator, sync or async, or another iterator. */
export function isIterator(value: unknown): boolean {
  return typeof (value as Partial<Generator> | null | undefined)?.next === 'function';
}
