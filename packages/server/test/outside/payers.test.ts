import { memoryStore, type SagaStore } from '@mcp-saga/server';
import { expect, it } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { caller, OutsideCase, user } from './case.ts';

const ann = user('ann');

/** Everything that a store was told. */
function recording() {
  const honest = memoryStore({ clock: () => 0 });
  const writes: Parameters<SagaStore['write']>[] = [];
  const appends: Parameters<SagaStore['append']>[] = [];
  const store: SagaStore = {
    ...honest,
    write: (...given) => {
      writes.push(given);
      return honest.write(...given);
    },
    append: (...given) => {
      appends.push(given);
      return honest.append(...given);
    },
  };
  return { store, writes, appends };
}

// The claims of a ticket have no principal, so the ticket says who pays.
it('the bytes of an answer are charged to the principal of the saga', async () => {
  const { store, writes, appends } = recording();
  const test = new OutsideCase({}, { store });
  await test.start();
  const [ticket] = writes;
  expect(ticket?.[3].charge?.to).toBeTypeOf('string');
  expect((await test.post(ann)).status).toBe(200);
  expect(appends).toHaveLength(1);
  expect(appends[0]?.[2].chargeTo).toBe(ticket?.[3].charge?.to);
});

it('[T3] a store does not learn of which question the link was withdrawn', async () => {
  const { store, writes, appends } = recording();
  const test = new OutsideCase({ of: 2, to: ['ann', 'bob'] }, { store });
  const turn = await test.start();
  await test.post(ann);
  await test.test.host.cancel(turn.token, { caller });
  const box = appends[0]?.[0].group;
  const ofBox = writes.filter(([{ group }]) => group === box).map(([, { head }]) => head);
  expect(ofBox.filter((head) => ['withdrawn', 'outdated'].includes(head))).toEqual([]);
});

it('a memoryStore without a clock keeps links by the clock of its host', async () => {
  const clock = testClock(Date.parse('2020-01-01T00:00:00Z'));
  const test = new OutsideCase({}, { clock, store: memoryStore() });
  await test.start();
  expect(test.sent).toHaveLength(1);
  expect(test.url()).toMatch(/answer\/[\w-]{22}$/);
  expect((await test.get(ann)).status).toBe(200);
});
