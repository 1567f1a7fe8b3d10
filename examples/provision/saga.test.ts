import { Provider, testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { provision } from './saga.ts';

const machines = new Provider<string>();
const machine = { id: 'machine-1', address: '10.0.0.1', price: '0.12 EUR' };

// Replaces the cloud by a fake, which honors idempotency keys, too.
const created = testSaga(provision, { input: { size: 'small' }, before: () => machines.reset() })
  .on.step('create', ({ idempotencyKey }) => {
    machines.do(idempotencyKey, machine.id);
    return machine;
  })
  .on.step('~create', ({ stepKey = '' }) => machines.undo(stepKey));

const kept = created.on.elicit('keep', { keep: true });

it('keeps the machine after the user accepts', async () => {
  const run = await kept.run();

  expect(run.result).toBe('machine-1 is yours, at 10.0.0.1.');
  expect(String(run.trace)).toContain(
    'asked keep: machine-1 runs at 10.0.0.1 for 0.12 EUR an hour. Keep it?',
  );
});

it('[E3] removes the machine if the user declines', async () => {
  const run = await created.on.elicit('keep', { keep: false }).run();

  expect(run.compensated).toEqual(['create']);
  expect(machines.standing).toEqual([]);
});
