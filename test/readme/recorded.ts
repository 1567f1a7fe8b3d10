import { createSagaHost, memoryStore, type SagaHost } from '@mcp-saga/server';
import { recordSagas, type RecordedTurn } from '@mcp-saga/testing';
import { machineSaga } from '@mcp-saga/xstate';
import { machine } from './machine.ts';
import { buy } from './undo.ts';

export const deploy = machineSaga({ name: 'deploy', version: '1' }, machine);

/** A host whose sagas become tests. */
export function recordingHost(
  bucket: {
    append(name: string, turn: RecordedTurn): Promise<void>;
  },
  keys: string,
): SagaHost {
  // #region recorded
  const sagas = recordSagas([buy, deploy], {
    // Called with each value before it is stored: arguments, answers, results, errors, and the
    // inputs of machines.
    redact: (value, { kind, id }) =>
      kind === 'step' && id === 'charge' ? { id: 'payment' } : value,
    // Called for the last turn of a generator, whose token contains the entire saga, and for each
    // turn of a machine.
    onTurn: (turn, { sagaId }) => bucket.append(`${sagaId}.jsonl`, turn),
  });
  return createSagaHost({ sagas, keys, name: 'shop', store: memoryStore() });
  // #endregion recorded
}
