import { createSagaHost, memoryStore } from '@mcp-saga/server';
import { expect, it } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { oldKey } from '../fixtures/host.ts';

const hostWith = (store: ReturnType<typeof memoryStore>, clock?: () => number) =>
  createSagaHost({
    sagas: [],
    keys: oldKey,
    name: 'test',
    store,
    testing: { environment: 'test', ...(clock && { clock }) },
  });

it('hosts with different clocks cannot share a memoryStore that has none', () => {
  const clock = testClock(Date.parse('2020-01-01T00:00:00Z'));
  const store = memoryStore();
  hostWith(store, clock);
  hostWith(store, () => clock() + 1_000);
  expect(() => hostWith(store)).toThrow(expect.objectContaining({ code: 'invalid_option' }));
  const own = memoryStore({ clock });
  hostWith(own);
  hostWith(own, clock);
});
