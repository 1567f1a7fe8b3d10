import { memoryStore } from '@mcp-saga/server';
import { storeGuard, type GuardVerdict } from '@mcp-saga/server/internal';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { ExpiryQueue } from '../../src/store/expiry-queue.ts';
import type { Expiring } from '../../src/store/expiry-queue.ts';

const hour = 3_600_000;

function claimOf(sagaId: string, now: number) {
  const turn = { sagaId, turn: 1, jti: sagaId, action: 'resume', digest: 'yes' } as const;
  return { ...turn, leaseMs: 60_000, expiresAt: now + hour, now };
}

test('[T13] removes at most 1,000 expired entries in one call to a store in memory', async () => {
  const store = memoryStore();
  const guard = storeGuard(store);
  for (let index = 0; index < 10_000; index += 1) await guard.begin(claimOf(`s${index}`, 0));
  expect(store.size).toBe(10_000);
  await guard.begin(claimOf('later', 2 * hour));
  expect(store.size).toBe(9_001);
  for (let call = 0; call < 9; call += 1)
    expect(await guard.claim('s:step', 9 * hour, 2 * hour)).toBe(call === 0);
  expect(store.size).toBe(2);
});

test('[T13] ignores an expired turn and an expired claim before their entries are removed', async () => {
  const store = memoryStore();
  const guard = storeGuard(store);
  await guard.claim('s:last', hour + 1, 0);
  for (let index = 0; index < 3_000; index += 1) await guard.begin(claimOf(`s${index}`, 0));
  const last = claimOf('last', 1);
  await guard.begin(last);
  const now = 2 * hour;
  expect(await guard.begin({ ...last, jti: 'other', expiresAt: 3 * hour, now })).toHaveProperty(
    'run',
  );
  expect(await guard.begin({ ...last, jti: 'third', expiresAt: 3 * hour, now })).toBe('conflict');
  expect(await guard.claim('s:last', 3 * hour, now)).toBe(true);
  expect(await guard.claim('s:last', 3 * hour, now)).toBe(false);
});

test('[T13] stores no entry of a turn that ran nothing', async () => {
  const store = memoryStore();
  const guard = storeGuard(store);
  for (let round = 0; round < 3; round += 1) {
    const verdict: GuardVerdict = await guard.begin(claimOf('s', round));
    await guard.forget((verdict as Extract<typeof verdict, { run: unknown }>).run);
  }
  expect(store.size).toBe(0);
});

/** Entries whose due times count how often the queue reads them. */
function countedEntries(count: number) {
  let reads = 0;
  const entries = Array.from({ length: count }, (_, index) => {
    const dueAt = (index * 7_919) % count;
    return Object.defineProperty({ key: '', dueAt, index: 0 }, 'dueAt', {
      get: () => ((reads += 1), dueAt),
    });
  });
  return { entries, readsOf: (act: () => void) => ((reads = 0), act(), reads) };
}

test('due entries are added, removed, and taken in logarithmic time', () => {
  const queue = new ExpiryQueue<Expiring>();
  const { entries, readsOf } = countedEntries(20_000);
  const most = 4 * Math.ceil(Math.log2(entries.length)) + 4;
  const mostReads = (acts: readonly (() => void)[]): number => Math.max(...acts.map(readsOf));
  expect(mostReads(entries.map((entry) => () => queue.add(entry)))).toBeLessThanOrEqual(most);
  expect(readsOf(() => expect(queue.takeDue(-1)).toBeUndefined())).toBe(1);
  const removed = entries.slice(0, 10_000).map((entry) => () => queue.remove(entry));
  expect(mostReads(removed)).toBeLessThanOrEqual(most);
  const taken = removed.map(() => () => void queue.takeDue(20_000));
  expect(mostReads(taken)).toBeLessThanOrEqual(most);
  expect(queue.takeDue(20_000)).toBeUndefined();
});

test('due entries are taken in the order of their due times, without removed ones', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ dueAt: fc.nat(20), isRemoved: fc.boolean() })), (made) => {
      const queue = new ExpiryQueue<Expiring & { isRemoved: boolean }>();
      const entries = made.map((entry) => ({ ...entry, key: '', index: 0 }));
      for (const entry of entries) queue.add(entry);
      for (const entry of entries) if (entry.isRemoved) queue.remove(entry);
      const taken = [];
      for (let next = queue.takeDue(20); next !== undefined; next = queue.takeDue(20))
        taken.push(next.dueAt);
      const left = entries.filter(({ isRemoved }) => !isRemoved).map(({ dueAt }) => dueAt);
      expect(taken).toEqual(left.toSorted((one, other) => one - other));
    }),
  );
});
