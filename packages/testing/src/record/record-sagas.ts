import type { NamesOf } from '@mcp-saga/server/internal';
import type { Program } from '@mcp-saga/server';
import { assertKnownOptions } from '../values/known-options.ts';
import { recordedProgram } from './recorded-program.ts';
import type { RecordedTurn, Redact } from './recording.ts';

/** Identifies a recorded saga. */
export interface RecordedSaga {
  readonly sagaId: string;
}

/** Options of `recordSagas`. */
export interface RecordSagasOptions {
  /**
   * Receives turns before the client is answered: each turn of a machine, and the last turn of a
   * generator. A repeated request reports its turn again. Store the turns by `sagaId`, for
   * `joinRecording`.
   */
  readonly onTurn: (turn: RecordedTurn, saga: RecordedSaga) => unknown;
  /**
   * Returns the part of a value that the recording keeps: of an argument, answer, result, or error;
   * for a machine, also of an input of a step and a question. If the saga decides by a replaced
   * value, a replay may take another branch, so keep its shape.
   */
  readonly redact: Redact;
  /** Receives errors of the other options, which fail no saga. Default: errors are dropped. */
  readonly onError?: (error: unknown) => void;
}

const names: NamesOf<RecordSagasOptions> = { onTurn: true, redact: true, onError: true };

/**
 * Records sagas in production, for tests. The host keeps nothing between turns.
 * @throws SagaTestError `script` for an unknown option
 * @example
 * ```ts
 * import { createSagaHost, saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   return yield* step('charge', () => bank.charge(900));
 * });
 * const onTurn = (turn: RecordedTurn, { sagaId }: RecordedSaga) => db.insert({ sagaId, turn });
 * const redact: Redact = (value, { kind }) => (kind === 'input' ? {} : value);
 * createSagaHost({ sagas: recordSagas([order], { onTurn, redact }), keys, name: 'shop' });
 * ```
 */
export function recordSagas(
  sagas: readonly Program[],
  options: RecordSagasOptions,
): readonly Program[] {
  assertKnownOptions('recordSagas', options, names);
  const { onTurn, redact, onError = () => undefined } = options;
  return sagas.map((program) =>
    recordedProgram(program, redact, async (turn, sagaId) => {
      try {
        await onTurn(await turn(), { sagaId });
      } catch (error) {
        onError(error);
      }
    }),
  );
}
