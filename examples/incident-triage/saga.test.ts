import { assertDeterministic, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import '@mcp-saga/testing/vitest';
import { expect, it } from 'vitest';
import { triageIncident } from './saga.ts';

const opened = testSaga(triageIncident, { input: { service: 'checkout', symptom: 'slow' } })
  .on.step('room', { room: 'room-1' })
  .on.step('~room', () => undefined)
  .on.step('failOver', () => undefined);

const taken = opened.on.elicit('onCall', { verdict: 'taken' }).on.sample('classify', 'high');

it('asks a person and the model at once, and fails over if the incident is severe', async () => {
  const run = await taken.run();
  expect(run.result).toBe('checkout is taken care of in room-1, severity high.');
  expect(String(run.trace)).toContain('ran failOver');
});

it('[E3] closes the room after a false alarm', async () => {
  const run = await taken.on.elicit('onCall', { verdict: 'false alarm' }).run();
  expect(run.compensated).toEqual(['room']);
  expect(run.uncompensated).toEqual([]);
});

it('asks the manager if the person on call declines', async () => {
  const run = await taken.refuse.elicit('onCall').on.elicit('manager', { verdict: 'taken' }).run();
  expect(run.result).toContain('is taken care of');
});

it('asks the manager after five minutes, also if the person on call answers later', async () => {
  const answered = taken.on.elicit('manager', { verdict: 'taken' });
  const silent = await answered.silent.elicit('onCall', 300_000).run();
  expect(silent.result).toContain('is taken care of');
  expect(silent).toHaveAsked('manager');
  const late = await answered.late.elicit('onCall', 400_000).run();
  expect(late).toHaveAsked('manager');
  const inTime = await taken.late.elicit('onCall', 200_000).run();
  expect(inTime).not.toHaveAsked('manager');
});

it('accepts any answer, and does the same on any machine', async () => {
  const answered = taken.on.elicit('manager', { verdict: 'taken' });
  await refuseEverywhere(answered);
  await assertDeterministic(answered);
});
