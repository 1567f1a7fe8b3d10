import { memoryStore, type SagaStore } from '@mcp-saga/server';
import type { Appended } from '@mcp-saga/server/stores';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { completed, suspended } from '../fixtures/host.ts';
import { base, OutsideCase } from './case.ts';
import { alterEnd } from '../../../../test/support/wire/tamper.ts';

const other = (count: number) => ({ status: 'created', count });
const paid = { status: 'paid', amount: 5 };

/** A case whose store counts its calls, besides those for the ticket of its link. */
function counted(isAuthentic = true): {
  readonly test: OutsideCase;
  readonly calls: Record<string, number>;
} {
  const honest = memoryStore({ clock: () => 0 });
  const calls: Record<string, number> = {};
  const count = <A extends unknown[], R>(name: string, call: (...given: A) => R) => {
    return (...given: A): R => {
      calls[name] = (calls[name] ?? 0) + 1;
      return call(...given);
    };
  };
  const tickets = new Set<string>();
  const read = count('read', (...given: Parameters<SagaStore['read']>) => honest.read(...given));
  const store: SagaStore = {
    write: count('write', (...given: Parameters<SagaStore['write']>) => {
      const [{ group, name }] = given;
      if (name === 'ticket') tickets.add(group);
      return honest.write(...given);
    }),
    // The ticket of the link is no event.
    read: (key) => (tickets.has(key.group) ? honest.read(key) : read(key)),
    remove: count('remove', (...given: Parameters<SagaStore['remove']>) => honest.remove(...given)),
    append: count('append', (...given: Parameters<SagaStore['append']>) => honest.append(...given)),
    list: count('list', (...given: Parameters<SagaStore['list']>) => honest.list(...given)),
    discard: count('discard', (...given: Parameters<SagaStore['discard']>) =>
      honest.discard(...given),
    ),
    close: count('close', (...given: Parameters<SagaStore['close']>) => honest.close(...given)),
  };
  const outside = { url: base, store, webhooks: { bank: () => isAuthentic } };
  return { test: new OutsideCase({}, outside, { verify: 'bank' }), calls };
}

async function fill(test: OutsideCase): Promise<number> {
  for (let count = 0; count < 100; count += 1)
    if ((await test.event(other(count))).status === 429) return count;
  throw new Error('The box is never full.');
}

describe('a webhook that gets events of other types', () => {
  it('takes the awaited event once the saga has read a full box', async () => {
    const test = new OutsideCase();
    let turn = await test.start('payment');
    for (let round = 0; round < 3; round += 1) {
      expect(await fill(test)).toBeGreaterThan(0);
      expect((await test.event(paid)).status).toBe(429);
      turn = suspended(await test.resume(turn));
    }
    expect((await test.event(paid)).status).toBe(202);
    expect(JSON.stringify(completed(await test.resume(turn)).result)).toContain('paid 5');
  });

  it('returns an awaited event among others of one read, whatever arrived before', async () => {
    const test = new OutsideCase();
    const turn = await test.start('payment');
    for (const event of [other(1), other(2), paid, other(3)]) await test.event(event);
    expect(JSON.stringify(completed(await test.resume(turn)).result)).toContain('paid 5');
  });

  it('keeps an event at which the schema throws, for corrected code', async () => {
    let isBroken = true;
    const schema = z
      .object({ status: z.literal('paid'), amount: z.number() })
      .transform((event) => {
        if (isBroken) throw new Error('a mistake in the schema');
        return event;
      });
    const test = new OutsideCase({}, {}, { link: 'accept', schema: schema as never });
    const turn = suspended(await test.start('payment'));
    await test.event(paid);
    const next = suspended(await test.resume(turn));
    isBroken = false;
    expect(JSON.stringify(completed(await test.resume(next)).result)).toContain('paid 5');
  });

  it('wakes the saga of a full box, since an earlier wake may have been lost', async () => {
    const results: Appended[] = ['full'];
    const woken: string[] = [];
    const store = { ...memoryStore({ clock: () => 0 }), append: () => results[0] ?? 'added' };
    const queue = { send: () => undefined, wake: (sagaId: string) => void woken.push(sagaId) };
    const test = new OutsideCase({}, { store, queue });
    await test.start('payment');
    expect((await test.event(paid)).status).toBe(429);
    expect(woken).toHaveLength(1);
  });

  it('costs one request to the box for each post, and opens none of the events in it', async () => {
    const { test, calls } = counted();
    await test.start('payment');
    const before = { ...calls };
    await fill(test);
    expect([calls['list'], calls['discard']]).toEqual([before['list'], before['discard']]);
    const { append = 0 } = calls;
    expect((await test.event({ status: 'paid' })).status).toBe(429);
    expect((await test.event(other(1))).status).toBe(200);
    expect((await test.event('no JSON')).status).toBe(400);
    expect([calls['append'], calls['list']]).toEqual([append + 2, before['list']]);
  });

  it('reads no events for a post that is not authentic', async () => {
    const { test, calls } = counted(false);
    await test.start('payment');
    const before = { ...calls };
    expect((await test.event(paid)).status).toBe(401);
    const url = `${base}/saga/event/${alterEnd(test.url().split('/').at(-1) ?? '')}`;
    expect((await test.event(paid, { url })).status).toBe(404);
    // The unknown ticket.
    before['read'] = (before['read'] ?? 0) + 1;
    expect(calls).toEqual(before);
  });
});
