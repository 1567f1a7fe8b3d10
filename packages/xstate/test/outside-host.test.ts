import { memoryStore, type Program, type SagaHost } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import {
  completed,
  failed,
  hostOf,
  suspended,
  type TestHost,
} from '../../server/test/fixtures/host.ts';
import { testClock } from '../../server/test/fixtures/clock.ts';
import { minute, queued, type Queued } from '../../server/test/queue/queued.ts';
import { base, caller, user } from '../../server/test/outside/case.ts';
import {
  askingAgain,
  day,
  hour,
  Outbox,
  refundSaga,
  releaseSaga,
} from './support/outside-machines.ts';
import { alterEnd } from '../../../test/support/wire/tamper.ts';

const form = { origin: 'null', 'sec-fetch-site': 'same-origin' };

/** Hosts that share keys, a clock, and a store of answers, and everything that was delivered. */
class Case {
  readonly outbox = new Outbox();
  readonly clock = testClock();
  readonly #store = memoryStore({ clock: this.clock });
  readonly #make: (outbox: Outbox) => Program;
  #test: TestHost | undefined;

  constructor(make: (outbox: Outbox) => Program) {
    this.#make = make;
  }

  get host(): SagaHost {
    this.#test ??= hostOf(this.#make(this.outbox), {
      clock: this.clock,
      store: this.#store,
      url: base,
      limits: { maxHold: 0 },
    });
    return this.#test.host;
  }

  /** Continues in another process: only tokens and the store of answers remain. */
  restart(): void {
    this.#test = undefined;
  }

  page(
    method: 'GET' | 'POST' = 'GET',
    fields: object = { decision: 'approve' },
    index = 0,
    by = user('ann'),
  ): Promise<Response> {
    const body =
      method === 'GET' ? {} : { headers: form, body: new URLSearchParams({ ...fields }) };
    return this.host.answer(new Request(this.outbox.url(index), { method, ...body }), {
      caller: by,
    });
  }
}

const textOf = (turn: unknown): string => JSON.stringify(turn);

describe('an approval of a machine at a host', () => {
  it('is answered on its page, and decided in another process with only the token', async () => {
    const test = new Case((outbox) => refundSaga(outbox));
    const turn = suspended(await test.host.start('refund', {}, { caller }));
    expect([turn.content, turn.retryAfterMs]).toEqual([
      ['Waiting for approval: manager.'],
      expect.any(Number),
    ]);
    test.restart();
    expect(await (await test.page()).text()).toContain('Refund 10 cents?');
    expect((await test.page('POST', { decision: 'approve', f0: 'all fine' })).status).toBe(200);
    test.restart();
    const done = completed(await test.host.resume(turn.token, [], { caller }));
    expect(textOf(done.result)).toContain('all fine');
    expect(test.outbox.did).toEqual(['hold', 'pay 10']);
    expect((await test.page('POST', {}, 0, user('bob'))).status).toBe(409);
  });

  it('is not answered by the caller, nor by an altered link', async () => {
    const test = new Case((outbox) => refundSaga(outbox));
    await test.host.start('refund', {}, { caller });
    expect((await test.page('POST', { decision: 'approve' }, 0, caller)).status).toBe(403);
    const altered = alterEnd(test.outbox.url());
    const answer = await test.host.answer(new Request(altered), { caller: user('ann') });
    expect(answer.status).toBe(404);
  });

  it('accepts no answer by the link of another wait, or of another saga', async () => {
    const test = new Case((outbox) => releaseSaga(outbox));
    const turn = suspended(await test.host.start('release', {}, { caller }));
    const other = suspended(await test.host.start('release', {}, { caller }));
    expect(test.outbox.sent).toHaveLength(6);
    await test.page('POST', { decision: 'approve' }, test.outbox.indexOf('Legal?'));
    const next = suspended(await test.host.resume(turn.token, [], { caller }));
    expect(next.content).toEqual([
      'Waiting for approval: press.',
      'Waiting for an event: payment.',
    ]);
    const unanswered = suspended(await test.host.resume(other.token, [], { caller }));
    expect(unanswered.content).toHaveLength(3);
  });

  it('receives approvals and an event in parallel regions, in any order', async () => {
    const test = new Case((outbox) => releaseSaga(outbox));
    let turn = suspended(await test.host.start('release', {}, { caller }));
    const event = new Request(test.outbox.url(test.outbox.indexOf('bank')), {
      method: 'POST',
      body: '{"status":"paid","amount":7}',
    });
    expect((await test.host.answer(event)).status).toBe(202);
    await test.page('POST', { decision: 'approve' }, test.outbox.indexOf('Press?'));
    turn = suspended(await test.host.resume(turn.token, [], { caller }));
    test.restart();
    await test.page('POST', { decision: 'approve' }, test.outbox.indexOf('Legal?'));
    expect(textOf(completed(await test.host.resume(turn.token, [], { caller })).result)).toContain(
      'press,legal 7',
    );
  });

  it('shows receipts in host.inspect', async () => {
    const test = new Case((outbox) => askingAgain(outbox));
    const turn = suspended(await test.host.start('again', {}, { caller }));
    await test.page('POST', { decision: 'deny' });
    const next = suspended(await test.host.resume(turn.token, [], { caller }));
    expect((await test.host.inspect(next.token)).receipts).toMatchObject([
      { path: 'go', by: { subject: 'ann' }, level: 'user', approved: false },
    ]);
  });

  it.each([
    [
      'leaves the state',
      async (test: Case, token: string) => {
        test.clock.now += hour;
        return await test.host.resume(token, [], { caller });
      },
    ],
    [
      'is cancelled',
      async (test: Case, token: string) => await test.host.cancel(token, { caller }),
    ],
  ])('refuses its links after the machine %s', async (_, leave) => {
    const test = new Case((outbox) => refundSaga(outbox, { giveUpMs: hour }, { reuse: undefined }));
    const { token } = suspended(await test.host.start('refund', {}, { caller }));
    await leave(test, token);
    const page = await test.page();
    expect([page.status, await page.text()]).toEqual([410, expect.stringContaining('Withdrawn')]);
    expect((await test.page('POST')).status).toBe(409);
  });

  it('undoes a compensating step after a denial, and keeps the token valid until the timeout', async () => {
    const test = new Case((outbox) => refundSaga(outbox, {}, { reuse: undefined }));
    const turn = suspended(await test.host.start('refund', {}, { caller }));
    expect(turn.expiresAt).toBeGreaterThanOrEqual(test.clock.now + day);
    await test.page('POST', { decision: 'deny' });
    failed(await test.host.resume(turn.token, [], { caller }));
    expect(test.outbox.did).toEqual(['hold', 'release']);
  });

  it('is reminded, escalated, and decided by a queue without its client', async () => {
    const outbox = new Outbox();
    const program = refundSaga(
      outbox,
      {
        remindEvery: 2 * minute,
        escalate: [{ after: 3 * minute, by: 'director' }],
        timeout: 10 * minute,
      },
      { reuse: undefined },
    );
    const test: Queued = queued(program, {
      store: memoryStore({ clock: () => test.clock.now }),
      url: base,
      auth: { mayAnswer: () => true },
      // The delay of the machine does not pass while a link is delivered.
      testing: { sleep: () => new Promise(() => undefined) },
    });
    suspended(await test.host.start('refund', {}, { caller }));
    while (outbox.sent.length < 3) {
      expect((await test.next(test.restart())).status).not.toBe('ended');
    }
    const body = new URLSearchParams({ decision: 'approve' });
    const answer = new Request(outbox.url(), { method: 'POST', headers: form, body });
    expect((await test.host.answer(answer, { caller: user('ann') })).status).toBe(200);
    expect((await test.drain()).status).toBe('ended');
    expect([outbox.did, test.errors]).toEqual([['hold', 'pay 10'], []]);
  });
});
