/** The ids that a name means: itself, where it is among them; else its repetitions. */
export function idsMeant(name: string, ids: readonly string[]): readonly string[] {
  return ids.includes(name) ? [name] : [...new Set(ids)].filter((id) => unrepeated(id) === name);
}

/** An id without its key, number and generation: `ship/item(a)#2@1` is `ship/item`. */
export function unrepeated(id: string): string {
  return id.replace(/(?:\([^/]*\))?(?:#\d+)?(?:@\d+)?$/, '');
}
