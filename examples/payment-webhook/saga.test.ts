import {
  crashEverywhere,
  failEverywhere,
  Provider,
  refuseEverywhere,
  testSaga,
} from '@mcp-saga/testing';
import { beforeEach, expect, it, vi } from 'vitest';
import { order } from './saga.ts';
import { provider } from './world.ts';

const hour = 3_600_000;
const paid = { type: 'payment.paid', cents: 4_200 };
const reserved = new Provider<string>();
const shipped = new Provider<string>();
const checkouts = new Map<string, string>();
beforeEach(() => {
  checkouts.clear();
  vi.spyOn(provider, 'checkout').mockImplementation(async ({ webhook }, key) => {
    checkouts.set(key, webhook);
  });
});

const placed = testSaga(order, {
  input: { order: 'o-1', cents: 4_200 },
  providers: [reserved, shipped],
})
  .on.step('reserve', ({ idempotencyKey }) => void reserved.do(idempotencyKey, 'o-1'))
  .on.step('~reserve', ({ stepKey = '' }) => reserved.undo(stepKey))
  .on.step('ship', ({ idempotencyKey }) => shipped.do(idempotencyKey, 'parcel-1'));
const ordered = placed.on.event('payment', paid, { after: 2 * hour });

it('ships when the payment arrives', async () => {
  const run = await ordered.run();
  expect(run.result).toBe('o-1 is paid, and shipped as parcel-1.');
  expect(checkouts.size).toBe(1);
});

it('[E3] releases the goods when the payment arrives after a day, is incomplete, or never arrives', async () => {
  const runs = [
    ordered.late.event('payment', 23 * hour),
    placed.on.event('payment', { ...paid, cents: 100 }),
    placed.silent.event('payment'),
  ];
  for (const script of runs) {
    const run = await script.run();
    expect([run.status, run.compensated]).toEqual(['failed', ['reserve']]);
    expect([reserved.standing, shipped.standing]).toEqual([[], []]);
  }
});

it('[E1] ships once, and registers the webhook under one key, after a crash at any point', async () => {
  const check = (): void => expect(shipped.standing).toEqual(['parcel-1']);
  await crashEverywhere(ordered, { check });
});

it('[E3] reserves nothing after any failure, or without a payment', async () => {
  await failEverywhere(ordered);
  await refuseEverywhere(ordered);
});
