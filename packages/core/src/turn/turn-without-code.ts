import { generatorEngine } from './generator-engine.ts';
import { decodeHead } from '../journal/head.ts';
import { Journal } from '../journal/journal.ts';
import type { SagaEngine } from '../model/program.ts';
import type { ProgramState } from '../model/program-state.ts';

/**
 * Replaces the engine of a program without code: undoes steps with a named compensator, and reports other
 * recorded steps as uncompensated.
 * @param error - why there is no code: the error of the saga, unless a request ends it with another
 * @param begun - name of an unfinished turn of the missing code. Its effects are unknown, so the
 * turn is uncompensated
 */
export function orphan(name: string, error: unknown, begun?: string): SagaEngine {
  const engine = generatorEngine({
    name,
    input: undefined,
    acceptsReuse: true,
    onMismatch: 'compensate',
    body: function* () {
      yield* [];
      throw error;
    },
  });
  return {
    ...engine,
    // The entries may be of a newer release, whose code is missing here.
    timeline: () => [],
    advance: async (state, answers, runtime, end) => {
      const known = begun === undefined ? state : withUnknown(state, begun);
      const outcome = await engine.advance(known, answers, runtime, end);
      // The unknown entry alone would fail as a mismatch with the journal.
      return end === undefined && outcome.status === 'failed' ? { ...outcome, error } : outcome;
    },
  };
}

function withUnknown(state: ProgramState, path: string): ProgramState {
  // During the undo, effects are known by their keys.
  if (decodeHead(state.head).mismatch !== undefined) return state;
  const journal = new Journal(state, Number.POSITIVE_INFINITY);
  journal.append({ type: 'unknown', path, fingerprint: 0, text: 'null' });
  return { ...state, ...journal.texts() };
}
