import { TestSaga } from '@mcp-saga/testing';
import type { CompiledFile } from '../model/session.ts';
import { loaderOf, type Exports } from './load-files.ts';
import { modules } from './modules.ts';

/** Script of the kit in the files of the editor, and its check. */
export interface Playground {
  readonly script: TestSaga;
  readonly check: (() => unknown) | undefined;
  /** Steps that may run twice or stay done. */
  readonly harmless: readonly string[];
  /** Exports by name of the file. */
  readonly evaluated: ReadonlyMap<string, Exports>;
  /** Names of the file and of its export, for an exported test. */
  readonly exported: { readonly file: string; readonly script: string; readonly hasCheck: boolean };
}

/** Code that ran before. */
interface Before extends Pick<Playground, 'evaluated'> {
  readonly files: readonly CompiledFile[];
}

/**
 * Evaluates the files anew, without the state of an earlier run, and finds the script.
 * @param before - an older version, whose outside world the files share: unchanged files that import no other file
 */
export function evaluate(files: readonly CompiledFile[], before?: Before): Playground {
  const evaluated = sharedWith(files, before);
  const load = loaderOf(files, modules, evaluated);
  for (const { name } of files) {
    const exports = load(`./${name}`, name);
    for (const [exported, value] of Object.entries(exports)) {
      if (!(value instanceof TestSaga)) continue;
      const check = exports['check'] as Playground['check'];
      return {
        script: value as TestSaga,
        check,
        evaluated,
        harmless: (exports['harmless'] ?? []) as readonly string[],
        exported: { file: name, script: exported, hasCheck: check !== undefined },
      };
    }
  }
  throw new Error('No file exports a script. Add: export const script = testSaga(saga, { input });');
}

function sharedWith(files: readonly CompiledFile[], before: Before | undefined): Map<string, Exports> {
  const shared = new Map<string, Exports>();
  for (const { name, code } of before?.files ?? []) {
    const exports = before?.evaluated.get(name);
    const isSame = files.some((file) => file.name === name && file.code === code);
    if (exports !== undefined && isSame && !code.includes("require('./")) shared.set(name, exports);
  }
  return shared;
}
