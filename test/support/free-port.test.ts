import { expect, it } from 'vitest';
import { startOnFreePort } from './free-port.ts';

it('starts a server on another port if the first port is taken', async () => {
  const tried: number[] = [];
  const { port, started } = await startOnFreePort(async (free) => {
    tried.push(free);
    if (tried.length === 1) throw new Error('EADDRINUSE');
    return 'server';
  });
  expect([port, started]).toEqual([tried[1], 'server']);
});

it('rejects with the error of the fifth start', async () => {
  let starts = 0;
  const fails = startOnFreePort(async () => {
    starts += 1;
    throw new Error(`start ${starts}`);
  });
  await expect(fails).rejects.toThrow('start 5');
});
