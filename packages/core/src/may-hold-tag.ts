/**
 * Whether texts that `encode` wrote, joined or not, may hold one of the codec's tags (`{"$":…}`); where they do not,
 * `revive` changes nothing. JSON.stringify never escapes a `$`, so the key of a tag stands in them in plain.
 */
export function mayHoldTag(text: string): boolean {
  return text.includes('$":');
}
