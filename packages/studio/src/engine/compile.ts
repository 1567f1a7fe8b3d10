import { transform } from 'sucrase';
import type { CompiledFile, SourceFile } from '../model/session.ts';

/** Compiles TypeScript to CommonJS modules. Throws a `SyntaxError` with the name of the file. */
export function compile(files: readonly SourceFile[]): readonly CompiledFile[] {
  return files.map(({ name, text }) => {
    const { code } = transform(text, { transforms: ['typescript', 'imports'], filePath: name });
    return { name, code };
  });
}
