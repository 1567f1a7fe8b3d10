// #region testing
import { crashEverywhere, testSaga } from '@mcp-saga/testing';
import { erase } from './erase.ts';

const erased = testSaga(erase).on.elicit('sure', { sure: true });

export async function testErase(): Promise<unknown> {
  // Stops the process before and after each step: the result stays the same, and nothing is erased
  // twice.
  await crashEverywhere(erased);
  return (await erased.run()).result;
}
// #endregion testing
