import nodeCrypto from 'node:crypto';
import { expect, test, vi } from 'vitest';
import {
  elicit,
  saga,
  step,
  type HostHooks,
  type SagaHost,
  type StepContext,
} from '@mcp-saga/server';
import { accept, completed, hostOf, suspended } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';

type Run = (context: StepContext<undefined>) => unknown;

/** A saga that asks a question, and then runs so many steps. */
function stepping(steps: number, run: Run): ReturnType<typeof saga> {
  return saga({ name: 'stepping', version: '1' }, function* () {
    yield* elicit('go', { message: 'Go?', schema: Empty });
    for (let index = 0; index < steps; index += 1) yield* step('work', run);
    return 'done';
  });
}

async function runIn(host: SagaHost): Promise<void> {
  const { token } = suspended(await host.start('stepping', {}));
  completed(await host.resume(token, [accept('go', {})]));
}

/** Counts the HMACs of a saga that was run before. */
async function hmacsOf(steps: number, run: Run): Promise<number> {
  const { host } = hostOf(stepping(steps, run));
  await runIn(host);
  const spy = vi.spyOn(nodeCrypto, 'createHmac');
  try {
    await runIn(host);
    return spy.mock.calls.length;
  } finally {
    spy.mockRestore();
  }
}

test('[E4] derives the idempotency key of a step only when the step reads it', async () => {
  const none = await hmacsOf(0, () => 1);
  expect(await hmacsOf(20, () => 1)).toBe(none);
  expect(await hmacsOf(20, ({ idempotencyKey }) => idempotencyKey.length)).toBe(none + 20);
});

test('[E4] gives a step the same idempotency key at every read', async () => {
  const keys: string[] = [];
  const { host } = hostOf(
    stepping(2, (context) => void keys.push(context.idempotencyKey, { ...context }.idempotencyKey)),
  );
  await runIn(host);
  await runIn(host);
  const [first, again, second] = keys;
  expect(first).toMatch(/^[\w-]{43}$/);
  expect(again).toBe(first);
  expect(second).not.toBe(first);
  expect(new Set(keys).size).toBe(4);
});

test('makes no events of steps without a hook for them', async () => {
  const reads: PropertyKey[] = [];
  const hooks = new Proxy<HostHooks>(
    { onTurn: () => undefined, onWarning: () => undefined },
    {
      get: (target, name) => {
        reads.push(name);
        return Reflect.get(target, name) as unknown;
      },
    },
  );
  const { host } = hostOf(
    stepping(20, () => 1),
    { hooks },
  );
  reads.length = 0;
  await runIn(host);
  expect(reads).toContain('onTurn');
  expect(reads).not.toContain('onStep');
});

test('aborts no signal in a turn whose hooks return at once', async () => {
  const abort = vi.spyOn(AbortController.prototype, 'abort');
  try {
    const { host } = hostOf(stepping(20, () => 1));
    await runIn(host);
    expect(abort).not.toHaveBeenCalled();
  } finally {
    abort.mockRestore();
  }
});
