import { describe, expect, it } from 'vitest';
import {
  crashEverywhere,
  failEverywhere,
  refuseEverywhere,
  SagaTestError,
  testSaga,
} from '@mcp-saga/testing';
import { charges, pay, payBy } from './pay.ts';

// #region testing
const paid = testSaga(pay, { before: () => charges.clear() }).on.elicit('sure', { sure: true });

it('a saga of the testing guide charges once, wherever its process dies', async () => {
  await crashEverywhere(paid, { check: () => expect(charges.size).toBe(1) });
});

it('a saga of the testing guide gives the money back after any failure or refusal', async () => {
  const check = ({ status }: { status: string }) =>
    expect(charges.size).toBe(status === 'completed' ? 1 : 0);
  await failEverywhere(paid, { check });
  await refuseEverywhere(paid, { check });
});
// #endregion testing

// #region script
it('a saga of the testing guide refunds after a decline or an unknown outcome', async () => {
  const refused = await paid.refuse.elicit('sure').run();
  expect(refused.compensated).toEqual(['charge']);

  const late = await paid.timeout.step('charge').run();
  expect(String(late.trace)).toContain('undid charge');
});
// #endregion script

describe('an explorer', () => {
  it.each([
    ['key', crashEverywhere],
    ['undo', failEverywhere],
  ] as const)('reports that a saga lacks its %s', async (lacks, explore) => {
    const script = testSaga(payBy(lacks), { before: () => charges.clear() }).on.elicit('sure', {
      sure: true,
    });
    await expect(explore(script)).rejects.toThrow(SagaTestError);
  });
});
