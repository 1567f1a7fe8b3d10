/**
 * Finds the name that was most likely meant by a misspelt one.
 *
 * @returns undefined if no name is near
 */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  const wanted = stemOf(misspelt);
  let nearest: string | undefined;
  let least = Math.max(2, Math.floor(wanted.length / 3)) + 1;
  for (const name of names) {
    const stem = stemOf(name);
    const isPart = wanted.length > 3 && stem.startsWith(wanted);
    const distance = isPart && stem !== wanted ? 2 : distanceOf(wanted, stem);
    if (distance < least) [nearest, least] = [name, distance];
  }
  return nearest;
}

/** The part of a name that is compared: a forgotten unit is no misspelling. */
function stemOf(name: string): string {
  return name.toLowerCase().replace(/ms$/, '');
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
