import { crashEverywhere, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { advise, triage } from './own-model.ts';
import { remindAll, remindEveryone } from './loops.ts';
import { browseOrders, listOrders } from './paging.ts';
import { planTrip, vote } from './parallel.ts';
import { report } from './tasks.ts';
import {
  charges,
  checkoutSaga,
  expenseSaga,
  orderSaga,
  parcelSaga,
  refundSaga,
  refunds,
  sent,
} from './xstate.ts';

// #region parallel
it('asks both questions in one turn', async () => {
  const run = await testSaga(planTrip, { input: { city: 'Rome' } })
    .on.elicit('dates', { from: '2026-05-01', to: '2026-05-08' })
    .on.elicit('hotel/choice', { hotel: 'Grand Rome' })
    .run();
  expect(run.result).toBe('Grand Rome, 2026-05-01 to 2026-05-08, sunny in Rome.');
  const [point] = run.points;
  expect(point?.asked.map(({ stepId }) => stepId)).toEqual(['dates', 'hotel/choice']);
});

it('ends 15 minutes after it asked', async () => {
  const votes = testSaga(vote)
    .on.elicit('votes/first', { yes: true })
    .on.elicit('votes/second', { yes: true });
  expect((await votes.run()).result).toBe('Accepted.');
  const late = await votes.late.elicit('votes/first', 20 * 60_000).run();
  expect(late.result).toBe('No decision in 15 minutes.');
});
// #endregion parallel

// #region tasks
it('waits for the report, and gives up after an hour', async () => {
  const ready = testSaga(report).on.step('rows', ({ attempt }) => (attempt < 3 ? undefined : 1200));
  expect((await ready.run()).result).toBe('The report has 1200 rows.');
  const never = await testSaga(report)
    .on.step('rows', () => undefined)
    .run();
  expect(never.error).toMatchObject({ code: 'step_timed_out' });
});
// #endregion tasks

// #region own-model
it('asks the model, and uses the fallback for a client that cannot ask', async () => {
  const ticket = testSaga(triage, { input: { ticket: 'It burns' } }).on.sample('urgency', 'urgent');
  expect((await ticket.on.elicit('team', { team: 'billing' }).run()).result).toBe(
    'urgent, for billing',
  );
  expect((await ticket.deny.client('elicitation').run()).result).toBe('urgent, for support');
  const withoutModel = await ticket.deny.client('sampling').run();
  expect(withoutModel.error).toMatchObject({ code: 'client_cannot' });
});
// #endregion own-model

it('runs the calls of a model as steps, and tells it of a call that fails', async () => {
  const call = (id: string, item: string) =>
    ({ type: 'tool_use', id, name: 'stock', input: { item } }) as const;
  const told: unknown[] = [];
  const asked = testSaga(advise, { input: { question: 'What can I buy?' } }).on.sample(
    'advice',
    ({ message, params }) => {
      if (message === 'What can I buy?')
        return {
          role: 'assistant',
          model: 'm',
          stopReason: 'toolUse',
          content: [call('a', 'lamp'), call('b', 'sofa')],
        };
      told.push(params['messages']);
      return 'A lamp.';
    },
  );
  expect((await asked.run()).result).toBe('A lamp.');
  expect(told).toMatchObject([
    [
      {},
      {},
      {
        content: [
          { toolUseId: 'a', content: [{ text: '3' }], isError: false },
          { toolUseId: 'b', isError: true },
        ],
      },
    ],
  ]);
  await crashEverywhere(asked, { harmless: ['stock'] });
  for (const need of ['sampling', 'sampling.tools'] as const) {
    const { error } = await asked.deny.client(need).run();
    expect(error).toMatchObject({ code: 'client_cannot', need: 'sampling.tools' });
  }
});

// #region loops
it('reminds all customers but one, whose address is unknown', async () => {
  const script = testSaga(remindAll);
  expect((await script.run()).result).toBe('Reminded 3 of 4 customers.');
  const failing = await script.fail.step('each/(ada)/send', new Error('full')).run();
  expect(failing.result).toBe('Reminded 2 of 4 customers.');
});

it('reminds page by page, and starts over with a short journal', async () => {
  const run = await testSaga(remindEveryone, { input: {} }).run();
  expect(run.result).toBe('Reminded 3 customers.');
  expect(run.effects.map(({ id }) => id)).toContain('each/(grace)/send@1');
  expect(String(run.trace)).toContain('turn 2  ran page@1');
});
// #endregion loops

// #region paging
it('lists all pages, or stops if the user does', async () => {
  const more = testSaga(browseOrders).on.elicit('more', { more: true });
  expect((await more.run()).result).toBe('order 3');
  expect((await more.refuse.elicit('more').run()).result).toBe('Stopped.');
  await refuseEverywhere(more);
});
// #endregion paging

it('needs no arguments if each has a default', async () => {
  expect((await testSaga(listOrders).run()).result).toBe('order 3');
});

// #region xstate
it('pays after an approval, and not after a decline or an hour', async () => {
  const asks = testSaga(expenseSaga, { input: { amount: 40 } });
  expect((await asks.on.elicit('decision', { approved: true }).run()).result).toBe('Paid.');
  expect((await asks.refuse.elicit('decision').run()).result).toBe('Not paid.');
  expect((await asks.silent.elicit('decision', 3_600_000).run()).result).toBe('Not paid.');
});

it('refunds, and takes the refund back in a state with the tag compensate', async () => {
  const asks = testSaga(refundSaga, { providers: [refunds] });
  expect((await asks.on.elicit('keep', { keep: true }).run()).result).toBe('Refunded.');
  const undone = await asks.on.elicit('keep', { keep: false }).run();
  expect([undone.status, undone.compensated]).toEqual(['failed', ['refund']]);
  expect(refunds.standing).toEqual([]);
});
// #endregion xstate

it('makes the result of a machine without an output from its last snapshot', async () => {
  const asks = testSaga(parcelSaga);
  const delivered = await asks.on.elicit('ring', { approved: true }).run();
  expect(delivered.result).toBe('The parcel is delivered, after 1 tries.');
  const returned = await asks.on.elicit('ring', { approved: false }).run();
  expect(returned.result).toBe('The parcel is returned, after 2 tries.');
});

it('asks in a state of a machine that waits for an event, until the event leaves the state', async () => {
  const asks = testSaga(checkoutSaga, { input: { order: 'A1', cents: 4_000 } });
  sent.clear();
  const paid = await asks.on
    .elicit('review', { next: 'change', cents: 3_000 })
    .on.elicit('review@2', { next: 'pay' })
    .run();
  expect(paid.result).toBe('Order A1 is charged.');
  expect([...sent.values()]).toEqual(['3000 cents']);
  expect((await asks.refuse.elicit('review').run()).result).toBe('Order A1 is cancelled.');
});

it('records the promises of a machine, and undoes them', async () => {
  const asks = testSaga(orderSaga, { input: { cents: 40 }, providers: [charges] });
  expect((await asks.on.elicit('confirm', {}).run()).result).toBe('The order is kept.');
  expect(charges.standing).toEqual([40]);
  const dropped = await asks.refuse.elicit('confirm').run();
  expect([dropped.status, dropped.compensated]).toEqual(['failed', ['pay']]);
  expect(charges.standing).toEqual([]);
  await crashEverywhere(asks.on.elicit('confirm', {}));
});
