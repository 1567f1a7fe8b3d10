import { testSaga } from '@mcp-saga/testing';
import { failovers, rooms } from './ops.ts';
import { triageIncident } from './saga.ts';

/**
 * The person on call takes the incident. In the playground, decline, or let five minutes pass: the
 * manager is asked.
 */
export const script = testSaga(triageIncident, {
  input: { service: 'checkout', symptom: 'slow' },
  providers: [rooms, failovers],
})
  .on.elicit('onCall', { verdict: 'taken' })
  .on.elicit('manager', { verdict: 'taken' })
  .on.sample('classify', 'high');

/** A failover is never undone, and a repeated request may go on although the room was closed. */
export const harmless = ['room', 'failOver'];
