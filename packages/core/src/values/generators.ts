/** Kind of generator function; undefined for other functions. */
export function generatorKind(given: unknown): 'sync' | 'async' | undefined {
  const tag = (given as { readonly [Symbol.toStringTag]?: unknown } | null | undefined)?.[
    Symbol.toStringTag
  ];
  if (tag === 'GeneratorFunction') return 'sync';
  return tag === 'AsyncGeneratorFunction' ? 'async' : undefined;
}

/** `true` for a generator, sync or async, or another iterator. */
export function isIterator(value: unknown): boolean {
  return typeof (value as Partial<Generator> | null | undefined)?.next === 'function';
}
