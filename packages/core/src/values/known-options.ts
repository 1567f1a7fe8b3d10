import { AuthoringError } from './errors.ts';

/** Collects the names of all options of a type. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- checks that no name is missing
export function optionNames<Options>(names: {
  readonly [name in keyof Options]-?: true;
}): ReadonlySet<string> {
  return new Set(Object.keys(names));
}

/**
 * Refuses an option that does not exist: a misspelled one would be ignored in silence.
 *
 * @param of - the function that takes the options, as the error names it
 * @param id - its first argument
 * @param names - every option that there is
 * @throws AuthoringError that names the option, the nearest one, and all that there are
 */
export function assertKnownOptions(
  of: string,
  id: unknown,
  options: object,
  names: ReadonlySet<string>,
): void {
  if (typeof options !== 'object' || options === null)
    throw new AuthoringError(`${called(of, id)} takes its options as an object.`);
  for (const name in options) if (!names.has(name)) throw unknownOption(of, id, name, names);
}

function unknownOption(of: string, id: unknown, name: string, names: ReadonlySet<string>): AuthoringError {
  const known = [...names];
  const nearest = nearestName(name, known);
  return new AuthoringError(
    `${called(of, id)} has no option '${name.slice(0, 80)}'.` +
      `${nearest === undefined ? '' : ` Did you mean '${nearest}'?`} Its options are: ${known.join(', ')}.`,
  );
}

function called(of: string, id: unknown): string {
  return typeof id === 'string' ? `${of}('${id.slice(0, 80)}')` : `${of}()`;
}

/**
 * Finds the name that was most likely meant by a misspelled one.
 *
 * @returns undefined if no name is near
 */
export function nearestName(misspelled: string, names: readonly string[]): string | undefined {
  const wanted = misspelled.toLowerCase();
  let nearest: string | undefined;
  let least = Math.min(Math.max(2, Math.floor(wanted.length / 3)), wanted.length - 1) + 1;
  for (const name of names) {
    const candidate = name.toLowerCase();
    const isPart =
      Math.min(candidate.length, wanted.length) > 3 &&
      (candidate.startsWith(wanted) || wanted.startsWith(candidate) || wanted.endsWith(candidate));
    const distance = isPart ? 1 : distanceOf(wanted, candidate);
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** Number of characters to insert, delete, or replace, to make one text of another. */
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
