import { compile as compileFiles } from '../../src/engine/compile.ts';

/** Examples that need the compiler. Vite inserts them. */
export const others = OTHER_EXAMPLES;

const machines = { name: 'saga-modules.ts', code: MACHINE_MODULES };

/** Compiles files, and adds the modules for machines to code that imports them: a worker makes no request. */
export function compile(files) {
  const compiled = compileFiles(files);
  const hasMachines = compiled.some(({ code }) => /require\('(?:@mcp-saga\/)?xstate'\)/.test(code));
  return hasMachines ? [...compiled, machines] : compiled;
}
