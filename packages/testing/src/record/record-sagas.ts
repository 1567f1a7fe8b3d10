import type { Program } from '@mcp-saga/server';
import { SagaTestError } from '../values/errors.ts';
import type { Redact } from './recorded-event.ts';
import { recordedProgram } from './recorded-program.ts';
import type { JournalRecording } from './journal-recording.ts';
import type { RecordedTurn } from './turns-recording.ts';

/** Which saga is recorded. */
export interface RecordedSaga {
  readonly sagaId: string;
}

/** How sagas are recorded. */
export interface RecordSagasOptions {
  /**
   * Gets the recording of each generator's saga that ends, with its id: one whose last request is repeated ends once more.
   * Awaited before the client is answered, since on some platforms nothing goes on after that.
   */
  readonly onRecording: (recording: JournalRecording, saga: RecordedSaga) => unknown;
  /**
   * Gets each turn of a machine's saga, since no token of one tells how it came there: from whichever process served it,
   * and awaited as above. Keep them all, `joinRecording` makes a recording of those that led to the end. Required where a
   * saga is a machine's.
   */
  readonly onTurn?: (turn: RecordedTurn, saga: RecordedSaga) => unknown;
  /**
   * Says what is kept of arguments, answers, results and errors, and of a machine's sagas of what steps are given and
   * questions ask: what it returns stands in the recording. A saga that decides by what was replaced will decide otherwise
   * when it is replayed: keep its shape.
   */
  readonly redact: Redact;
  /** Gets what the others throw; no saga fails of it. Default: it is lost. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Sagas that are recorded where they run, so that one of production becomes a test:
 * `createSagaHost({ sagas: recordSagas([order], { onRecording, redact }) })`. The host keeps nothing meanwhile: all that
 * has happened stands in the journal that the last request brings, or was handed over turn by turn. A generator's saga is
 * recorded where it ends by itself.
 *
 * @throws SagaTestError `script` for a saga of a machine without `onTurn`
 */
export function recordSagas(sagas: readonly Program[], options: RecordSagasOptions): readonly Program[] {
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
