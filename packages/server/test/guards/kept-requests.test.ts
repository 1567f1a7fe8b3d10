import {
  continueAs,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type Json,
  type SagaHost,
  type StepAnswer,
} from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { suspended } from '../fixtures/host.ts';
import { answer, drivenQueue, gone, Ok } from './guarded-hosts.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const shipping = saga({ name: 'shipping', version: '1' }, function* () {
  yield* elicit('ship', { message: 'Ship?', schema: z.looseObject({}) });
  yield* elicit('review', { message: 'Good?', schema: Ok });
  return 'done';
});

/** A host, and the records of requests that its guard stores. */
function keeping(): { readonly host: SagaHost; readonly kept: string[] } {
  const kept: string[] = [];
  const store = storeWithGuard((guard) => ({
    begin: (claim) => {
      kept.push(claim.request ?? '');
      return guard.begin(claim);
    },
  }));
  const options = {
    sagas: [shipping],
    keys: generateKey(),
    name: 'shop',
    hooks: { onTurn: () => undefined },
  };
  return { host: createSagaHost({ ...options, store }), kept };
}

const said = (stepId: string, x: Json): StepAnswer => ({
  stepId,
  result: { action: 'accept', content: { x } },
});

const large = 'x'.repeat(300_000);

test.each([
  [
    'of unknown answers',
    [...answer('ship'), said('made up', 'x'.repeat(100_000))],
    { elicitation: {} },
  ],
  ['of an answer over the size limit', [said('ship', large)], { elicitation: {} }],
  ['of large client capabilities', answer('ship'), { elicitation: {}, experimental: { large } }],
])('[T11] [T13] a guard stores nothing %s', async (_, answers, capabilities) => {
  const { host, kept } = keeping();
  const { token } = suspended(await host.start('shipping', {}));
  suspended(await host.resume(token, answers, { caller: { capabilities } }));
  expect(kept).toHaveLength(1);
  expect(kept[0]?.length).toBeLessThan(2_000);
});

test('[T9] [T13] unknown answers may have the maximum depth under a guard, too', async () => {
  const { host } = keeping();
  const { token } = suspended(await host.start('shipping', {}));
  let deep: Json = 1;
  for (let depth = 0; depth < 62; depth += 1) deep = { a: deep };
  const { steps } = suspended(await host.resume(token, [...answer('ship'), said('made up', deep)]));
  expect(steps).toMatchObject([{ stepId: 'review' }]);
});

test('[E8] [T13] finishes the interrupted turn of a saga after continueAs with its answers', async () => {
  expectLogs(restartLog);
  const clock = testClock();
  const store = memoryStore({ clock });
  const did: string[] = [];
  const pass = async (ms: number): Promise<void> => void (clock.now += ms);
  const { queue, deliver, drain } = drivenQueue(clock, pass);
  const shipped = saga({ name: 'shipped', version: '1' }, function* () {
    const { ok } = yield* elicit('ship', { message: 'Ship?', schema: Ok });
    yield* step('send', () => void did.push(`send ${ok}`), {
      compensate: () => void did.push('recall'),
    });
    yield* elicit('review', { message: 'Good?', schema: Ok });
    return 'done';
  });
  const begun = saga({ name: 'begun', version: '1' }, function* () {
    return yield* continueAs(shipped, {});
  });
  const common = {
    sagas: [begun, shipped],
    keys: generateKey(),
    name: 'shop',
    testing: { clock, environment: 'production' },
    queue,
    hooks: { onTurn: () => undefined, onError: () => undefined },
  };
  const host = createSagaHost({ ...common, store });
  const { token } = suspended(await host.start('begun', {}));
  const dying = createSagaHost({
    ...common,
    store: storeWithGuard(() => ({ finish: gone }), store),
  });
  await expect(dying.resume(token, answer('ship@1'))).rejects.toMatchObject({ code: 'guard_down' });
  expect(await deliver(host)).toMatchObject({ status: 'waiting' });
  expect(did).toEqual(['send true', 'send true']);
  expect(await drain(host)).toMatchObject({ status: 'ended' });
  expect(did).toEqual(['send true', 'send true', 'recall']);
});
