import { transform } from 'sucrase';
import type { CompiledFile, SourceFile } from '../model/session.ts';

/** Mistake at a place of a file: a `SyntaxError`. */
interface PlacedError extends Error {
  readonly loc?: Readonly<Record<'line' | 'column', number>>;
}

/** Compiles TypeScript to CommonJS modules. Throws a `SyntaxError` with the place of the mistake. */
export function compile(files: readonly SourceFile[]): readonly CompiledFile[] {
  return files.map(({ name, text }) => {
    try {
      const { code } = transform(text, { transforms: ['typescript', 'imports'], filePath: name });
      return { name, code };
    } catch (error) {
      const { loc, message } = error as PlacedError;
      const what = message.replace(/^Error transforming .*?: | \(\d+:\d+\)$/g, '');
      const place = loc === undefined ? '' : `:${loc.line}:${loc.column}`;
      throw new SyntaxError(`${name}${place}: ${what}`, { cause: error });
    }
  });
}
