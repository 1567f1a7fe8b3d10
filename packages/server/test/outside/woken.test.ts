import { approval, memoryStore, saga, step } from '@mcp-saga/server';
import { expect, it } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { deferred } from '../fixtures/deferred.ts';
import { suspended } from '../fixtures/host.ts';
import { queued } from '../queue/queued.ts';
import { base, caller, day, hour, user } from './case.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

it('[E8] a delayed delivery uses an answer that arrives while a client runs a turn', async () => {
  const did: string[] = [];
  const urls: string[] = [];
  const refund = saga({ name: 'refund', version: '1' }, function* () {
    const { approved } = yield* approval('manager', {
      message: 'Refund?',
      remindEvery: hour,
      timeout: 2 * day,
      deliver: ({ url, isReminder }) => {
        urls.push(url);
        if (isReminder) did.push('remind');
      },
    });
    yield* step('pay', () => void did.push(approved ? 'pay' : 'refuse'));
    return '';
  });
  const clock = testClock();
  const [finishing, waiting, isAnswered] = [
    deferred<undefined>(),
    deferred<undefined>(),
    deferred<undefined>(),
  ];
  let isHeld = false;
  const store = storeWithGuard(
    (guard) => ({
      begin: async (claim) => {
        const verdict = await guard.begin(claim);
        if (verdict === 'busy') waiting.resolve(undefined);
        return verdict;
      },
      finish: async (...finished) => {
        if (isHeld) {
          finishing.resolve(undefined);
          await isAnswered.promise;
        }
        return await guard.finish(...finished);
      },
    }),
    memoryStore({ clock }),
  );
  const { host, queue } = queued(refund, {
    store,
    url: base,
    testing: { clock, sleep: () => Promise.resolve() },
  });
  const { token, sagaId } = suspended(await host.start('refund', {}, { caller }));
  const { message } = queue.sent.at(-1)!;
  clock.now += hour;
  isHeld = true;
  const resumed = host.resume(token, [], { caller });
  // The turn has read the answers, and sent its reminder.
  await finishing.promise;
  const request = new Request(urls[0] ?? '', {
    method: 'POST',
    headers: { origin: 'null', 'sec-fetch-site': 'same-origin' },
    body: new URLSearchParams({ decision: 'approve' }),
  });
  expect((await host.answer(request, { caller: user('ann') })).status).toBe(200);
  // The answer wakes the saga, whose newest message is of the turn that runs.
  const delivered = host.deliver(message);
  await waiting.promise;
  isAnswered.resolve(undefined);
  suspended(await resumed);
  expect(await delivered).toEqual({ status: 'ended', sagaId });
  expect(did).toEqual(['remind', 'pay']);
});
