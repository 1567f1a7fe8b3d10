import {
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  type StepAnswer,
} from '@mcp-saga/server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { busyWait } from '../../src/guard/ask-guard.ts';
import { suspended } from '../fixtures/host.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

describe('waiting for a request that runs elsewhere', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('[T13] doubles the delay each time, up to a second', () => {
    const longest = Array.from({ length: 8 }, (_, waits) =>
      busyWait(waits, () => 1 - Number.EPSILON),
    );
    expect(longest.map(Math.round)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000, 1_000]);
    const shortest = Array.from({ length: 8 }, (_, waits) => busyWait(waits, () => 0));
    expect(shortest).toEqual([25, 50, 100, 200, 400, 500, 500, 500]);
    expect(busyWait(5_000, () => 0)).toBe(500);
  });

  it('[T13] asks the guard with growing delays until the lease has expired', async () => {
    const begin = vi.fn(() => 'busy' as const);
    const asking = saga({ name: 'asking', version: '1' }, function* () {
      const { ok } = yield* elicit('go', { message: 'Go?', schema: z.object({ ok: z.boolean() }) });
      return String(ok);
    });
    const keys = generateKey();
    const host = createSagaHost({
      sagas: [asking],
      keys,
      name: 'shop',
      store: storeWithGuard(() => ({ begin })),
    });
    const { token } = suspended(await host.start('asking', {}));
    const answers = [
      { stepId: 'go', result: { action: 'accept', content: { ok: true } } } as const,
    ];
    const busy = expect(host.resume(token, answers)).rejects.toMatchObject({ code: 'busy' });
    await expect.poll(() => begin.mock.calls).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_600);
    const soon = begin.mock.calls.length;
    expect(soon).toBeGreaterThanOrEqual(5);
    expect(soon).toBeLessThanOrEqual(8);
    await vi.advanceTimersByTimeAsync(60_000);
    await busy;
    expect(begin.mock.calls.length).toBeGreaterThan(soon + 25);
    expect(begin.mock.calls.length).toBeLessThan(soon + 65);
  });

  it('[T13] [E10] lets another answer wait as long, if the process of the first has died', async () => {
    const paid: boolean[] = [];
    const paying = saga({ name: 'paying', version: '1' }, function* () {
      const { ok } = yield* elicit('pay', {
        message: 'Pay?',
        schema: z.object({ ok: z.boolean() }),
      });
      yield* step('pay', () => void paid.push(ok));
      return 'paid';
    });
    const never = () => new Promise<never>(() => undefined);
    const memory = memoryStore();
    const options = { sagas: [paying], keys: generateKey(), name: 'shop' };
    const dying = createSagaHost({
      ...options,
      store: storeWithGuard(() => ({ forget: never, renew: never }), memory),
    });
    const host = createSagaHost({ ...options, store: memory });
    const { token } = suspended(await host.start('paying', {}));
    const answer = (ok: unknown) => [
      { stepId: 'pay', result: { action: 'accept', content: { ok } } } as StepAnswer,
    ];
    void dying.resume(token, answer('perhaps'));
    await vi.advanceTimersByTimeAsync(0);
    const ended = expect(host.resume(token, answer(true))).resolves.toMatchObject({
      result: 'paid',
    });
    await vi.advanceTimersByTimeAsync(61_000);
    await ended;
    expect(paid).toEqual([true]);
  });
});
