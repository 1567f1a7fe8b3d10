import { createSagaHost, generateKey, type SagaTurn } from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { crm, pickCustomer, returnItem, returnWithoutStep, sendParcel, shop } from './choices.ts';

const lamp = { id: 'i1', name: 'Lamp, 30 EUR' };
const desk = { id: 'i2', name: 'Desk, 200 EUR' };
const input = { order: '7' };

beforeEach(() => {
  shop.items.set('7', [lamp, desk]);
  shop.returned = [];
  crm.customers = Array.from({ length: 12 }, (_, index) => ({
    id: `c${index + 1}`,
    name: `Customer ${index + 1}`,
  }));
});

// #region test
it('returns the item that the user chose', async () => {
  const run = await testSaga(returnItem, { input }).on.elicit('item', { item: 'i2' }).run();
  expect(run.result).toBe('Returned i2.');
  expect(shop.returned).toEqual(['i2']);
});

it('finds a customer on the second page', async () => {
  const run = await testSaga(pickCustomer)
    .on.elicit('customer#1', { customer: 'more' })
    .on.elicit('customer#2', { customer: 'c12' })
    .run();
  expect(run.result).toBe('Picked c12.');
});
// #endregion test

it('asks nothing if a list from a step is empty', async () => {
  const none = await testSaga(returnItem, { input: { order: '8' } }).run();
  expect(none.result).toBe('Order has no items.');
});

it('gives a field with a list of choices its default', async () => {
  const parcel = testSaga(sendParcel).on.elicit('parcel', { speed: 'express' });
  expect((await parcel.run()).result).toBe('Sent by express mail, with no extras.');
  const extras = { speed: 'standard', extras: ['card', 'ribbon'] };
  const wrapped = await testSaga(sendParcel).on.elicit('parcel', extras).run();
  expect(wrapped.result).toBe('Sent by standard mail, with card and ribbon.');
});

describe('a client that answers a question with choices', () => {
  const onIgnoredAnswer = vi.fn();
  const host = createSagaHost({
    sagas: [returnItem, returnWithoutStep, sendParcel],
    keys: generateKey(),
    name: 'shop',
    hooks: { onIgnoredAnswer, onTurn: () => undefined, onWarning: () => undefined },
  });
  const answer = async (
    turn: SagaTurn,
    content: Readonly<Record<string, string | string[]>>,
  ): Promise<SagaTurn> => {
    if (turn.status !== 'suspended') throw new Error('The saga does not ask.');
    const result = { action: 'accept', content } as const;
    const answers = turn.steps.map(({ stepId }) => ({ stepId, result }));
    return await host.resume(turn.token, answers);
  };
  beforeEach(() => onIgnoredAnswer.mockClear());

  it('gets the titles and the values of the choices', async () => {
    const choices = [
      { const: 'i1', title: 'Lamp, 30 EUR' },
      { const: 'i2', title: 'Desk, 200 EUR' },
    ];
    const item = { type: 'string', oneOf: choices };
    expect(await host.start('return_item', input)).toMatchObject({
      steps: [{ params: { requestedSchema: { properties: { item } } } }],
    });
    const extras = { type: 'array', maxItems: 2, items: { enum: ['card', 'ribbon', 'wrapping'] } };
    expect(await host.start('send_parcel', {})).toMatchObject({
      steps: [{ params: { requestedSchema: { properties: { extras } } } }],
    });
  });

  it.each(['i3', 'Desk, 200 EUR', ''])(
    'is asked again after %j, and nothing runs',
    async (item) => {
      const asked = await host.start('return_item', input);
      const again = await answer(asked, { item });
      expect(again).toMatchObject({ steps: [{ reason: 'item: choose from the list' }] });
      expect(onIgnoredAnswer.mock.calls).toMatchObject([[{ stepId: 'item', why: 'invalid' }]]);
      expect(shop.returned).toEqual([]);
      expect(await answer(again, { item: 'i2' })).toMatchObject({ result: 'Returned i2.' });
    },
  );

  it('is asked again after more choices than allowed', async () => {
    const asked = await host.start('send_parcel', {});
    const all = { speed: 'express', extras: ['card', 'ribbon', 'wrapping'] };
    expect(await answer(asked, all)).toMatchObject({ status: 'suspended' });
  });

  it('may send fields that nobody asked for, which are dropped', async () => {
    const asked = await host.start('return_item', input);
    expect(await answer(asked, { item: 'i1', price: '0' })).toMatchObject({
      result: 'Returned i1.',
    });
  });

  it('chooses from the list that it saw, even if another list holds now', async () => {
    const asked = await host.start('return_item', input);
    shop.items.set('7', [desk]);
    expect(await answer(asked, { item: 'i1' })).toMatchObject({ status: 'failed' });
    expect(shop.returned).toEqual([]);
  });

  it('is asked again if a list that is read without a step has changed', async () => {
    const asked = await host.start('return_without_step', input);
    shop.items.set('7', [lamp]);
    expect(await answer(asked, { item: 'i1' })).toMatchObject({
      steps: [{ reason: expect.stringContaining('the question has changed') }],
    });
    expect(onIgnoredAnswer.mock.calls).toMatchObject([[{ why: 'asked otherwise' }]]);
  });
});
