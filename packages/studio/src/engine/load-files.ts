import type { CompiledFile } from '../model/session.ts';

export type Exports = Record<string, unknown>;

/**
 * Returns a loader that evaluates each file once, and adds its exports to `evaluated` by the name
 * of the file.
 */
export function loaderOf(
  files: readonly CompiledFile[],
  modules: Readonly<Record<string, Exports>>,
  evaluated: Map<string, Exports> = new Map(),
): (specifier: string, from: string) => Exports {
  return function load(specifier, from) {
    const known = modules[specifier];
    if (known !== undefined) return withNames(known, specifier, from);
    const base = specifier.replace(/^(?:\.\.?\/)+/, '').replace(/\.[jt]s$/, '');
    const file = files.find(({ name }) => name.replace(/\.ts$/, '') === base);
    if (file === undefined || !specifier.startsWith('.'))
      throw new Error(
        `${from} imports '${specifier}'. This page provides only ${Object.keys(modules).join(', ')}, and the files of the editor.`,
      );
    const done = evaluated.get(file.name);
    if (done !== undefined) return done;
    const exports: Exports = {};
    evaluated.set(file.name, exports);
    const source = `(function (require, exports) {${file.code}\n})\n//# sourceURL=${file.name}`;
    parse(source, file.name)((wanted) => load(wanted, file.name), exports);
    return exports;
  };
}

type Module = (require: (wanted: string) => Exports, exports: Exports) => void;

/** Parses a file. A mistake that the compiler has let pass gets the name of its file. */
function parse(source: string, file: string): Module {
  try {
    // oxlint-disable-next-line no-eval -- runs code of the page; a `Function` would add two lines
    return globalThis.eval(source) as Module;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new SyntaxError(`${file}: ${error.message}`, { cause: error });
  }
}

/** Throws for a missing export. Compiled code would read `undefined`. */
function withNames(module: Exports, specifier: string, from: string): Exports {
  return new Proxy(module, {
    get(target, name) {
      if (typeof name === 'symbol' || name in target || /^(?:__esModule|default|then)$/.test(name))
        return target[name as string];
      throw new Error(
        `The page has no export '${name}' of '${specifier}'. Check the import in ${from}.`,
      );
    },
  });
}
