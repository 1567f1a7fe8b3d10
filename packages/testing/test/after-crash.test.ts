import { elicit, saga, step } from '@mcp-saga/server';
import { crashEverywhere, Provider, testSaga } from '@mcp-saga/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { order } from './sagas/order.ts';
import { shop } from './sagas/shop.ts';

const Sure = z.object({ sure: z.boolean() });
const bank = new Provider<string>();
beforeEach(() => bank.reset());

/** Charges and ships when the user is sure. */
function buying(
  options: {
    readonly commitEach?: boolean;
    readonly looksUp?: boolean;
    readonly steps?: readonly string[];
  } = {},
) {
  const { commitEach = false, looksUp = true, steps = ['charge', 'ship'] } = options;
  const buy = saga({ name: 'buy', version: '1', commitEach }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Sure });
    for (const what of steps) {
      const undo = ({ stepKey }: { readonly stepKey: string }): unknown => bank.undo(stepKey);
      const undoes = looksUp ? ({ compensate: undo, unknown: 'compensate' } as const) : {};
      yield* step(what, ({ idempotencyKey }) => bank.do(idempotencyKey, what), undoes);
    }
    return 'shipped';
  });
  return testSaga(buy, { before: () => bank.reset() }).on.elicit('sure', { sure: true });
}

describe('a process that dies before its provider fails', () => {
  it('[E9] distinguishes an effect of a dead request from a step without an effect', async () => {
    const bought = testSaga(order, { input: { cents: 900 }, before: shop.reset }).on.elicit(
      'sure',
      {
        sure: true,
      },
    );
    expect(await crashEverywhere(bought, { afterCrash: 'fail', harmless: ['thank'] })).toEqual({
      cases: 4,
    });
    expect(await crashEverywhere(buying(), { afterCrash: 'fail' })).toEqual({ cases: 3 });
  });

  it('[E9] finds the turn named for a step that only the dead request ran', async () => {
    const script = buying({ steps: ['charge', 'ship', 'thank'] });
    const failed = script.fail.step('charge', new Error('down'), { from: 2 });
    expect(await failed.crash.after('thank').run()).toMatchObject({
      compensated: ['charge'],
      uncompensated: ['turn 2'],
    });
    expect(await crashEverywhere(script, { afterCrash: 'fail' })).toEqual({ cases: 5 });
  });

  it('[E9] leaves no effect if every step is committed', async () => {
    const check = ({ status }: { readonly status: string }): void => {
      if (status === 'failed') expect(bank.standing).toEqual([]);
    };
    const script = buying({ commitEach: true });
    expect(await crashEverywhere(script, { afterCrash: 'fail', check })).toEqual({ cases: 3 });
  });

  it('[E9] finds a step that is neither undone nor reported, with a script to paste', async () => {
    const script = buying({ commitEach: true, looksUp: false });
    const found = expect(crashEverywhere(script, { afterCrash: 'fail' })).rejects;
    await found.toMatchObject({ code: 'violated' });
    await found.toThrow(
      /\.crash\.after\('ship'\)[^]*\{ from: 2 \}\)[^]*'charge' happened in a request that died/,
    );
    await crashEverywhere(script, { afterCrash: 'fail', harmless: ['charge', 'ship'] });
  });

  it('[E9] fails a step from a given run of its code on', async () => {
    const failing = buying().fail.step('charge', new Error('down'), { from: 2 });
    expect(await failing.crash.after('charge').run()).toMatchObject({
      status: 'failed',
      compensated: ['charge'],
      uncompensated: ['turn 2'],
    });
  });
});
