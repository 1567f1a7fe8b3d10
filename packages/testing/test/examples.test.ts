import { testSaga } from '@mcp-saga/testing';
import '@mcp-saga/testing/vitest';
import { beforeEach, describe, expect, it } from 'vitest';
import { deploy } from './sagas/deploy.ts';
import { order } from './sagas/order.ts';
import { quotes } from './sagas/quotes.ts';
import { shop } from './sagas/shop.ts';

beforeEach(() => shop.reset());

describe('a test of the quickstart', () => {
  const yes = testSaga(deploy, { input: { service: 'web' } })
    .on.elicit('target', { target: 'production' })
    .on.sample('safety', 'Yes, all is green')
    .on.step('release', { id: 'r1' });

  it('[R1] has a readable script and trace', async () => {
    const run = await yes.run();

    expect(run.result).toBe('Released r1 to production.');
    expect(run).toMatchSagaTrace(`
      started deploy {"service":"web"}
      asked target: Where shall web go?
      answered target: {"target":"production"}
      asked safety: Is deploying to production safe?
      answered safety: "Yes, all is green"
      ran release: {"id":"r1"}
      completed: "Released r1 to production."
    `);
  });

  it('changes one line of a script and takes another branch', async () => {
    const run = await yes.on.sample('safety', 'No').run();

    expect(run.result).toBe('Not now.');
    expect(run).toHaveAsked(['target', 'safety']);
    expect(run).not.toHaveRun('release');
  });
});

describe('a test of a saga that charges and ships', () => {
  const bought = testSaga(order, { input: { cents: 900 } }).on.elicit('sure', { sure: true });

  it('[E2] charges after two failures without a real wait', async () => {
    const run = await bought.fail.step('charge', new Error('busy'), { times: 2 }).run();

    expect(run.result).toBe('On its way');
    expect(run).toHaveRun('charge', { times: 3 });
    expect(shop.charges.size).toBe(1);
  });

  it('[E3] refunds if shipping fails', async () => {
    const run = await bought.fail.step('ship', new Error('no truck')).run();

    expect(run.status).toBe('failed');
    expect(run).toHaveCompensated(['charge']);
    expect(run).toLeaveNothingUncompensated();
    expect(shop.charges.size).toBe(0);
  });

  it('[E4] refunds a charge of unknown outcome', async () => {
    const run = await bought.timeout.step('charge').run();

    expect(run).toHaveCompensated(['charge']);
    expect(run).toMatchSagaTrace(`
      …
      waited 10000 ms
      failed charge: TimeoutError
      …
      undid charge
      failed: TimeoutError
    `);
  });
});

describe('a test of parallel steps', () => {
  it('[U2] waits as long as needed on a virtual clock', async () => {
    const run = await testSaga(quotes)
      .on.step('slow', async ({ sleep }) => {
        await sleep(60_000);
        return 3;
      })
      .on.elicit('carrier', ({ message }) => ({ carrier: message }))
      .run();

    expect(run.result).toBe('Offers: 5');
    expect(run).toMatchSagaTrace([
      '…',
      'ran fast: 5',
      'waited 2000 ms',
      'failed slow: TimeoutError',
      '…',
    ]);
  });
});
