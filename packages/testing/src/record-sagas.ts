import type { Outcome, Program, ProgramState, SagaHistory } from '@mcp-saga/server';
import { SagaTestError } from './errors.ts';
import { toRecording, type Recording, type Redact } from './recording.ts';

/** How sagas are recorded. */
export interface RecordSagasOptions {
  /**
   * Gets the recording of each saga that ends, with its id: one whose last request is repeated ends once more. Awaited
   * before the client is answered, since on some platforms nothing goes on after that.
   */
  readonly onRecording: (recording: Recording, saga: { readonly sagaId: string }) => unknown;
  /**
   * Says what is kept of arguments, answers, results and errors: what it returns stands in the recording. A body that
   * decides by what was replaced will decide otherwise when it is replayed: keep its shape.
   */
  readonly redact: Redact;
  /** Gets what the other two throw; no saga fails of it. Default: it is lost. */
  readonly onError?: (error: unknown) => void;
}

/**
 * Sagas that are recorded where they run, so that one of production becomes a test:
 * `createSagaHost({ sagas: recordSagas([order], { onRecording, redact }) })`. The host keeps nothing meanwhile: all that
 * has happened stands in the journal that the last request brings. Sagas of generators only, and those that end by themselves.
 *
 * @throws SagaTestError `script` for a saga of a machine, which keeps no such journal
 */
export function recordSagas(sagas: readonly Program[], options: RecordSagasOptions): readonly Program[] {
  const { onRecording, redact, onError = () => undefined } = options;
  return sagas.map((program) => {
    if (program.history === undefined) throw keepsNoHistory(program);
    return recordedProgram(program, redact, async (recording, sagaId) => {
      try {
        await onRecording(recording(), { sagaId });
      } catch (error) {
        onError(error);
      }
    });
  });
}

/** What is wrong with a program that remembers where it is, and not how it came there. */
export function keepsNoHistory({ name }: Program): SagaTestError {
  return new SagaTestError(
    'script',
    `'${name}' is a saga of a machine: its token holds where the machine is, and not what it was answered on the way, so ` +
      'that there is nothing to record or replay. Sagas of generators are recorded; a machine is tested by a script.',
  );
}

/** A program that gives a recording of itself when it ends, before it says so. */
export function recordedProgram(
  program: Program,
  redact: Redact,
  give: (recording: () => Recording, sagaId: string) => unknown,
): Program {
  const recorded: Pick<Program, 'advance' | 'previous'> = {
    previous: program.previous.map((older) => ({
      ...older,
      saga: recordedProgram(older.saga, redact, give),
    })),
    advance: async (state, answers, runtime, end): Promise<Outcome> => {
      let last: ProgramState | undefined;
      const ended = (at: ProgramState): void => {
        last = at;
        runtime.ended?.(at);
      };
      const outcome = await program.advance(state, answers, { ...runtime, ended }, end);
      const ending = last;
      const { engine, sagaId } = runtime;
      if (ending !== undefined && program.history !== undefined && outcome.status !== 'suspended') {
        const history = (): SagaHistory => program.history?.(ending) ?? { input: {}, entries: [] };
        await give(() => toRecording(program, engine, history(), outcome, redact), sagaId);
      }
      return outcome;
    },
  };
  return new Proxy(program, {
    get: (target, name) => {
      if (name === 'advance' || name === 'previous') return recorded[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
