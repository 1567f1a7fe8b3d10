/**
 * The code of a region of a file, without its indentation. A reference without `#name` is the whole
 * file without its marks.
 *
 * @param text - the file
 * @param reference - path of the file and name of the region: `test/readme/deploy.ts#saga`
 */
export function cutRegion(text: string, reference: string): string {
  const [path = '', name] = reference.split('#');
  const lines = text.split('\n');
  const withoutMarks = (all: readonly string[]): string =>
    all.filter((line) => !/^\s*(?:\/\/|#|<!--) ?#?(?:end)?region \S+/.test(line)).join('\n');
  if (name === undefined) return withoutMarks(lines).trim();
  const at = (word: string): number =>
    lines.findIndex((line) =>
      new RegExp(`^\\s*(?://|#|/\\*|<!--) ?#?${word} ${name}\\b`).test(line),
    );
  const [start, end] = [at('region'), at('endregion')];
  if (start < 0 || end < start) throw new Error(`${path} has no region '${name}'.`);
  return unindent(withoutMarks(lines.slice(start + 1, end)));
}

/** Removes the indentation that the first line has. */
export function unindent(code: string): string {
  const indent = /^ */.exec(code.replace(/^\n+/, ''))?.[0] ?? '';
  return code.replaceAll(new RegExp(`^${indent}`, 'gm'), '').trim();
}
