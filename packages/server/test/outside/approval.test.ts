import { all, approval, memoryStore, poll, saga, step, type Steps } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { completed, hostOf, suspended } from '../fixtures/host.ts';
import { base, caller, day, hour, OutsideCase, user } from './case.ts';

describe('an approval', () => {
  it('is answered on its page by a user other than the caller, and returns a receipt', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    expect(turn.content).toEqual(['Waiting for approval: manager.']);
    const page = await test.get(user('ann'));
    expect(page.status).toBe(200);
    const text = await page.text();
    expect(text).toContain('Refund 10 €?');
    expect(text).toContain('name="f0"');
    test.clock.now += hour;
    const answered = await test.post(user('ann', 'idp'), { decision: 'approve', f0: 'all fine' });
    expect([answered.status, await answered.text()]).toEqual([
      200,
      expect.stringContaining('You approved'),
    ]);
    expect(await test.decision(turn)).toEqual({
      approved: true,
      answers: [
        {
          by: { subject: 'ann', issuer: 'idp' },
          level: 'user',
          at: test.clock.now,
          shown: expect.stringMatching(/^[\w-]{43}$/),
          approved: true,
          content: { comment: 'all fine' },
        },
      ],
    });
    expect(test.test.told.errors).toEqual([]);
  });

  it('times out without answers, and shows that on the page', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    test.clock.now += day;
    expect((await test.post(user('ann'))).status).toBe(410);
    expect(await test.decision(turn)).toMatchObject({ approved: false, reason: 'timeout' });
  });

  it('keeps the token valid until an hour after its end, with reminders, too', async () => {
    const test = new OutsideCase({
      remindEvery: hour,
      escalate: [{ after: 2 * hour }],
      timeout: 2 * day,
    });
    const turn = await test.start();
    expect(turn.expiresAt).toBe(test.clock.now + 2 * day + hour);
    test.clock.now += day;
    const next = suspended(await test.resume(turn));
    expect(next.expiresAt).toBe(turn.expiresAt);
    test.clock.now += day + hour;
    expect(await test.decision(next)).toMatchObject({ reason: 'timeout' });
  });

  it('is not answered by the caller, unless `allowCaller` is set', async () => {
    const test = new OutsideCase();
    await test.start();
    for (const by of [caller, user('caller'), user('caller', 'any issuer')])
      expect((await test.post(by)).status).toBe(403);
    const other = new OutsideCase({ allowCaller: true });
    await other.start();
    expect((await other.post(caller)).status).toBe(200);
  });

  it('accepts holders of the link only if the step declares it', async () => {
    const test = new OutsideCase();
    await test.start();
    expect((await test.post()).status).toBe(401);
    const other = new OutsideCase({ link: 'accept' });
    const turn = await other.start();
    expect((await other.post(undefined, { decision: 'deny' })).status).toBe(200);
    expect(await other.decision(turn)).toMatchObject({
      approved: false,
      reason: 'denied',
      answers: [{ by: 'link', level: 'link', approved: false }],
    });
  });

  it('calls auth.mayAnswer with `by` of the approval', async () => {
    const asked: unknown[] = [];
    const test = new OutsideCase(
      { by: { role: 'manager' } },
      {
        auth: {
          mayAnswer: ({ subject }, by, { saga: name }) => {
            asked.push([subject, by, name]);
            return subject === 'boss';
          },
        },
      },
    );
    await test.start();
    expect((await test.post(user('ann'))).status).toBe(403);
    expect((await test.post(user('boss'))).status).toBe(200);
    expect(asked).toContainEqual(['ann', { role: 'manager' }, 'refund']);
  });

  it('calls auth.mayAnswer with the user of the application, and with the identity that counts', async () => {
    class Employee {
      readonly subject = 'an e-mail address';
      readonly issuer = 'https://other.example';
      readonly roles = ['manager'];
      has(role: string): boolean {
        return this.roles.includes(role);
      }
    }
    const employee = Object.freeze(new Employee());
    const asked: unknown[] = [];
    const test = new OutsideCase(
      { by: { role: 'manager' } },
      {
        auth: {
          mayAnswer: (person, by) => {
            const known = person as typeof person & Employee;
            asked.push([person.issuer, person.subject, known instanceof Employee]);
            return known.has(String(Object(by).role));
          },
        },
      },
    );
    await test.start();
    expect((await test.post({ ...user('boss'), user: employee })).status).toBe(200);
    expect(asked).toContainEqual([undefined, 'boss', true]);
    expect(employee.subject).toBe('an e-mail address');
  });

  it('delivers the same URL for each attempt of a delivery, and in a repeated turn', async () => {
    const urls: string[] = [];
    const test = new OutsideCase({
      deliver: ({ url }) => {
        urls.push(url);
        if (urls.length < 3) throw new Error('once more');
      },
    });
    await test.start();
    expect(new Set(urls).size).toBe(1);
  });

  it('closes when the saga is cancelled', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    await test.test.host.cancel(turn.token, { caller });
    const page = await test.get(user('ann'));
    expect([page.status, await page.text()]).toEqual([410, expect.stringContaining('Withdrawn')]);
    expect((await test.post(user('ann'))).status).toBe(409);
  });
});

describe('an event', () => {
  it('is the first that matches the schema, and repetitions are received once', async () => {
    const test = new OutsideCase();
    const turn = await test.start('payment');
    expect(test.url()).toMatch(/^https:\/\/shop\.example\/saga\/event\//);
    expect((await test.event({ status: 'created' })).status).toBe(202);
    expect((await test.event({ status: 'paid', amount: 5 })).status).toBe(202);
    expect((await test.event({ status: 'paid', amount: 5 })).status).toBe(200);
    expect((await test.event({ status: 'paid', amount: 7 })).status).toBe(202);
    const { result } = completed(await test.resume(turn));
    expect(JSON.stringify(result)).toContain('paid 5');
    expect((await test.event({ status: 'paid', amount: 5 })).status).toBe(200);
    expect((await test.event({ status: 'paid', amount: 9 })).status).toBe(410);
  });

  it('times out in the body', async () => {
    const test = new OutsideCase();
    const turn = await test.start('payment');
    test.clock.now += day;
    expect((await test.event({ status: 'paid', amount: 5 })).status).toBe(410);
    expect(await test.resume(turn)).toMatchObject({
      status: 'failed',
      error: { code: 'step_timed_out' },
    });
  });

  it('is checked by the webhook of the host that the step names', async () => {
    const test = new OutsideCase(
      {},
      {
        store: new OutsideCase().store,
        url: 'https://shop.example/api/',
        webhooks: {
          bank: async (request) =>
            request.headers.get('signature') === 'good' && (await request.text()).includes('paid'),
        },
      },
      { verify: 'bank' },
    );
    const turn = await test.start('payment');
    expect(test.url()).toMatch(/^https:\/\/shop\.example\/api\/saga\/event\//);
    const paid = { status: 'paid', amount: 5 };
    expect((await test.event(paid)).status).toBe(401);
    suspended(await test.resume(turn));
    expect((await test.event(paid, { headers: { signature: 'good' } })).status).toBe(202);
  });

  it('is to be sent again if the host cannot check it now', async () => {
    let areDown = true;
    const services = (): object => {
      if (areDown) throw new Error('The database is down.');
      return {};
    };
    const clock = testClock();
    const store = memoryStore({ clock });
    const outside = { url: base, store, webhooks: { bank: () => true } };
    const test = new OutsideCase({}, { clock, ...outside }, { verify: 'bank' });
    const turn = await test.start('payment');
    const paid = { status: 'paid', amount: 5 };
    const event = (): Request =>
      new Request(test.url(), { method: 'POST', body: JSON.stringify(paid) });
    const programs = test.payment({ verify: 'bank' });
    const failing = hostOf(programs, { clock, ...outside, services: services as never });
    const unconfigured = hostOf(programs, { clock, store, url: base });
    for (const { host, told } of [failing, unconfigured]) {
      expect((await host.answer(event())).status).toBe(503);
      expect(told.errors).toHaveLength(1);
    }
    const next = suspended(await test.resume(turn));
    areDown = false;
    expect((await failing.host.answer(event())).status).toBe(202);
    completed(await test.resume(next));
  });
});

describe('an approval in development', () => {
  const testing = { environment: 'development' };

  it('may be repeated with another message, reminds, and escalates', async () => {
    const clock = testClock();
    const urls: string[] = [];
    const twice = saga({ name: 'twice', version: '1' }, function* () {
      const reasons: string[] = [];
      for (const message of ['One?', 'Two?']) {
        const decision = yield* approval('go', {
          message,
          timeout: day,
          remindEvery: hour,
          escalate: [{ after: 2 * hour }, { after: 3 * hour }],
          deliver: ({ url }) => void urls.push(url),
        });
        reasons.push(decision.approved ? 'approved' : decision.reason);
      }
      return reasons.join();
    });
    const outside = { url: base, store: memoryStore({ clock }) };
    const { host } = hostOf(twice, { clock, ...outside, testing, limits: { maxHold: 0 } });
    let turn = await host.start('twice', {});
    while (turn.status === 'suspended') {
      clock.now += 4 * hour;
      turn = await host.resume(turn.token);
    }
    expect(JSON.stringify(completed(turn).result)).toContain('timeout,timeout');
    // Each time: the delivery, two escalations, and a reminder every four hours.
    expect(urls).toHaveLength(2 * (1 + 2 + 1 + 4 * 3));
  });

  it('fails as a mismatch after a change of its message, and the token stays valid', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    const outside = { url: base, store: test.store };
    const { host } = hostOf(test.refund({ message: 'Refund 1000 €?' }), {
      clock: test.clock,
      ...outside,
      testing,
    });
    await expect(host.resume(turn.token, [], { caller })).rejects.toMatchObject({
      code: 'replay_mismatch',
    });
    await test.post(user('ann'));
    expect((await test.decision(turn)).approved).toBe(true);
  });
});

describe('changed code that cancels a saga', () => {
  const changed = saga({ name: 'refund', version: '1', reuse: 'ok' }, function* () {
    yield* step('other', () => 1);
    return '';
  });

  it('closes the page of a removed question', async () => {
    const test = new OutsideCase();
    const { token } = await test.start();
    const outside = { url: base, store: test.store };
    await hostOf(changed, { clock: test.clock, ...outside }).host.cancel(token, { caller });
    const page = await test.get(user('ann'));
    expect([page.status, await page.text()]).toEqual([410, expect.stringContaining('Withdrawn')]);
    expect((await test.post(user('ann'))).status).toBe(409);
  });

  it('passes no result of a step with the name of a delivery to the store', async () => {
    const boxes: string[] = [];
    const store = { ...memoryStore(), close: (box: string) => void boxes.push(box) };
    const named = saga({ name: 'refund', version: '1', reuse: 'ok' }, function* () {
      yield* all({
        order: (function* (): Steps<void> {
          yield* step('deliver', () => 'a secret');
          yield* poll('answers', () => undefined, { every: hour, timeout: day });
        })(),
      });
      return '';
    });
    const outside = { url: base, store };
    const { token } = suspended(
      await hostOf(named, { ...outside }).host.start('refund', {}, { caller }),
    );
    await hostOf(changed, { ...outside }).host.cancel(token, { caller });
    expect(boxes).toEqual([]);
  });
});
