import { approval, elicit, memoryStore, saga, waitFor } from '@mcp-saga/server';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { testClock } from '../fixtures/clock.ts';
import { hostOf, suspended } from '../fixtures/host.ts';
import { base, Comment, day, Paid } from './case.ts';

it('host.inspect shows who answered, when, and the question, without the content', async () => {
  const urls: string[] = [];
  const clock = testClock();
  const deliver = ({ url }: { readonly url: string }): void => void urls.push(url);
  const both = saga({ name: 'both', version: '1' }, function* () {
    yield* approval('manager', {
      message: 'Refund?',
      schema: Comment,
      timeout: day,
      deliver,
      of: 2,
    });
    yield* waitFor('payment', { schema: Paid, link: 'accept', timeout: day, register: deliver });
    yield* approval('late', { message: 'Ship?', timeout: 1, deliver });
    yield* elicit('done', { message: 'Done?', schema: z.object({}) });
    return 'done';
  });
  const { host } = hostOf(both, {
    clock,
    store: memoryStore({ clock }),
    url: base,
    limits: { maxHold: 0 },
  });
  let turn = suspended(await host.start('both', {}));
  for (const subject of ['ann', 'bob']) {
    const body = new URLSearchParams({ decision: 'approve', f0: 'a secret comment' });
    const request = new Request(urls[0] ?? '', { method: 'POST', body });
    expect(
      (await host.answer(request, { caller: { principal: { subject, client: 'web' } } })).status,
    ).toBe(200);
  }
  turn = suspended(await host.resume(turn.token));
  const paid = new Request(urls[1] ?? '', { method: 'POST', body: '{"status":"paid","amount":5}' });
  await host.answer(paid);
  turn = suspended(await host.resume(turn.token));
  clock.now += 10_000;
  turn = suspended(await host.resume(turn.token));
  expect(turn.steps).toHaveLength(1);
  const { receipts } = await host.inspect(turn.token);
  const shown: unknown = expect.stringMatching(/^[\w-]{43}$/);
  const at = clock.now - 10_000;
  expect(receipts).toEqual([
    { path: 'manager', by: { subject: 'ann' }, level: 'user', at, shown, approved: true },
    { path: 'manager', by: { subject: 'bob' }, level: 'user', at, shown, approved: true },
    { path: 'payment', by: 'link', level: 'link', at, shown },
  ]);
  expect(JSON.stringify(receipts)).not.toContain('secret');
});
