import type { Program } from '@mcp-saga/server';
import { SagaTestError } from '../../values/errors.ts';
import type { Recording } from '../journal-recording.ts';

/**
 * Finds the program that serves a recorded saga today.
 *
 * @param name - name of the recording in messages
 * @throws SagaTestError `replay_mismatch` if there is none
 */
export function programOf(
  { saga, version }: Pick<Recording, 'saga' | 'version'>,
  sagas: readonly Program[],
  name: string,
): Program {
  const current = sagas.find((program) => program.name === saga);
  const versions = current === undefined ? [] : [current, ...current.previous.map((older) => older.saga)];
  const program = versions.find((each) => each.version === version);
  if (program !== undefined) return program;
  const served = versions.map((each) => `'${each.version}'`).join(', ');
  throw new SagaTestError(
    'replay_mismatch',
    `${name} is of version '${version}' of '${saga}', which is not served any more: ` +
      (current === undefined ? 'nothing of that name is.' : `served are ${served}.`) +
      ' Its sagas cannot go on. Keep the old code in `previous`, or delete the recording once none of them is left.',
  );
}
