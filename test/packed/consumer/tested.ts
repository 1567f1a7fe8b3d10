import { erase } from './erase.ts';
// #region testing
import { crashEverywhere, testSaga } from '@mcp-saga/testing';

const erased = testSaga(erase).on.elicit('sure', { sure: true });

export async function testErase(): Promise<unknown> {
  // The result is the same wherever its process dies, and nothing is erased twice.
  await crashEverywhere(erased);
  return (await erased.run()).result;
}
// #endregion testing
