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

  it('[R1] reads as a story', async () => {
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

  it('changes one thing of a script and goes another way', async () => {
    const run = await yes.on.sample('safety', 'No').run();

    expect(run.result).toBe('Not now.');
    expect(run).toHaveAsked(['target', 'safety']);
    expect(run).not.toHaveRun('release');
  });
});

describe('a test of a saga that charges and ships', () => {
  const bought = testSaga(order, { input: { cents: 900 } }).on.elicit('sure', { sure: true });

  it('[E2] charges after two refusals, in no time', async () => {
    const run = await bought.fail.step('charge', new Error('busy'), { times: 2 }).run();

    expect(run.result).toBe('On its way');
    expect(run).toHaveRun('charge', { times: 3 });
    expect(shop.charges.size).toBe(1);
  });

  it('[E3] refunds when shipping fails', async () => {
    const run = await bought.fail.step('ship', new Error('no truck')).run();

    expect(run.status).toBe('failed');
    expect(run).toHaveCompensated(['charge']);
    expect(run).toLeaveNoResidue();
    expect(shop.charges.size).toBe(0);
  });

  it('[E4] refunds what may have been charged', async () => {
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
  it('[U2] waits as long as it takes, by a clock of its own', async () => {
    const run = await testSaga(quotes)
      .on.step('slow', async ({ sleep }) => {
        await sleep(60_000);
        return 3;
      })
      .on.elicit('carrier', ({ message }) => ({ carrier: message }))
      .run();

    expect(run.result).toBe('Offers: 5');
    expect(run).toMatchSagaTrace(['…', 'ran fast: 5', 'waited 2000 ms', 'failed slow: TimeoutError', '…']);
  });
});
