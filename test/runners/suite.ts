import assert from 'node:assert/strict';
import { elicit, saga, step } from '@mcp-saga/server';
import {
  crashEverywhere,
  replayRecording,
  testHost,
  testSaga,
  type SagaRun,
} from '@mcp-saga/testing';
import { z } from 'zod';

const charges = new Set<string>();

const pay = saga({ name: 'pay', version: '1' }, function* () {
  yield* step('charge', ({ idempotencyKey }) => void charges.add(idempotencyKey), {
    compensate: ({ stepKey }) => void charges.delete(stepKey),
    unknown: 'compensate',
  });
  yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
  return 'paid';
});

const paid = testSaga(pay, { before: () => charges.clear() }).on.elicit('sure', { sure: true });

/** The tests that are run by every runner: of everything the kit does, one thing. */
export const suite: { readonly [title: string]: () => Promise<void> } = {
  'runs a saga': async () => {
    assert.equal((await paid.run()).result, 'paid');
  },
  'crashes it everywhere': async () => {
    await crashEverywhere(paid, { check: () => assert.equal(charges.size, 1) });
  },
  'replays its recording': async () => {
    await replayRecording((await paid.run()).recording, [pay]);
  },
  'calls it over the wire': async () => {
    const wire = testHost({ sagas: [pay] });
    const client = wire.client({ era: '2025-11-25', answers: { sure: { sure: true } } });
    assert.deepEqual((await client.call('pay')).content, [{ type: 'text', text: 'paid' }]);
    await wire.close();
  },
};

/** A run for the matchers: declined, with its steps undone. */
export function refused(): Promise<SagaRun> {
  return paid.refuse.elicit('sure').run();
}
