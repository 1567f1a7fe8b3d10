/** The id that is most like another one, where one is like it: two letters away at most, or one that begins the other. */
export function nearestTo(id: string, ids: readonly string[]): string | undefined {
  const near = ids.flatMap((other) => {
    const away = distance(id.toLowerCase(), other.toLowerCase());
    const begins = id.length > 2 && (other.startsWith(id) || id.startsWith(other));
    return away <= Math.min(2, id.length - 1) || begins ? [{ other, away }] : [];
  });
  return near.toSorted((one, two) => one.away - two.away)[0]?.other;
}

/** How many letters have to be put in, taken out or exchanged to make one text of another (Levenshtein). */
function distance(one: string, other: string): number {
  let above = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [row, letter] of Array.from(one).entries()) {
    const line = [row + 1];
    for (const [column, otherLetter] of Array.from(other).entries()) {
      const exchanged = (above[column] as number) + (letter === otherLetter ? 0 : 1);
      line.push(Math.min(exchanged, (above[column + 1] as number) + 1, (line[column] as number) + 1));
    }
    above = line;
  }
  return above.at(-1) as number;
}
