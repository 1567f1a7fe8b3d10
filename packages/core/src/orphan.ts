import { generatorProgram } from './generator-program.ts';
import type { Program } from './program.ts';

/**
 * Stands in for a program whose code is gone: it goes on with nothing, and undoes what has a named compensator. The
 * rest of what its journal says was done is residue. (R3)
 */
export function orphan(name: string, error: unknown): Pick<Program, 'advance'> {
  return generatorProgram({
    name,
    input: undefined,
    commitFirst: false,
    declaresForks: true,
    onMismatch: 'compensate',
    body: function* () {
      yield* [];
      throw error;
    },
  });
}
