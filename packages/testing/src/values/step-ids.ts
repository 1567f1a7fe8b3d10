/** Returns the IDs that a name matches: itself if it exists, or else its repetitions. */
export function idsMeant(name: string, ids: readonly string[]): readonly string[] {
  return ids.includes(name) ? [name] : [...new Set(ids)].filter((id) => unrepeated(id) === name);
}

/** Returns an ID without key, number, and generation: `ship/item(a)#2@1` becomes `ship/item`. */
export function unrepeated(id: string): string {
  return id.replace(/(?:\([^/]*\))?(?:#\d+)?(?:@\d+)?$/, '');
}
