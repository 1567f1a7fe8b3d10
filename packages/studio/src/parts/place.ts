/** Place in a file. Line and column count from 1. */
export type Place = Readonly<Record<'line' | 'column', number>>;

/** A `SyntaxError` as text; `place`: undefined if the browser does not say it. */
export interface SyntaxMistake {
  readonly file: string;
  readonly place: Place | undefined;
  readonly what: string;
}

/** Reads an error of the compiler, or of the engine; undefined for errors of another kind. */
export function syntaxMistakeIn(failure: string | undefined): SyntaxMistake | undefined {
  const [, file, line, column, what = ''] =
    /^SyntaxError: ([^\s:]+\.[jt]s)(?::(\d+):(\d+))?: ([^]*)/.exec(failure ?? '') ?? [];
  if (file === undefined) return undefined;
  const place = line === undefined ? undefined : { line: Number(line), column: Number(column) };
  return { file, place, what };
}
