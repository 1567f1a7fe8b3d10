import { SagaTestError } from '../values/errors.ts';
import { formatRecording } from './format-recording.ts';
import type { Recording } from './recording.ts';

/**
 * Writes a recording to a file, and creates its folder.
 * @throws SagaTestError `script` without a file system, such as in a browser
 * @example
 * ```ts
 * import { saga, step } from '@mcp-saga/server';
 *
 * const order = saga({ name: 'order', version: '1' }, function* () {
 *   return yield* step('charge', () => bank.charge(900));
 * });
 * saveRecording('recordings/order.json', (await testSaga(order).run()).recording);
 * ```
 */
export function saveRecording(file: string | URL, recording: Recording): void {
  // Not imported: a bundle for a browser could not resolve the modules.
  const fs = globalThis.process?.getBuiltinModule?.('node:fs');
  if (fs === undefined)
    throw new SagaTestError(
      'script',
      'No file system. Store the text of formatRecording(recording) instead.',
    );
  const path = process.getBuiltinModule('node:path');
  fs.mkdirSync(typeof file === 'string' ? path.dirname(file) : new URL('.', file), {
    recursive: true,
  });
  fs.writeFileSync(file, formatRecording(recording));
}
