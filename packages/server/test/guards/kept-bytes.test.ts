import { memoryGuard, type SagaGuard } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { floodingClient } from './flooding-client.ts';

/** A guard in memory, and the bytes of the responses that it was given to keep. */
function counted(): { readonly guard: SagaGuard; readonly kept: () => number } {
  const guard = memoryGuard();
  let kept = 0;
  return {
    guard: {
      ...guard,
      finish: (fence, sealed) => {
        kept += sealed.length;
        return guard.finish(fence, sealed);
      },
    },
    kept: () => kept,
  };
}

test('[T11] [T13] keeps no question that a token makes again', async () => {
  const { guard, kept } = counted();
  const client = await floodingClient(guard);
  await client.answer(20);
  expect(kept()).toBeLessThan(2 * client.sent());
});

test('[T11] [T13] keeps nothing of answers that are asked for again', async () => {
  const { guard, kept } = counted();
  const client = await floodingClient(guard);
  await client.answerWrongly(20);
  expect(kept()).toBe(0);
});
