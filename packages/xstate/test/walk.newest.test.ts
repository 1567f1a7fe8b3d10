import { assert, asyncProperty, pre } from 'fast-check';
import { createActor, setup } from 'xstate';
import * as newest from 'xstate-newest';
import { expect, it, vi } from 'vitest';
import { quietly } from './support/quietly.ts';
import { decisions, walk } from './support/walk.ts';

// The package is built against the oldest XState that it takes.
vi.mock('xstate', async () => await import('xstate-newest'));

it('[R1] a machine behaves as a live actor of the newest XState 5', async () => {
  expect(createActor).toBe(newest.createActor);
  expect(setup).toBe(newest.setup);
  quietly();
  await assert(
    asyncProperty(decisions, async (drawn) => {
      const walked = await walk(drawn);
      pre(walked !== undefined);
      expect(walked.saga).toEqual(walked.live);
    }),
    { numRuns: 100, endOnFailure: true },
  );
});
