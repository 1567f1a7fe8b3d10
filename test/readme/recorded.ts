import { createSagaHost, memoryGuard, type SagaHost } from '@mcp-saga/server';
import { recordSagas, type RecordedTurn, type Recording } from '@mcp-saga/testing';
import { machineSaga } from '@mcp-saga/xstate';
import { machine } from './machine.ts';
import { buy } from './undo.ts';

export const deploy = machineSaga({ name: 'deploy', version: '1' }, machine);

/** A host whose sagas become tests. */
export function recordingHost(
  bucket: {
    put(name: string, recording: Recording): Promise<void>;
    append(name: string, turn: RecordedTurn): Promise<void>;
  },
  keys: string,
): SagaHost {
  // #region recorded
  const sagas = recordSagas([buy, deploy], {
    // Every value passes here before it is kept: arguments, answers, results, errors, and what machines ask and are given.
    redact: (value, { kind, id }) => (kind === 'step' && id === 'charge' ? { id: 'payment' } : value),
    // A generator's saga, when it ends: its last token tells all that has happened.
    onRecording: (recording, { sagaId }) => bucket.put(`${sagaId}.json`, recording),
    // A machine's, turn by turn: its tokens tell where it is, and not how it came there.
    onTurn: (turn, { sagaId }) => bucket.append(`${sagaId}.jsonl`, turn),
  });
  return createSagaHost({ sagas, keys, audience: 'shop', guard: { store: memoryGuard() } });
  // #endregion recorded
}
