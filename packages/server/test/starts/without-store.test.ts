import { continueAs, saga, step, type Principal } from '@mcp-saga/server';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { hostOf, newKey, oldKey, type TestHost } from '../fixtures/host.ts';

const ada: Principal = { issuer: 'https://id.example', subject: 'ada', client: 'app' };
const named = { caller: { principal: ada }, idempotencyKey: 'event-1' };
const input = z.object({ amount: z.number() });

/** Idempotency keys of the charges that ran. */
const charged: string[] = [];
beforeEach(() => void charged.splice(0));

const charge = step('charge', ({ idempotencyKey }) => void charged.push(idempotencyKey));
const pay = saga({ name: 'pay', version: '1', input }, function* () {
  yield* charge;
  return 'paid';
});
const undoing = saga({ name: 'undoing', version: '1', reuse: 'ok', input }, function* () {
  yield* charge;
  return 'paid';
});
const redirects = saga({ name: 'redirects', version: '1', input }, function* (args) {
  return yield* continueAs(undoing, args);
});

const hostWith = (keys: string): TestHost => hostOf([pay, undoing, redirects], { keys });
const distinct = (): number => new Set(charged).size;

describe('a start that is repeated with its key on hosts without a store', () => {
  test('sends the same idempotency keys from another process', async () => {
    const first = await hostWith(oldKey).host.start('pay', { amount: 12 }, named);
    const again = await hostWith(`${oldKey},${newKey}`).host.start('pay', { amount: 12 }, named);
    expect(charged).toHaveLength(2);
    expect(distinct()).toBe(1);
    // The ID of a saga is public, and reveals nothing of its secret.
    expect(again.sagaId).not.toBe(first.sagaId);
  });

  test.each([
    ['another key', 'pay', { amount: 12 }, { ...named, idempotencyKey: 'event-2' }],
    ['other arguments', 'pay', { amount: 13 }, named],
    ['another principal', 'pay', { amount: 12 }, { ...named, caller: 'anonymous' as const }],
    ['another tool', 'undoing', { amount: 12 }, named],
    ['no key', 'pay', { amount: 12 }, { caller: named.caller }],
  ])('sends others with %s', async (_, tool, args, request) => {
    const { host } = hostWith(oldKey);
    await host.start('pay', { amount: 12 }, named);
    await host.start(tool, args, request);
    expect(distinct()).toBe(2);
  });

  test.each(['undoing', 'redirects'])(
    'sends others if the saga can undo, whose keys may be burnt: %s',
    async (tool) => {
      const { host } = hostWith(oldKey);
      await host.start(tool, { amount: 12 }, named);
      await host.start(tool, { amount: 12 }, named);
      expect(distinct()).toBe(2);
    },
  );
});
