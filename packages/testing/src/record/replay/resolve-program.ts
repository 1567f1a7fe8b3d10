import type { Program } from '@mcp-saga/server';
import { SagaTestError } from '../../values/errors.ts';
import type { Recording } from '../journal-recording.ts';

/**
 * The program that goes on with a recorded saga today.
 *
 * @param name - how the recording is called in messages
 * @throws SagaTestError `replay_mismatch` where nothing does
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
