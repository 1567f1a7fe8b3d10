import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { SagaCaller } from '@mcp-saga/server';
import { hostOf, suspended, type TestHost } from '../fixtures/host.ts';
import { base, caller, Comment, day, hour, OutsideCase, user } from './case.ts';

interface Person {
  readonly subject: string;
  readonly issuer: string | undefined;
}

const person: fc.Arbitrary<Person> = fc.record({
  subject: fc.constantFrom('ann', 'bob'),
  issuer: fc.constantFrom(undefined, 'https://one.example', 'https://two.example'),
});

const asUser = ({ subject, issuer }: Person): SagaCaller => user(subject, issuer);

/** The rule of the guide, written once more. */
function mayBeOne(one: Person, other: Person): boolean {
  if (one.subject !== other.subject) return false;
  return [one.issuer, other.issuer].includes(undefined) || one.issuer === other.issuer;
}

/** Posts an approval by each person in turn. Returns the people that the rule counts. */
async function answeredBy(test: OutsideCase, people: readonly Person[]): Promise<Person[]> {
  const counted: Person[] = [];
  for (const one of people) {
    const counts = !counted.some((earlier) => mayBeOne(earlier, one));
    expect((await test.post(asUser(one))).status).toBe(counts ? 200 : 409);
    if (counts) counted.push(one);
  }
  return counted;
}

describe('an approval by several people', () => {
  it('counts each person once, however they sign in, and says so on the page', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(person, { minLength: 1, maxLength: 6 }), async (people) => {
        const test = new OutsideCase({ of: 30 });
        const turn = await test.start();
        const counted = await answeredBy(test, people);
        test.clock.now += day;
        const { answers } = await test.decision(turn);
        expect(answers.map(({ by }) => ({ issuer: undefined, ...Object(by) }))).toEqual(counted);
      }),
      { numRuns: 30 },
    );
  });

  it('counts one of two concurrent answers of a person who signs in in two ways', async () => {
    const test = new OutsideCase({ of: 2 });
    const turn = await test.start();
    const responses = await Promise.all([
      test.post(user('ann')),
      test.post(user('ann', 'https://idp.example'), { decision: 'deny' }),
    ]);
    test.clock.now += day;
    const { answers } = await test.decision(turn);
    expect(answers).toHaveLength(1);
    const right = answers[0]?.approved ? [200, 409] : [409, 200];
    expect(responses.map(({ status }) => status)).toEqual(right);
  });

  it('is refused to the caller by the rule that counts answers', async () => {
    await fc.assert(
      fc.asyncProperty(person, person, async (asker, other) => {
        const test = new OutsideCase();
        await test.test.host.start('refund', {}, { caller: asUser(asker) });
        const { status } = await test.post(asUser(other));
        expect(status).toBe(mayBeOne(asker, other) ? 403 : 200);
      }),
      { numRuns: 30 },
    );
  });

  it('treats an empty issuer as a missing one', async () => {
    const test = new OutsideCase({ of: 2 });
    await test.start();
    expect((await test.post(user('caller', ''))).status).toBe(403);
    expect((await test.post(user('ann', ''))).status).toBe(200);
    expect((await test.post(user('ann', 'https://idp.example'))).status).toBe(409);
  });
});

describe('an approval whose links are enough to answer', () => {
  it.each([
    ['in one list', { to: ['ann', 'ann', 'bob'] }],
    ['in an escalation', { to: ['ann', 'bob'], escalate: [{ after: hour, to: ['ann'] }] }],
    ['with members in another order', { to: [{ a: 1, b: 2 }, { b: 2, a: 1 }, 'bob'] }],
  ])('counts a recipient once who is listed twice %s', async (_, options) => {
    const test = new OutsideCase({ of: 2, link: 'accept', ...options });
    let turn = await test.start();
    test.clock.now += hour;
    turn = suspended(await test.resume(turn));
    const of = (to: unknown): string[] =>
      test.sent
        .filter((sent) => JSON.stringify(sent.to) !== JSON.stringify(to))
        .map(({ url }) => url);
    const [first = '', second = ''] = of('bob');
    expect((await test.post(undefined, undefined, { url: first })).status).toBe(200);
    expect((await test.post(undefined, undefined, { url: second })).status).toBe(409);
    suspended(await test.resume(turn));
    const last = test.sent.find(({ to }) => to === 'bob')?.url ?? '';
    expect((await test.post(undefined, undefined, { url: last })).status).toBe(200);
    expect((await test.decision(turn)).answers).toHaveLength(2);
  });

  it.each([
    ['one link', {}],
    ['two recipients', { to: ['ann', 'bob'], of: 3 }],
    ['a recipient who is listed twice', { to: ['ann', 'ann'] }],
    ['an escalation to the same recipient', { to: ['ann'], escalate: [{ after: 1, to: ['ann'] }] }],
  ])('is refused before a link is sent if %s can never complete it', async (_, options) => {
    const test = new OutsideCase({ of: 2, link: 'accept', ...options });
    const turn = await test.test.host.start('refund', {});
    expect(turn).toMatchObject({ status: 'failed', error: { code: 'authoring_error' } });
    expect(String(Object(turn).error.message)).toContain('`of`');
    expect(test.sent).toEqual([]);
  });

  it.each([
    ['with as many recipients', { to: ['ann', 'bob'] }],
    ['with the recipients of an escalation', { escalate: [{ after: hour }] }],
  ])('is asked %s', async (_, options) => {
    const test = new OutsideCase({ of: 2, link: 'accept', ...options });
    await test.start();
    expect(test.sent.length).toBeGreaterThan(0);
  });
});

describe('the page of an outdated link', () => {
  const ann = user('ann');
  const bob = user('bob');

  async function seen(test: OutsideCase, by: SagaCaller): Promise<[number, string, number]> {
    const page = await test.get(by);
    return [page.status, await page.text(), (await test.post(by)).status];
  }

  /** Expects that the page of the first link says that neither person has a counted answer. */
  async function expectOutdated(test: OutsideCase): Promise<void> {
    for (const by of [ann, bob]) {
      const [status, text, posted] = await seen(test, by);
      expect([status, posted]).toEqual([410, 409]);
      expect(text).toContain('has changed');
      expect(text).not.toContain('You approved');
    }
  }

  it('says that no answer counts, after a change of the code', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    expect((await test.post(ann)).status).toBe(200);
    suspended(await changed(test).resume(turn.token, [], { caller }));
    expect(test.sent).toHaveLength(2);
    await expectOutdated(test);
  });

  it('says that no answer counts, if the time ended after a change of the code', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    await test.post(ann);
    test.clock.now += day;
    expect(await changed(test).resume(turn.token, [], { caller })).toMatchObject({
      status: 'completed',
    });
    await expectOutdated(test);
  });

  it('says that no answer counts, if the schema refused all of them', async () => {
    const schema = Comment.refine(({ comment }) => comment !== 'bad');
    const test = new OutsideCase({ schema });
    const turn = await test.start();
    expect((await test.post(ann, { decision: 'approve', f0: 'bad' })).status).toBe(200);
    suspended(await test.resume(turn));
    expect(test.sent).toHaveLength(2);
    await expectOutdated(test);
  });

  it('is that of a withdrawn request after the saga was cancelled', async () => {
    const test = new OutsideCase({ of: 2 });
    const turn = await test.start();
    await test.post(ann);
    await test.test.host.cancel(turn.token, { caller });
    for (const by of [ann, bob]) {
      const [status, text, posted] = await seen(test, by);
      expect([status, posted]).toEqual([410, 409]);
      expect(text).toContain('withdrawn');
    }
  });

  it('still shows each counted answer after a decision', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    await test.post(ann);
    expect((await test.decision(turn)).approved).toBe(true);
    const [status, text, posted] = await seen(test, ann);
    expect([status, posted]).toEqual([200, 409]);
    expect(text).toContain('You approved');
  });

  function changed(test: OutsideCase): TestHost['host'] {
    const schema = z.object({ comment: z.string().max(9).optional() });
    const outside = { url: base, store: test.store };
    return hostOf(test.refund({ schema }), { clock: test.clock, ...outside }).host;
  }
});
