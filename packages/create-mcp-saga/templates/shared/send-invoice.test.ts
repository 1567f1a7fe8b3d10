import { crashEverywhere, failEverywhere, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { sendInvoice } from './send-invoice.js';

// The test answers for the user and for the provider.
const confirmed = testSaga(sendInvoice, { input: { customer: 'Ada', amount: 12 } })
  .on.elicit('confirm', { confirmed: true })
  .on.step('send', { id: 'INV-1' });

it('sends the invoice after the user confirms it', async () => {
  const run = await confirmed.run();
  expect(run.result).toBe('Sent INV-1 to Ada.');
});

it('sends nothing if the user does not confirm', async () => {
  const run = await confirmed.on.elicit('confirm', { confirmed: false }).run();
  expect(run.result).toBe('Not sent.');
  expect(run.effects).toEqual([]);
});

it('sends one invoice, wherever the process stops', async () => {
  await crashEverywhere(confirmed);
});

it('tells the user that the outcome is unknown if the provider does not answer', async () => {
  const run = await confirmed.timeout.step('send').run();
  expect(run.result).toContain('unknown if the invoice to Ada was sent');
  await failEverywhere(confirmed);
});

it('ends well, however the user refuses', async () => {
  await refuseEverywhere(confirmed);
});
