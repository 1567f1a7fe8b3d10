import { optionError } from './option-error.ts';
/** Names of all options of a type. */
export type NamesOf<Options> = { readonly [name in keyof Options]-?: true };

/**
 * Rejects an unknown option, which may be misspelled.
 * @param of - function or object for the error
 * @throws TypeError with the option, a similar name, and all names
 */
export function assertKnownOptions(of: string, options: object, names: object): void {
  const known = Object.keys(names);
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = known.find((name) => isNear(unknown.toLowerCase(), name.toLowerCase(), 2));
  const hint = meant === undefined ? '' : `Did you mean '${meant}'? `;
  throw optionError(
    `${of} has no option '${unknown}'. ${hint}Its options are: ${known.join(', ')}.`,
    {
      code: 'unknown_option',
    },
  );
}

/** Returns `true` if at most `edits` insertions, deletions, or replacements separate two texts. */
function isNear(one: string, other: string, edits: number): boolean {
  const [rest, otherRest] = [one.slice(1), other.slice(1)];
  if (one === other || one[0] === other[0]) return one === other || isNear(rest, otherRest, edits);
  return (
    edits > 0 &&
    (isNear(rest, other, edits - 1) ||
      isNear(one, otherRest, edits - 1) ||
      isNear(rest, otherRest, edits - 1))
  );
}
