import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { EngineClient, type EngineWorker } from '../src/parts/engine-client.ts';

interface Sent {
  readonly type: string;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Asks a worker with these messages, and returns the types of the replies. */
async function ask(messages: readonly (readonly [afterMs: number, type: string])[]): Promise<string[]> {
  const worker: EngineWorker = {
    onmessage: null,
    onerror: null,
    terminate: () => undefined,
    postMessage: () => {
      for (const [afterMs, type] of messages)
        setTimeout(
          () => worker.onmessage?.call(worker as Worker, { data: { type } } as MessageEvent),
          afterMs,
        );
    },
  };
  const types: string[] = [];
  const asked = new EngineClient<object, Sent>(() => worker, 5_000).ask({}, ({ type }) => types.push(type));
  await vi.runAllTimersAsync();
  await asked;
  return types;
}

it('stops code after its time, without the time in which the worker starts', async () => {
  expect(await ask([[4_000, 'done']])).toEqual([]);
  expect(await ask([[6_000, 'done']])).toEqual(['failed']);
  const started = [4_000, 'started'] as const;
  expect(await ask([started, [8_000, 'done']])).toEqual(['started']);
  expect(await ask([started, [10_000, 'done']])).toEqual(['started', 'failed']);
});
