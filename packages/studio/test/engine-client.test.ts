import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { EngineClient, type EngineWorker } from '../src/parts/engine-client.ts';

interface Sent {
  readonly type: string;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Asks a worker with these messages, and returns the types of the replies. */
async function ask(
  messages: readonly (readonly [afterMs: number, type: string])[],
): Promise<string[]> {
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
  const engine = Promise.resolve({
    default: vi.fn(function () {
      return worker;
    }) as never,
  });
  const types: string[] = [];
  const asked = new EngineClient<object, Sent>(engine, 5_000).ask({}, ({ type }) =>
    types.push(type),
  );
  await vi.runAllTimersAsync();
  await asked;
  return types;
}

it('stops code after its time, without the time in which the worker starts', async () => {
  const started = [40_000, 'started'] as const;
  expect(await ask([started, [44_000, 'done']])).toEqual([]);
  expect(await ask([started, [46_000, 'done']])).toEqual(['failed']);
  expect(await ask([started, [44_000, 'cell'], [48_000, 'done']])).toEqual(['cell']);
  expect(await ask([[61_000, 'done']])).toEqual(['failed']);
});

it('says that the engine did not load, without a thrown error', async () => {
  const messages: unknown[] = [];
  const client = new EngineClient<object, Sent>(
    Promise.reject(new TypeError('Failed to fetch')),
    5_000,
  );
  expect(await client.ask({}, (reply) => void messages.push(reply))).toBeUndefined();
  expect(messages).toEqual([{ type: 'failed', message: 'The engine did not load.' }]);
});
