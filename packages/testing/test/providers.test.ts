import { elicit, saga, step, toUuid } from '@mcp-saga/server';
import {
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  Provider,
  refuseEverywhere,
  testSaga,
  type SagaRun,
  type TestSaga,
} from '@mcp-saga/testing';
import { sagaProperty } from '@mcp-saga/testing/fast-check';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorOf } from './support/error-of.ts';

const bank = new Provider<string>();
const providers = [bank];

interface Keys {
  readonly idempotencyKey: string;
  readonly stepKey?: string;
}

/** Pays and ships; the test says how it pays, and how that is undone. */
const buying = (pay: (keys: Keys) => unknown, undo: (keys: Required<Keys>) => unknown) =>
  saga({ name: 'buying', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
    yield* step('pay', async (keys) => void (await pay(keys)), {
      compensate: async (keys) => void (await undo(keys)),
      unknown: 'compensate',
    });
    yield* step('look', () => 'seen', { reads: true });
    return 'bought';
  });

const pay = ({ idempotencyKey }: Keys): string => bank.do(idempotencyKey, 'money');
const refund = ({ stepKey }: Required<Keys>): void => bank.undo(stepKey);
const tested = (...[how, undo]: Parameters<typeof buying>): TestSaga =>
  testSaga(buying(how, undo), { providers }).on.elicit('sure', {});

describe('providers of a test', () => {
  it('[E1] [E4] a sound saga passes all explorers, with its providers reset before each run', async () => {
    const sound = tested(pay, refund);
    await crashEverywhere(sound);
    await crashEverywhere(sound, { afterCrash: 'fail' });
    await failEverywhere(sound);
    await refuseEverywhere(sound);
    await forkEverywhere(sound);
    bank.do('left over', 'from another test');
    expect((await sound.run()).standing).toEqual(['pay']);
    expect((await sound.fail.step('look', new Error('no')).run()).standing).toEqual([]);
    expect(bank.standing).toEqual([]);
  });

  it('[E4] a step whose code never ran is undone by the steps of a generator', async () => {
    const hotel = saga({ name: 'hotel', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
      yield* step('book', pay, {
        *compensate({ stepKey }) {
          yield* step('unbook', () => bank.undo(stepKey));
        },
        unknown: 'compensate',
      });
      return 'booked';
    });
    const booked = testSaga(hotel, { providers }).on.elicit('sure', {});
    expect((await booked.timeout.step('book').run()).compensated).toEqual(['book']);
    await failEverywhere(booked, { harmless: ['~book/unbook'] });
  });

  it('[E1] [E4] a provider that takes the UUID of a key is watched like one that takes the key', async () => {
    const sound = tested(
      ({ idempotencyKey }) => bank.do(toUuid(idempotencyKey), 'money'),
      ({ stepKey }) => bank.undo(toUuid(stepKey)),
    );
    const harmless = ['look'];
    await crashEverywhere(sound, { harmless });
    await failEverywhere(sound, { harmless });
    expect((await sound.run()).standing).toEqual(['pay']);
    expect(bank.standingKeys).toEqual([toUuid('do:pay')]);
    expect((await sound.fail.step('look', new Error('no')).run()).standing).toEqual([]);
  });

  it('[E4] an undo that takes the UUID of its own key leaves the effect in the provider', async () => {
    const wrong = tested(
      ({ idempotencyKey }) => bank.do(toUuid(idempotencyKey), 'money'),
      ({ idempotencyKey }) => bank.undo(toUuid(idempotencyKey)),
    );
    const error = await errorOf(failEverywhere(wrong, { harmless: ['look'] }));
    expect(error).toMatchObject({ code: 'violated' });
    expect(error.message).toContain("the effect of 'pay' is still in the provider");
  });

  it('[E1] an unknown key ends the run, in do and in undo', async () => {
    let calls = 0;
    const invented = await errorOf(
      tested(() => bank.do(`mine-${(calls += 1)}`, 'money'), refund).run(),
    );
    expect(invented).toMatchObject({ code: 'violated' });
    expect(invented.message).toContain("do('mine-1')");
    const wrong = tested(pay, () => bank.undo('ch_1')).fail.step('look', new Error('no'));
    expect((await errorOf(wrong.run())).message).toContain("undo('ch_1')");
  });

  it('an effect after the end of its step ends the run, because its promise was not awaited', async () => {
    const soon = (work: () => unknown): void => void setImmediate(work);
    const forgets = await errorOf(tested((keys) => soon(() => pay(keys)), refund).run());
    expect(forgets).toMatchObject({ code: 'violated' });
    expect(forgets.message).toContain("after the code of 'pay' had ended");
    const undoForgets = tested(pay, (keys) => soon(() => refund(keys))).fail.step(
      'look',
      new Error('no'),
    );
    expect((await errorOf(undoForgets.run())).message).toContain("undo('do:pay') after");
  });

  it('[E4] finds effects left in a provider without a check', async () => {
    const error = await errorOf(failEverywhere(tested(pay, () => undefined)));
    expect(error).toMatchObject({ code: 'violated' });
    expect(error.message).toContain("the effect of 'pay' is still in the provider");
    expect(error.message).toContain("expect(run.standing).not.toContain('pay');");
    await failEverywhere(
      tested(pay, () => undefined),
      { harmless: ['pay', '~pay'] },
    );
  });

  it('[E4] a property finds it, too', async () => {
    const check = (undo: Parameters<typeof buying>[1]) =>
      fc.assert(
        sagaProperty(
          buying(pay, undo),
          { providers: () => providers },
          (run: SagaRun) => run.status !== 'completed' || bank.standing.length === 1,
        ),
        { numRuns: 40, seed: 7 },
      );
    await check(refund);
    await expect(check(() => undefined)).rejects.toMatchObject({
      cause: {
        message: expect.stringContaining("the effect of 'pay' is still in the provider") as string,
      },
    });
  });
});
