import type { Program } from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import { assertKnownOptions, type NamesOf } from '../values/known-options.ts';
import type { Redact } from './recorded-event.ts';
import { recordedProgram } from './recorded-program.ts';
import type { JournalRecording } from './journal-recording.ts';
import type { RecordedTurn } from './turns-recording.ts';

/** Identifies a recorded saga. */
export interface RecordedSaga {
  readonly sagaId: string;
}

/** Options of `recordSagas`. */
export interface RecordSagasOptions {
  /** Receives the recording of a generator saga when it ends, before the client is answered; again for a repeated request. */
  readonly onRecording: (recording: JournalRecording, saga: RecordedSaga) => unknown;
  /** Receives each turn of a machine, before the client is answered, for `joinRecording`. Required if a saga is a machine. */
  readonly onTurn?: (turn: RecordedTurn, saga: RecordedSaga) => unknown;
  /**
   * Returns what the recording keeps of a value: an argument, answer, result, or error; of a machine also an input of a step and
   * a question. A saga that decides by a replaced value decides otherwise in a replay, so keep its shape.
   */
  readonly redact: Redact;
  /** Receives errors of the other options, which fail no saga. Default: errors are dropped. */
  readonly onError?: (error: unknown) => void;
}

const names: NamesOf<RecordSagasOptions> = { onRecording: true, onTurn: true, redact: true, onError: true };

/**
 * Records sagas in production, so that they become tests. The host keeps nothing between turns. A saga of a generator is
 * recorded when it ends by itself.
 *
 * @throws SagaTestError `script` for an unknown option, and if a saga is a machine and `onTurn` is missing
 *
 * @example
 * ```ts
 * createSagaHost({ sagas: recordSagas([order], { onRecording, redact }), … });
 * ```
 */
export function recordSagas(sagas: readonly Program[], options: RecordSagasOptions): readonly Program[] {
  assertKnownOptions('recordSagas', options, names);
  const { onRecording, onTurn, redact, onError = () => undefined } = options;
  const machine = sagas.find(({ history }) => history === undefined);
  if (machine !== undefined && onTurn === undefined) {
    throw new SagaTestError(
      'script',
      `'${machine.name}' is a saga of a machine: its token holds where the machine is, and not what it was answered on the ` +
        'way. It is recorded turn by turn: give recordSagas an `onTurn` that keeps them, for `joinRecording`.',
    );
  }
  const quietly = async (work: () => unknown): Promise<void> => {
    try {
      await work();
    } catch (error) {
      onError(error);
    }
  };
  return sagas.map((program) =>
    recordedProgram(program, redact, {
      journal: (recording, sagaId) => quietly(() => onRecording(recording(), { sagaId })),
      turn: (turn, sagaId) => quietly(async () => onTurn?.(await turn(), { sagaId })),
    }),
  );
}
