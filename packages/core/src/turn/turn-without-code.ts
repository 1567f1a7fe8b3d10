import { generatorProgram } from './generator-program.ts';
import { decodeHead } from '../journal/head.ts';
import { Journal } from '../journal/journal.ts';
import type { Program } from '../model/program.ts';
import type { ProgramState } from '../model/program-state.ts';

/**
 * Stands in for a program whose code is gone: it goes on with nothing, and undoes what has a named compensator. The
 * rest of what its journal says was done is residue. (R3)
 *
 * @param begun - the name of a turn that was begun by that code and never finished: what it did, nobody knows, so it is residue
 */
export function orphan(name: string, error: unknown, begun?: string): Pick<Program, 'advance' | 'asked'> {
  const { advance, asked } = generatorProgram({
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
  return {
    asked,
    advance: (state, ...turn) => advance(begun === undefined ? state : withUnknown(state, begun), ...turn),
  };
}

function withUnknown(state: ProgramState, path: string): ProgramState {
  // It is being undone: what is done by that is known by its keys.
  if (decodeHead(state.head).mismatch !== undefined) return state;
  const journal = new Journal(state, Number.POSITIVE_INFINITY);
  journal.append({ type: 'unknown', path, fingerprint: 0, text: 'null' });
  return { ...state, ...journal.texts() };
}
