import { didYouMean, nearestName } from '@mcp-saga/server/internal';

/** Returns the matches of a name: the ID itself if present, else its repetitions. */
export function idsMeant(name: string, ids: readonly string[]): readonly string[] {
  return ids.includes(name) ? [name] : [...new Set(ids)].filter((id) => unrepeated(id) === name);
}

/** Returns an ID without key, number, and generation: `ship/item(a)#2@1` becomes `ship/item`. */
export function unrepeated(id: string): string {
  return id.replace(/(?:\([^/]*\))?(?:#\d+)?(?:@\d+)?$/, '');
}

/** Sentence that suggests the nearest ID, without its repetition; empty if no ID is near. */
export function suggestId(id: string, ids: readonly string[]): string {
  return didYouMean(nearestName(id, ids.map(unrepeated)));
}

/**
 * Sentences about the answer to a misspelled ID; empty if no answer is near. `by`: what answers.
 */
export function misspelledAnswer(asked: string, answered: readonly string[], by: string): string {
  const near = nearestName(unrepeated(asked), answered);
  return near === undefined ? '' : `The ${by} answers '${near}'.${didYouMean(unrepeated(asked))}`;
}
