/** How text looks on a stream that is a terminal. */
export interface TerminalLooks {
  /** Width of the terminal, at which lines are wrapped. */
  readonly columns: number;
  /** `false` with NO_COLOR, or in a terminal without colors. */
  readonly hasColors: boolean;
}

/** Codes of ANSI colors, and the codes that end them. */
const colors = {
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
  dim: [2, 22],
} as const;

type Color = keyof typeof colors;

/**
 * What begins a line of a report, of the help, or of the log of `dev`. Text of a server may look the
 * same, but no color says what the text does not.
 */
const beginnings: readonly (readonly [color: Color, pattern: RegExp])[] = [
  ['green', /^ok(?= {2,})/],
  ['red', /^FAIL(?= {2})/],
  ['yellow', /^(?:none|note)(?= {2})/],
  ['dim', /^\d\d:\d\d:\d\d(?= {2})/],
  // Options and commands.
  ['cyan', /^ {2,6}\S.*?(?= {2,}\S)/],
];

/** Code and drawings, which are indented at least by this, and commands: a reader copies them. */
const kept = /^(?: {10}|Example: )/;

/**
 * Wraps lines at words, and colors the words by which a reader finds a line. Apply it to text whose
 * control characters are escaped.
 */
export function shownInTerminal(text: string, looks: TerminalLooks): string {
  return text
    .split('\n')
    .map((line) => colored(wrapped(line, looks.columns), looks))
    .join('\n');
}

/** Shows an error and the help below it. */
export function errorInTerminal(message: string, help: string, looks: TerminalLooks): string {
  const lines = message.split('\n').map((line) => wrapped(line, looks.columns));
  const error = looks.hasColors ? inColor('red', lines.join('\n')) : lines.join('\n');
  return help === '' ? error : `${error}\n\n${shownInTerminal(help, looks)}`;
}

/**
 * Wraps a line. Further lines begin below the text of its last column, such as the help of an
 * option. A word that is longer than a line stays whole: it may be an address or a token.
 */
function wrapped(line: string, columns: number): string {
  if (line.length <= columns || kept.test(line)) return line;
  const [column = ''] = /^ *\S.*? {2,}(?=\S)/.exec(line) ?? [];
  const [indent = ''] = /^ */.exec(line) ?? [];
  const first = column.length > 0 && column.length <= columns / 2 ? column : indent;
  const next = ' '.repeat(first.length);
  const lines: string[] = [];
  let current = first;
  for (const word of line.slice(first.length).split(' ')) {
    const isEmpty = current.length === first.length;
    if (!isEmpty && current.length + 1 + word.length > columns) {
      lines.push(current);
      current = `${next}${word}`;
    } else current += isEmpty ? word : ` ${word}`;
  }
  return [...lines, current].join('\n');
}

function colored(line: string, { hasColors }: TerminalLooks): string {
  if (!hasColors) return line;
  for (const [color, pattern] of beginnings) {
    const [found] = pattern.exec(line) ?? [];
    if (found !== undefined) return `${inColor(color, found)}${line.slice(found.length)}`;
  }
  return line;
}

function inColor(color: Color, text: string): string {
  const [begin, end] = colors[color];
  return `\u001B[${begin}m${text}\u001B[${end}m`;
}
