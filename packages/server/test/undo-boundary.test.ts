import { elicit, memoryGuard, saga, step } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { testClock } from './fixtures/clock.ts';
import { hostOf } from './fixtures/host.ts';
import { Empty } from './fixtures/sagas.ts';

/** Charges, and fails the first time it ships. */
function shop() {
  const did: string[] = [];
  let ships = 0;
  const order = saga({ name: 'order', version: '1', forks: 'refuse' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('charge', () => void did.push('charge'), {
      compensate: () => void did.push('refund'),
    });
    yield* step('ship', () => {
      ships += 1;
      if (ships === 1) throw new Error('no parcels today');
      did.push('ship');
    });
    return 'shipped';
  });
  return { did, order };
}

test('[E1] [E3] what a turn did is kept before it is undone, so that a repeated request does not do it again', async () => {
  const { did, order } = shop();
  const clock = testClock();
  const guard = memoryGuard(clock);
  const { host, told } = hostOf(order, { guard, clock });
  const first = await host.start('order', {});
  if (first.status !== 'suspended') throw new Error(first.status);
  const answer = [{ stepId: 'sure', result: { action: 'accept', content: {} } }];
  const aborting = new AbortController();
  // The request is aborted as soon as the undoing begins: nobody hears how it ended.
  const finish = guard.finish.bind(guard);
  guard.finish = (fence, response) => {
    aborting.abort();
    return finish(fence, response);
  };
  await expect(host.resume(first.token, answer, { signal: aborting.signal })).rejects.toThrow('aborted');
  guard.finish = finish;
  expect(did).toEqual(['charge']);

  const end = await host.resume(first.token, answer);
  expect(end).toMatchObject({ status: 'failed', compensated: [{ stepId: 'charge' }] });
  expect(did.filter((what) => what === 'charge')).toHaveLength(1);
  expect(did).not.toContain('ship');
  expect(told.errors).toEqual([]);
});
