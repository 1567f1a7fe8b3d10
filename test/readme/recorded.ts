import { createSagaHost, memoryGuard, type SagaHost } from '@mcp-saga/server';
import { recordSagas, type Recording } from '@mcp-saga/testing';
import { buy } from './undo.ts';

/** A host whose sagas become tests. */
export function recordingHost(
  bucket: { put(name: string, recording: Recording): Promise<void> },
  keys: string,
): SagaHost {
  // #region recorded
  const sagas = recordSagas([buy], {
    // Every value passes here before it is kept: arguments, answers, results, errors.
    redact: (value, { kind, id }) => (kind === 'step' && id === 'charge' ? { id: 'payment' } : value),
    onRecording: (recording, { sagaId }) => bucket.put(`${sagaId}.json`, recording),
  });
  return createSagaHost({ sagas, keys, audience: 'shop', guard: memoryGuard() });
  // #endregion recorded
}
