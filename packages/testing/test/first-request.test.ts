import { saga, step, uuid } from '@mcp-saga/server';
import { crashEverywhere, Provider, testSaga, type ExploredCase } from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';

const bank = new Provider<number>();
const looksThenPays = saga({ name: 'looksThenPays', version: '1', reuse: 'ok' }, function* () {
  yield* step('look', () => 1, { reads: true });
  yield* step('pay', ({ idempotencyKey }) => void bank.do(idempotencyKey, 1));
  return 'paid';
});

async function redOf(of: typeof looksThenPays, seed?: number): Promise<readonly ExploredCase[]> {
  const red: ExploredCase[] = [];
  const script = testSaga(of, { providers: [bank], ...(seed === undefined ? {} : { seed }) });
  const onCase = (each: ExploredCase): void => void (each.what !== undefined && red.push(each));
  const exploring = crashEverywhere(script, { onCase });
  await expect(exploring).rejects.toMatchObject({ code: 'violated' });
  return red;
}

describe('a step in the first request', () => {
  it.each([undefined, 7])(
    '[E1] happens twice only if it happened before the crash: seed %s',
    async (seed) => {
      const red = await redOf(looksThenPays, seed);
      expect(red.map(({ when }) => when)).toEqual([
        "When the process dies after 'pay'",
        'When the response of turn 1 is lost',
      ]);
    },
  );

  it('[E1] happens twice also if its key differs after a restart', async () => {
    const paysByKey = saga({ name: 'paysByKey', version: '1', reuse: 'ok' }, function* () {
      yield* step('look', () => 1, { reads: true });
      const key = yield* uuid();
      yield* step('pay', ({ idempotencyKey }) => void bank.do(idempotencyKey, 1), { key });
      return 'paid';
    });
    const red = await redOf(paysByKey);
    const twice = red.filter(({ when }) => /after 'pay|response/.test(when));
    expect(twice.map(({ expects }) => expects)).toEqual([
      'expect(run.effects).toHaveLength(2);',
      'expect(run.effects).toHaveLength(2);',
    ]);
  });
});
