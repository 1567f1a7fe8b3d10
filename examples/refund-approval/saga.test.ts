import {
  crashEverywhere,
  failEverywhere,
  Provider,
  refuseEverywhere,
  testSaga,
} from '@mcp-saga/testing';
import { beforeEach, expect, it, vi } from 'vitest';
import { refund } from './saga.ts';
import { outbox } from './world.ts';

const hour = 3_600_000;
const holds = new Provider<string>();
const payments = new Provider<string>();
const mails: string[] = [];
beforeEach(() => {
  mails.length = 0;
  vi.spyOn(outbox, 'send').mockImplementation(async ({ to, text }) => {
    mails.push(`${text.startsWith('Reminder') ? 'reminds' : 'asks'} ${to}`);
  });
});

const requested = testSaga(refund, {
  input: { order: 'o-1', cents: 2_500 },
  providers: [holds, payments],
})
  .on.step('hold', ({ idempotencyKey }) => ({ hold: holds.do(idempotencyKey, 'hold-1') }))
  .on.step('~hold', ({ stepKey = '' }) => holds.undo(stepKey))
  .on.step('pay', ({ idempotencyKey }) => payments.do(idempotencyKey, '25.00 EUR'));
const approved = requested.on.approval('manager', true);

it('pays if two of three managers approve, and reminds only the silent one', async () => {
  const run = await requested.on
    .approval('manager', [
      { by: 'ann' },
      { by: 'bob', approved: false, after: hour },
      { by: 'cy', after: 5 * hour },
    ])
    .run();
  expect(run.result).toBe('25.00 EUR for order o-1 are refunded.');
  expect(payments.standing).toEqual(['25.00 EUR']);
  expect(mails.slice(3)).toEqual(['reminds cy@shop.example']);
});

it('[E3] releases the money if two managers deny', async () => {
  const run = await requested.on.approval('manager', false).run();
  expect([run.status, run.compensated]).toEqual(['failed', ['hold']]);
  expect([holds.standing, payments.standing]).toEqual([[], []]);
});

it('[E3] releases the money if no manager answers within two days', async () => {
  const run = await requested.silent.approval('manager').run();
  expect([run.status, run.compensated]).toEqual(['failed', ['hold']]);
  expect(mails).toHaveLength(3 + 11 * 3);
});

it('[E1] holds and pays once after a crash at any point', async () => {
  const check = (): void => {
    expect(holds.standing).toHaveLength(1);
    expect(payments.standing).toHaveLength(1);
  };
  await crashEverywhere(approved, { check });
});

it('[E3] leaves no money on hold after any failure, denial, or late answer', async () => {
  await failEverywhere(approved);
  await refuseEverywhere(approved);
});
