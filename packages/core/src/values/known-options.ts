import { AuthoringError } from './errors.ts';

/** Collects the names of all options of a type. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- checks that no name is missing
export function optionNames<Options>(names: {
  readonly [name in keyof Options]-?: true;
}): ReadonlySet<string> {
  return new Set(Object.keys(names));
}

/**
 * Rejects an unknown option, which would be ignored silently. `of`: function that takes the
 * options. `id`: first argument. Throws AuthoringError with the unknown option, the nearest name,
 * and all names.
 */
export function assertKnownOptions(
  of: string,
  id: unknown,
  options: object,
  names: ReadonlySet<string>,
): void {
  // For errors only: replay calls this function for each step.
  const called = (): string => `${of}(${typeof id === 'string' ? `'${id.slice(0, 80)}'` : ''})`;
  if (typeof options !== 'object' || options === null)
    throw new AuthoringError(`${called()} takes its options as an object.`);
  for (const name in options) {
    if (names.has(name)) continue;
    const known = [...names];
    const hint = didYouMean(nearestName(name, known));
    throw new AuthoringError(
      `${called()} has no option '${name.slice(0, 80)}'.${hint} Its options are: ${known.join(', ')}.`,
      { anchor: 'unknown_option' },
    );
  }
}

/**
 * Throws AuthoringError unless a value is undefined or in a list. `of` names the option and its
 * owner.
 */
export function assertOneOf(of: string, value: unknown, values: readonly string[]): void {
  if (value === undefined || values.includes(value as string)) return;
  const list = values.map((one) => `'${one}'`).join(' or ');
  throw new AuthoringError(`${of} must be ${list}, or undefined.`);
}

/** Sentence that suggests a name; empty without a suggestion. */
export function didYouMean(name: string | undefined): string {
  return name === undefined ? '' : ` Did you mean '${name}'?`;
}

/**
 * Finds the most likely name for a misspelled name, ignoring a unit at the end. Undefined if no
 * name is near.
 */
export function nearestName(misspelled: string, names: readonly string[]): string | undefined {
  const wanted = stemOf(misspelled);
  let nearest: string | undefined;
  let least = Math.min(Math.max(2, Math.floor(wanted.length / 3)), wanted.length - 1) + 1;
  for (const name of names) {
    const candidate = stemOf(name);
    const isPart =
      Math.min(candidate.length, wanted.length) > 3 &&
      (candidate.startsWith(wanted) ||
        candidate.endsWith(wanted) ||
        wanted.startsWith(candidate) ||
        wanted.endsWith(candidate));
    const distance = isPart && candidate !== wanted ? 1 : distanceOf(wanted, candidate);
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

function stemOf(name: string): string {
  return name.toLowerCase().replace(/ms$/, '');
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
