import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { crashEverywhere, failEverywhere, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import { charges, pay, payBy } from './pay.ts';

// #region testing
const paid = testSaga(pay, { before: () => charges.clear() }).on.elicit('sure', { sure: true });

it('charges once, wherever its process dies', async () => {
  await crashEverywhere(paid, { check: () => expect(charges.size).toBe(1) });
});

it('gives the money back, whatever fails and whoever says no', async () => {
  const check = ({ status }: { status: string }) => expect(charges.size).toBe(status === 'completed' ? 1 : 0);
  await failEverywhere(paid, { check });
  await refuseEverywhere(paid, { check });
});
// #endregion testing

// #region script
it('refunds where the user says no, or nobody knows whether it was charged', async () => {
  const refused = await paid.refuse.elicit('sure').run();
  expect(refused.compensated).toEqual(['charge']);

  const late = await paid.timeout.step('charge').run();
  expect(String(late.trace)).toContain('undid charge');
});
// #endregion script

describe('the README', () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ');

  it.each([
    ['key', crashEverywhere],
    ['token', crashEverywhere],
    ['undo', failEverywhere],
  ] as const)('quotes what is said of a saga without its %s', async (lacks, explore) => {
    const script = testSaga(payBy(lacks), { before: () => charges.clear() }).on.elicit('sure', {
      sure: true,
    });
    const error: unknown = await explore(script).catch((thrown: unknown) => thrown);
    const [quote = ''] = /^.*?: .*?\. /.exec((error as Error).message.replaceAll(/\s+/g, ' ')) ?? [];
    expect(quote).not.toBe('');
    expect(readme).toContain(quote.trim().replace(/\.$/, ''));
  });
});
