import { expect, test } from 'vitest';
import type { Board } from './clients/flight.ts';
import { Fleet } from './fleet.ts';

/** Users of whom each second request fails. */
const failing: Board = async () => {
  let requests = 0;
  return {
    next: async () => {
      requests += 1;
      if (requests % 2 === 0) throw new Error('refused');
      return { latencies: [requests], told: 'done' };
    },
  };
};

test('a fleet that sends a number of requests counts those that fail, and goes on', async () => {
  const fleet = new Fleet('', failing);
  await fleet.growTo(1);
  const driven = await fleet.send(4);
  expect(driven).toMatchObject({ requests: 2, latencies: [1, 3], told: new Set(['done']) });
  expect(driven.errors).toEqual([new Error('refused'), new Error('refused')]);
});

test('a fleet that is driven for a time fails with its first failed request', async () => {
  const fleet = new Fleet('', failing);
  await fleet.growTo(1);
  expect(await fleet.drive(0)).toMatchObject({ requests: 1, errors: [] });
  await expect(fleet.drive(0)).rejects.toThrow('refused');
});
