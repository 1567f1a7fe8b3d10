import { createSagaHost, elicit, generateKey, saga, sleep, step } from '@mcp-saga/server';
import { assertDeterministic, crashEverywhere, testSaga } from '@mcp-saga/testing';
import { z } from 'zod';

const Sure = z.object({ sure: z.boolean() });
const payments = new Map<string, string>();

const refund = saga({ name: 'refund', version: '1' }, function* () {
  yield* elicit('sure', { message: 'Refund it?', schema: Sure });
  yield* sleep(10);
  return yield* step('pay', ({ idempotencyKey }) => {
    payments.set(idempotencyKey, 'Refunded.');
    return 'Refunded.';
  });
});

/** Pays again after a crash. */
const careless = saga({ name: 'careless', version: '1' }, function* () {
  return yield* step('pay', () => 'Refunded.');
});

const codeOf = (error: unknown): unknown => Object(error).code;

const host = createSagaHost({ sagas: [refund], keys: generateKey(), name: 'page' });

/** Runs a saga on a host, and with the test kit, in a page. Returns the results. */
async function runInPage(): Promise<object> {
  const turn = await host.start('refund', {});
  if (turn.status !== 'suspended') throw new Error(`The saga is ${turn.status}.`);
  let over = await host.resume(turn.token, [
    { stepId: 'sure', result: { action: 'accept', content: { sure: true } } },
  ]);
  // A turn has a budget of time, and a browser may start slowly.
  while (over.status === 'suspended') over = await host.resume(over.token, []);
  const script = testSaga(refund).on.elicit('sure', { sure: true });
  const run = await script.run();
  const crashes = await crashEverywhere(script);
  const changes = await assertDeterministic(script);
  return {
    host: over.status === 'completed' && over.result,
    kit: run.result,
    crashes: crashes.cases,
    changes: changes.cases,
    careless: await crashEverywhere(testSaga(careless)).catch(codeOf),
    saved: await run.save('refund.json').catch(codeOf),
  };
}

globalThis.runInPage = runInPage;

declare global {
  // oxlint-disable-next-line no-var -- a global
  var runInPage: () => Promise<object>;
}
