import { expect, it } from 'vitest';
import { z } from 'zod';
import { approval, elicit, info, waitFor, type RecordedReceipt } from '../../src/index.ts';
import { accepted, completed, start, suspended, turn, type Suspended } from '../support/drive.ts';
import { FakeOutside } from '../support/outside.ts';
import { sagaOf } from '../support/sagas.ts';
import { World, type TurnSettings } from '../support/world.ts';

const hour = 3_600_000;

it('info() shows the receipts that the journal had at its time, the same on every replay', async () => {
  const world = new World();
  const outside = new FakeOutside();
  const settings: TurnSettings = {
    budget: 25_000,
    maxHold: 0,
    replace: { outside, lifeEndsAt: 30 * 24 * hour },
  };
  const urls: string[] = [];
  const seen: (readonly RecordedReceipt[])[][] = [];
  const program = sagaOf(function* () {
    const deliver = ({ url }: { readonly url: string }): void => void urls.push(url);
    const before = yield* info();
    yield* approval('manager', { message: 'Refund?', timeout: hour, deliver, of: 2 });
    const between = yield* info();
    yield* waitFor('paid', {
      schema: z.object({}),
      link: 'accept',
      timeout: hour,
      register: deliver,
    });
    yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
    const after = yield* info();
    seen.push([before.receipts, between.receipts, after.receipts]);
    return JSON.stringify([after, Object.keys(before)]);
  });
  const next = (state: Suspended['state'], answers = {}): ReturnType<typeof turn> =>
    turn(program, state, answers, world, settings);
  const first = suspended(await start(program, {}, world, settings));
  const at = world.time;
  outside.answer(urls[0] ?? '', at, { content: { comment: 'secret' } });
  outside.answer(urls[0] ?? '', at + 1, { by: { subject: 'bob', issuer: 'login' } });
  const second = suspended(await next(first.state));
  outside.answer(urls[1] ?? '', at + 2, { by: 'link' });
  const third = suspended(await next(second.state));
  // A stored answer is no source of receipts.
  outside.boxes.clear();
  const yes = { sure: accepted({}) };
  const results = [
    completed(await next(third.state, yes)),
    completed(await next(third.state, yes)),
  ];
  const ann = {
    path: 'manager',
    by: { subject: 'ann' },
    level: 'user',
    at,
    shown: 'shown',
    approved: true,
  };
  const bob = { ...ann, by: { subject: 'bob', issuer: 'login' }, at: at + 1 };
  const paid = { path: 'paid', by: 'link', level: 'link', at: at + 2, shown: 'shown' };
  const expected = [[], [ann, bob], [ann, bob, paid]];
  expect(seen).toEqual([expected, expected]);
  expect(results[0]).toBe(results[1]);
  // The facts in the journal stay as they are.
  expect(results[0]).not.toContain('receipts');
});
