import { format } from 'oxfmt';

/** Columns of the code in pages: so many fit beside the sidebar, and into half of a window. */
const columns = 72;

/**
 * Formats a file as the pages show it. The repository has longer lines, which a page would cut.
 * Files in other languages stay as they are.
 */
export async function narrow(path: string, text: string): Promise<string> {
  if (!/\.(?:ts|tsx|js)$/.test(path)) return text;
  const { code, errors } = await format(path, text, {
    singleQuote: true,
    embeddedLanguageFormatting: 'off',
    printWidth: columns,
    jsdoc: { capitalizeDescriptions: false },
  });
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  return wrapComments(code);
}

/**
 * Breaks line comments, which the formatter leaves as they are. A comment that is too long for the
 * end of its line goes above the line.
 */
export function wrapComments(code: string): string {
  const wrapped: string[] = [];
  /** Words of the comment that goes on in the next line, and what stands before its lines. */
  let comment: { readonly start: string; readonly words: string[] } | undefined;
  const endComment = (): void => {
    if (comment !== undefined) wrapped.push(...linesOf(comment.start, comment.words));
    comment = undefined;
  };
  for (const line of code.split('\n')) {
    const [, start, text] = /^(\s*\/\/ )(?!#|@|oxlint|oxfmt)(\S.*)$/.exec(line) ?? [];
    if (start !== undefined && text !== undefined) {
      if (comment?.start !== start) endComment();
      comment ??= { start, words: [] };
      comment.words.push(...text.split(' '));
      continue;
    }
    endComment();
    const [, indent = '', own = '', trailing = ''] = /^(\s*)(\S.*?) \/\/ (\S.*)$/.exec(line) ?? [];
    if (line.length > columns && trailing !== '' && isWhole(own))
      wrapped.push(...linesOf(`${indent}// `, trailing.split(' ')), indent + own);
    else wrapped.push(line);
  }
  endComment();
  return wrapped.join('\n');
}

/** `true` if code has no open string, in which `//` would be no comment. */
function isWhole(code: string): boolean {
  return ["'", '"', '`'].every((quote) => code.split(quote).length % 2 === 1);
}

function linesOf(start: string, words: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(start + word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
