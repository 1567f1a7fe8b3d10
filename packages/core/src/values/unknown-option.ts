/**
 * Unknown options, which are misspelled more often than not, and which JavaScript would ignore
 * silently. Each package has its own kind of error; all of them find the option here, and describe
 * it in the same words.
 */

/** Names of all options of a type. The compiler finds a missing name, and one that does not exist. */
export type NamesOf<Options> = { readonly [name in keyof Options]-?: true };

/**
 * Describes the first option without a name in `names`: the option, the nearest name, and all
 * names. Returns undefined if all options are known.
 * @param of - what has the options: a function, or an object. It is called only for a description,
 *   because steps check their options in each replay.
 */
export function describeUnknownOption(
  of: () => string,
  options: object,
  names: object,
): string | undefined {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return undefined;
  const known = Object.keys(names);
  const hint = didYouMean(nearestName(unknown, known));
  return `${of()} has no option '${unknown.slice(0, 80)}'.${hint} Its options are: ${known.join(', ')}.`;
}

/** Sentence that suggests a name; empty without a suggestion. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean '${name}'?`;
}

/**
 * Finds the most likely name for a misspelled name, ignoring a unit or a plural at its end.
 * Undefined if no name is near.
 */
export function nearestName(misspelled: string, names: readonly string[]): string | undefined {
  const wanted = stemOf(misspelled);
  let nearest: string | undefined;
  let least = Math.min(Math.max(2, Math.floor(wanted.length / 3)), wanted.length - 1) + 1;
  for (const name of names) {
    const candidate = stemOf(name);
    const isPart =
      Math.min(candidate.length, wanted.length) > 3 &&
      (candidate.includes(wanted) || wanted.includes(candidate));
    const distance = isPart && candidate !== wanted ? 1 : distanceOf(wanted, candidate);
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

function stemOf(name: string): string {
  return name.toLowerCase().replace(/(?:ms|y|ies)$/, '');
}

function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, character] of Array.from(one).entries()) {
    const next = [index + 1];
    for (const [column, compared] of Array.from(other).entries()) {
      const replaced = (row[column] ?? 0) + (character === compared ? 0 : 1);
      next.push(Math.min((row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[other.length] ?? 0;
}
