export interface Row {
  readonly recorded: string;
  readonly now: string;
  /** `true` for the line that differs. */
  readonly differs: boolean;
}

const widest = 56;
// Number of lines before and after the difference.
const around = 6;

/** Formats two columns around the line that differs. */
export function sideBySide(rows: readonly Row[]): string {
  const at = rows.findIndex(({ differs }) => differs);
  const from = at === -1 ? 0 : Math.max(0, at - around);
  const shown = rows.slice(from, at === -1 ? undefined : at + around + 1);
  const left = shown.map(({ recorded }) => wrapped(recorded));
  const right = shown.map((row) => wrapped(row.now + unseen(row)));
  const width = Math.max('recorded'.length, ...left.flat().map((line) => line.length));
  const line = (mark: string, one: string, other: string): string =>
    `  ${mark} ${one.padEnd(width)} | ${other}`.trimEnd();
  return [
    line(' ', 'recorded', 'now'),
    ...(from === 0 ? [] : [line(' ', `(${from} more)`, '')]),
    ...shown.flatMap(({ differs }, index) => {
      const [one = [], other = []] = [left[index], right[index]];
      return Array.from({ length: Math.max(one.length, other.length) }, (_, row) =>
        line(differs && row === 0 ? '>' : ' ', one[row] ?? '', other[row] ?? ''),
      );
    }),
    ...(from + shown.length === rows.length
      ? []
      : [line(' ', `(${rows.length - from - shown.length} more)`, '')]),
  ].join('\n');
}

// Explains two lines of the same text.
function unseen({ differs, recorded, now }: Row): string {
  return differs && recorded === now ? ' (the text is the same, but other parameters differ)' : '';
}

function wrapped(text: string): readonly string[] {
  const flat = text.replaceAll(/\s+/g, ' ').trimEnd();
  // Between words. Breaks overlong words.
  const lines = flat.match(new RegExp(`.{1,${widest}}(?=\\s|$)|.{1,${widest}}`, 'g')) ?? [''];
  return lines.map((part, index) => (index === 0 ? part : `  ${part.trimStart()}`));
}
