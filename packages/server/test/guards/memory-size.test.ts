import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  type SuspendedTurn,
} from '@mcp-saga/server';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { testClock } from '../fixtures/clock.ts';

const Ok = z.object({ ok: z.boolean() });
const hour = 3_600_000;
const margin = 5 * 60_000;

test('[T13] a store in memory keeps used tokens until they expire, and no waiting sagas', async () => {
  const clock = testClock();
  const store = memoryStore({ clock });
  const asking = saga({ name: 'asking', version: '1' }, function* () {
    yield* elicit('one', { message: 'One?', schema: Ok });
    yield* elicit('two', { message: 'Two?', schema: Ok });
    return 'done';
  });
  const host = createSagaHost({
    sagas: [asking],
    keys: generateKey(),
    name: 'asking',
    store,
    testing: { clock },
  });
  const begin = async (): Promise<SuspendedTurn> =>
    (await host.start('asking', {})) as SuspendedTurn;
  const answer = async ({ token, steps }: SuspendedTurn): Promise<SuspendedTurn> => {
    const answers = steps.map(({ stepId }) => ({
      stepId,
      result: { action: 'accept', content: { ok: true } },
    }));
    return (await host.resume(token, answers)) as SuspendedTurn;
  };

  const waiting = await Promise.all(Array.from({ length: 100 }, begin));
  expect(store.size).toBe(0);

  await Promise.all(waiting.map(answer));
  expect(store.size).toBe(100);

  const late = await begin();
  clock.now += hour - 1;
  await answer(late);
  expect(store.size).toBe(101);

  // The next call of the store removes expired entries, except its own. The late request could have
  // run for as long as a token is good.
  clock.now += margin + hour;
  const last = await begin();
  await answer(last);
  expect(store.size).toBe(1);
});
