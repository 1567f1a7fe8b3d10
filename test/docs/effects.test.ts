import * as core from '@mcp-saga/server';
import { testSaga } from '@mcp-saga/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { accounts, connect, folders, order, shorten, subscribe, summarize } from './effects/ask.ts';
import * as change from './effects/change.ts';
import { assign, convert, draw, measure, sync, ticket } from './effects/read.ts';
import {
  approve,
  book,
  introduce,
  invoice,
  invoices,
  notify,
  report,
  shipOrders,
  shipped,
  welcome,
} from './effects/run.ts';
import * as retries from './effects/retries.ts';
import { done, hold, pay, reserve, ship } from './effects/undo.ts';
import { build, builds, list, publish, remind } from './effects/wait.ts';
import { fences, pages, read } from './markdown.ts';

const definers = [
  'saga',
  'promptSaga',
  'resourceSaga',
  'compensator',
  'duration',
  'toUuid',
  'withJsonSchema',
];
const hosts = [
  'createSagaHost',
  'generateKey',
  'memoryStore',
  'memoryQueue',
  'memoryStore',
  'memoryStore',
  'memoryStore',
  'publicMessageOf',
  'standardWebhook',
];
const effects = Object.entries(core)
  .filter(([name, value]) => typeof value === 'function' && /^[a-z]/.test(name))
  .map(([name]) => name)
  .filter((name) => !definers.includes(name) && !hosts.includes(name));

describe('the reference of effects', () => {
  const reference = pages.filter((page) => page.startsWith('docs/reference/effects'));

  it('has a section and a tested example for each effect', () => {
    const sections = new Map(
      reference.flatMap((page) =>
        read(page)
          .split(/^## /m)
          .slice(1)
          .map((section) => [/^`([\w.]+)`/.exec(section)?.[1] ?? '', section] as const),
      ),
    );
    const named = [...effects, 'elicit.outcome'];
    expect(named).toHaveLength(28);
    expect([...sections.keys()].filter((name) => name !== '').toSorted()).toEqual(named.toSorted());
    for (const name of named) {
      expect(sections.get(name)).toMatch(
        new RegExp(`region: test/docs/effects/\\w+\\.ts#${name} `),
      );
    }
    expect(reference.flatMap(fences)).toHaveLength(32);
  });
});

describe('the examples of effects that ask the client', () => {
  it('asks the user with `elicit`, and ends if the user declines', async () => {
    const asked = testSaga(order).on.elicit('size', { size: 'large' });
    expect((await asked.run()).result).toBe('One large pizza.');
    expect((await testSaga(order).refuse.elicit('size').run()).error).toMatchObject({
      code: 'elicitation_refused',
    });
  });

  it('returns a refusal as a value with `elicit.outcome`', async () => {
    expect((await testSaga(subscribe).refuse.elicit('email').run()).result).toBe('Not subscribed.');
    const accepted = testSaga(subscribe).on.elicit('email', { email: 'a@b.example' });
    expect((await accepted.run()).result).toBe('Subscribed a@b.example.');
  });

  it('opens a page for the user with `elicitUrl`, and polls for the result', async () => {
    const script = testSaga(connect, { before: () => accounts.clear(), clock: 0 })
      .on.url('sign-in')
      .on.step('account', 'octocat');
    const run = await script.run();
    expect(run.result).toBe('Connected octocat.');
  });

  it('asks the model of the client with `sample`', async () => {
    const script = testSaga(summarize, { input: { text: 'Long' } }).on.sample('summary', 'Short.');
    expect((await script.run()).result).toBe('Short.');
  });

  it('continues without a model if the client cannot sample, and fails if its user rejects', async () => {
    const script = testSaga(shorten, { input: { text: 'a b c d e f g h i j k l' } });
    expect((await script.on.sample('short', 'a to l').run()).result).toBe('a to l');
    expect((await script.deny.client('sampling').run()).result).toBe('a b c d e f g h i j');
    const rejected = await script.fail.client('short', 'User rejected sampling request').run();
    expect(rejected.error).toBeInstanceOf(core.StepError);
  });

  it('asks for the roots of the client with `listRoots`', async () => {
    const script = testSaga(folders).on.roots('roots', [{ uri: 'file:///home' }]);
    expect((await script.run()).result).toBe('file:///home');
  });
});

describe('the examples of effects that run, or run in parallel', () => {
  it('runs a side effect once with `step`', async () => {
    invoices.clear();
    const run = await testSaga(invoice, { input: { customer: 'acme' } }).run();
    expect(run.result).toBe('Created invoice acme-1.');
    expect(invoices.size).toBe(1);
  });

  it('asks two questions in one turn with `all`', async () => {
    const run = await testSaga(book)
      .on.elicit('arrival', { date: '2026-05-01' })
      .on.elicit('departure', { date: '2026-05-08' })
      .run();
    expect(run.result).toBe('2026-05-01 to 2026-05-08, sunny in Rome.');
    expect(run.points).toHaveLength(1);
  });

  it('returns the outcome of each branch with `allSettled`', async () => {
    const run = await testSaga(report).fail.step('city(oslo)', new Error('offline')).run();
    expect(run.result).toBe('sunny in Rome, unknown');
  });

  it('waits for an answer or a time with `race`', async () => {
    const script = testSaga(approve, { clock: 0 }).on.elicit('approval', { approved: true });
    expect((await script.run()).result).toBe('Approved.');
    expect((await script.late.elicit('approval', 20 * 60_000).run()).result).toBe(
      'No answer in ten minutes.',
    );
  });

  it('runs a step for each item of a list with `each`', async () => {
    shipped.splice(0);
    const orders = [{ id: 'A7' }, { id: 'B2' }];
    const run = await testSaga(shipOrders, { input: { orders } }).run();
    expect(run.result).toBe('label of A7, label of B2');
    expect(run.effects.map(({ id }) => id)).toEqual(['each/(A7)/ship', 'each/(B2)/ship']);
    expect(shipped).toEqual(['A7', 'B2']);
  });

  it('runs a helper twice with `scope`', async () => {
    const script = testSaga(introduce)
      .on.elicit('host/name', { name: 'Ada' })
      .on.elicit('guest/name', { name: 'Alan' });
    expect((await script.run()).result).toBe('Ada, this is Alan.');
  });

  it('runs another saga with `call`', async () => {
    const run = await testSaga(welcome, { input: { name: 'Ada' } }).run();
    expect(run.result).toBe('Buongiorno Ada');
    expect(run.effects.map(({ id }) => id)).toEqual(['greet/translate']);
  });

  it('drops the other of two steps with `ignore`', async () => {
    expect((await testSaga(notify, { input: { urgent: true } }).run()).result).toBe('called');
    expect((await testSaga(notify, { input: { urgent: false } }).run()).result).toBe('mailed');
  });
});

describe('the examples of effects that undo', () => {
  beforeEach(() => void done.splice(0));

  it('undoes several steps after a decline with one undo', async () => {
    const run = await testSaga(reserve).refuse.elicit('sure').run();
    expect(run.compensated).toEqual(['release']);
    expect(done).toEqual(['reserve', 'reserve', 'release']);
  });

  it('undoes nothing before a `pivot`', async () => {
    const run = await testSaga(ship).refuse.elicit('rating').run();
    expect(run).toMatchObject({ status: 'failed', compensated: [] });
    expect(done).toEqual(['reserve', 'ship']);
  });

  it('ends and undoes with `abort`', async () => {
    const run = await testSaga(hold).on.elicit('sure', { sure: false }).run();
    expect(run.error).toMatchObject({ code: 'saga_aborted' });
    expect(done).toEqual(['reserve', 'release']);
  });

  it('reports the cause of a caught error to the client, and undoes', async () => {
    const run = await testSaga(pay, { input: { euros: 2_000 } }).run();
    expect(run.error).toMatchObject({
      code: 'saga_aborted',
      message: 'The payment failed: Over the limit of the card.',
    });
    expect(done).toEqual(['reserve', 'release']);
    expect((await testSaga(pay, { input: { euros: 20 } }).run()).result).toBe('Paid.');
  });
});

describe('the examples of effects that wait', () => {
  it('ends a request at a page with `checkpoint`', async () => {
    const run = await testSaga(list).run();
    expect(run.result).toBe('order 3');
    expect(String(run.trace)).toContain('order 1');
  });

  it('waits with `sleep` for a duration and for a date', async () => {
    const reminded = testSaga(remind, { clock: 0 }).on.elicit('done', { done: true });
    expect((await reminded.run()).result).toBe('Done.');
    const at = '2026-05-01T12:00:00Z';
    const published = await testSaga(publish, {
      clock: Date.parse(at) - 60_000,
      input: { at },
    }).run();
    expect(published.result).toBe(`Published at ${at}.`);
  });

  it('repeats a request until it has a result with `poll`', async () => {
    Object.assign(builds, { started: 0, asked: 0 });
    expect((await testSaga(build, { clock: 0 }).run()).result).toBe('The build passed.');
    expect(builds).toEqual({ started: 1, asked: 3 });
  });
});

describe('the examples of effects that read and report', () => {
  it('reads the time with `now`', async () => {
    const script = testSaga(measure, { clock: 0 }).on.elicit('answer', { answer: '42' });
    expect((await script.late.elicit('answer', 5_000).run()).result).toBe(
      'Answered after 5000 ms.',
    );
  });

  it('returns the same number on every replay with `random` and `uuid`', async () => {
    const run = await testSaga(draw).on.elicit('guess', { answer: '3' }).run();
    expect(run.result).toMatch(/^It was [1-6]\.$/);
    const opened = await testSaga(ticket).on.elicit('problem', { answer: 'Broken' }).run();
    const [question] = opened.points.flatMap(({ asked }) => asked);
    const [id] = /[\da-f-]{36}/.exec(JSON.stringify(question?.params)) ?? [];
    expect(opened.result).toBe(`Opened ticket ${id}.`);
  });

  it('returns the source of an answer with `info`', async () => {
    const run = await testSaga(assign).on.elicit('team', { team: 'billing' }).run();
    expect(run.result).toMatch(/ goes to billing, chosen by the client\.$/);
  });

  it('reports with `progress` and `log`', async () => {
    expect(String((await testSaga(convert).run()).trace)).toContain('Converted b.png');
    expect(String((await testSaga(sync).run()).trace)).toContain('copied');
  });
});

describe('the examples of effects that change code', () => {
  it('runs a patch in a new saga with `patched`', async () => {
    const run = await testSaga(change.order).on.elicit('address', { address: 'Rome' }).run();
    expect(run.effects.map(({ id }) => id)).toEqual(['check', 'ship']);
  });

  it('starts over with `continueAs`', async () => {
    const guesses = [3, 5, 7];
    const script = testSaga(change.play, { input: {} }).on.elicit('guess', () => ({
      guess: guesses.shift() ?? 7,
    }));
    expect((await script.run()).result).toBe('Found in round 3.');
  });
});

describe('the example of errors, retries, and timeouts', () => {
  const script = testSaga(retries.pay, { input: { euros: 20 } });
  const answer = (...statuses: readonly number[]): void => {
    retries.statuses.splice(0, Infinity, ...statuses);
    retries.requests.length = 0;
  };

  it('tries the same payment again after an error of the bank', async () => {
    answer(503, 500);
    expect((await script.run()).result).toBe('Paid 20 EUR.');
    expect(retries.requests).toHaveLength(3);
    expect(new Set(retries.requests).size).toBe(1);
  });

  it('does not try again after a refusal, and tells the client', async () => {
    answer(402);
    expect((await script.run()).error).toMatchObject({ message: 'Use another card.' });
    expect(retries.requests).toHaveLength(1);
  });

  it('undoes a payment of unknown outcome although a later attempt was refused', async () => {
    answer(402);
    const run = await script.timeout.step('pay', { times: 1 }).run();
    expect(run.error).toMatchObject({ message: 'Use another card.' });
    expect(retries.requests.at(-1)).toBe(`refund of ${retries.requests[0]}`);
  });

  it('undoes a payment that may have happened', async () => {
    answer(503, 503);
    const run = await script.timeout.step('pay', { times: 1 }).run();
    expect(run.error).toMatchObject({ message: 'The bank answered 503.' });
    expect(retries.requests.at(-1)).toBe(`refund of ${retries.requests[0]}`);
  });
});
