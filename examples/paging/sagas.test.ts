import { assertDeterministic, crashEverywhere, Provider, testSaga } from '@mcp-saga/testing';
import { beforeEach, expect, it } from 'vitest';
import { addProduct, listOrders } from './sagas.ts';

const pages = [
  { lines: ['order 1', 'order 2'], next: 2 },
  { lines: ['order 3'], next: undefined },
];
let fetched = 0;
const listed = testSaga(listOrders, { input: {} }).on.step('page', () => pages[fetched++]);

beforeEach(() => {
  fetched = 0;
});

it('returns a page, and starts over for the next one', async () => {
  const run = await listed.run();
  expect(run.result).toBe('order 3');
  expect(String(run.trace)).toContain('order 1');
});

const products = new Provider<string>();
const added = testSaga(addProduct, { input: { name: 'lamp' }, before: () => products.reset() })
  .on.step('add', ({ idempotencyKey }) => {
    products.do(idempotencyKey, 'lamp');
    return { id: 'p-1' };
  })
  .on.step('found', true);

it('[E1] adds a product once after a crash at any later point', async () => {
  expect((await added.run()).result).toBe('p-1 is added, and the search finds it.');
  await assertDeterministic(added);
  await crashEverywhere(added, {
    firstRequest: 'accept',
    check: () => expect(products.standing).toContain('lamp'),
  });
});
