import { memoryStore, type SagaStore, type StepAnswer } from '@mcp-saga/server';
import type { ListedValue } from '@mcp-saga/server/stores';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { hostOf, keyOf, suspended } from '../fixtures/host.ts';
import { base, caller, day, OutsideCase, user, withoutTickets } from './case.ts';
import { alterEnd } from '../../../../test/support/wire/tamper.ts';

const ann = user('ann');
const bob = user('bob');

/** What a client of the page learns: status and text, without the nonce of the style. */
async function seen(response: Response): Promise<string> {
  const text = await response.text();
  return `${response.status} ${text.replaceAll(/nonce="[^"]*"/g, '')}`;
}

function ticketOf(url: string): string {
  return url.split('/').at(-1) ?? '';
}

describe('tickets from attackers', () => {
  it('[T5] are refused with one response if they do not open, and the reason is reported', async () => {
    const honest = memoryStore({ clock: () => 0 });
    const store = withoutTickets(honest);
    const test = new OutsideCase({}, { store });
    const { token } = await test.start();
    const ticket = ticketOf(test.url());
    const other = new OutsideCase({}, { store, keys: keyOf('old', 0x33) });
    await other.start();
    const elsewhere = new OutsideCase({}, { store, name: 'another service' });
    await elsewhere.start();
    const [header = '', , nonce = '', ciphertext = '', tag = ''] = ticket.split('.');
    const flipped = (text: string): string => (text.startsWith('A') ? 'B' : 'A') + text.slice(1);
    const bad = [
      'x',
      '....',
      token,
      `${header}..${flipped(nonce)}.${ciphertext}.${tag}`,
      `${header}..${nonce}.${flipped(ciphertext)}.${tag}`,
      `${header}..${nonce}.${ciphertext}.${flipped(tag)}`,
      `${flipped(header)}..${nonce}.${ciphertext}.${tag}`,
      `${ticket}A`,
      `${ticket}=`,
      ticket.slice(0, -1),
      ticketOf(other.url()),
      ticketOf(elsewhere.url()),
      encodeURIComponent(`${ticket}\u0000`),
    ];
    // The store has refused the tickets themselves.
    test.test.told.rejections.length = 0;
    const invalid = await seen(await test.get(ann, `${base}/saga/answer/x`));
    expect(invalid).toMatch(/^404 /);
    for (const text of bad) {
      const url = `${base}/saga/answer/${text}`;
      expect([text, await seen(await test.get(ann, url))]).toEqual([text, invalid]);
      expect([text, await seen(await test.post(ann, undefined, { url }))]).toEqual([text, invalid]);
    }
    expect(test.test.told.rejections.length).toBeGreaterThan(0);
    expect(honest).toMatchObject({ size: 0 });
  });

  it('[T3] open no saga with a ticket or stored answer, and no page with a stored answer', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    const stored: string[] = [];
    const honest = { ...test.store };
    Object.assign(test.store, {
      append: (...given: Parameters<SagaStore['append']>) => {
        const [, sealed] = given;
        stored.push(sealed);
        return honest.append(...given);
      },
    });
    await test.post(ann);
    const { host } = test.test;
    for (const text of [ticketOf(test.url()), stored[0] ?? '']) {
      await expect(host.resume(text, [], { caller })).rejects.toMatchObject({
        name: 'TokenRefused',
      });
      await expect(host.cancel(text, { caller })).rejects.toMatchObject({ name: 'TokenRefused' });
    }
    expect((await test.get(ann, `${base}/saga/answer/${stored[0]}`)).status).toBe(404);
    expect((await test.decision(turn)).approved).toBe(true);
  });

  it('are refused on the page for an event, and at the webhook for an approval', async () => {
    const test = new OutsideCase();
    await test.start('refund');
    await test.start('payment');
    const [answer = '', event = ''] = test.sent.map(({ url }) => ticketOf(url));
    expect((await test.get(ann, `${base}/saga/answer/${event}`)).status).toBe(404);
    expect((await test.event({}, { url: `${base}/saga/event/${answer}` })).status).toBe(404);
  });

  it('count an answer for its own saga and step only', async () => {
    const test = new OutsideCase();
    const one = await test.start();
    const other = await test.start();
    expect((await test.post(ann, undefined, { url: test.url(1) })).status).toBe(200);
    suspended(await test.resume(one));
    expect((await test.decision(other)).approved).toBe(true);
  });

  it('record the first answer of a person, and show it to each later one', async () => {
    const test = new OutsideCase({ of: 2 });
    await test.start();
    expect((await test.post(ann)).status).toBe(200);
    const again = await test.post(ann, { decision: 'deny' });
    expect([again.status, await again.text()]).toEqual([
      409,
      expect.stringContaining('You approved'),
    ]);
    expect((await test.get(ann)).status).toBe(200);
    expect(await (await test.get(ann)).text()).not.toContain('<form');
    expect((await test.post(bob)).status).toBe(200);
  });

  it('record nothing by GET and HEAD, as link previews and scanners send them', async () => {
    const test = new OutsideCase({ link: 'accept' });
    const turn = await test.start();
    for (const query of ['', '?decision=approve', '?decision=deny&f0=fine']) {
      expect((await test.get(undefined, test.url() + query)).status).toBe(200);
      const head = await test.get(undefined, test.url() + query, 'HEAD');
      expect([head.status, await head.text()]).toEqual([200, '']);
    }
    expect((await test.get(undefined, test.url(), 'DELETE')).status).toBe(405);
    suspended(await test.resume(turn));
  });

  it('are refused in forms of other pages', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    const bad: Readonly<Record<string, string>>[] = [
      { origin: 'https://evil.example' },
      { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { origin: 'null', 'sec-fetch-site': 'same-site' },
      { origin: 'null', 'sec-fetch-site': 'none' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { origin: 'http://shop.example' },
    ];
    for (const headers of bad)
      expect((await test.post(ann, undefined, { headers })).status).toBe(403);
    suspended(await test.resume(turn));
    expect((await test.post(ann, undefined, { headers: { origin: base } })).status).toBe(200);
  });

  it('are refused past the deadline, after the decision, and for a cancelled saga', async () => {
    const late = new OutsideCase();
    const turn = await late.start();
    late.clock.now += day - 1;
    expect((await late.get(ann)).status).toBe(200);
    late.clock.now += 1;
    expect((await late.get(ann)).status).toBe(410);
    expect((await late.post(ann)).status).toBe(410);
    expect(await late.decision(turn)).toMatchObject({ reason: 'timeout' });

    const decided = new OutsideCase();
    const waiting = await decided.start();
    await decided.post(ann);
    await decided.decision(waiting);
    expect((await decided.post(bob)).status).toBe(409);
    expect((await decided.get(ann)).status).toBe(200);
  });

  it('count no answer to a question that the code has changed', async () => {
    const test = new OutsideCase();
    const turn = await test.start();
    await test.post(ann);
    const changed = hostOf(
      test.refund({ schema: z.object({ comment: z.string().max(9).optional() }) }),
      { clock: test.clock, store: test.store, url: base },
    );
    const next = suspended(await changed.host.resume(turn.token, [], { caller }));
    expect(test.sent).toHaveLength(2);
    expect(test.sent[1]?.key).not.toBe(test.sent[0]?.key);
    expect((await test.post(bob)).status).toBe(409);
    await test.post(ann, undefined, { url: test.url(1) });
    expect(await changed.host.resume(next.token, [], { caller })).toMatchObject({
      status: 'completed',
    });
  });

  it('are refused if issued before rejectIssuedBefore, like tokens', async () => {
    const test = new OutsideCase();
    await test.start();
    const later = new OutsideCase(
      {},
      {
        clock: test.clock,
        store: test.store,
        auth: { rejectIssuedBefore: test.clock.now + 1 },
      },
    );
    expect((await later.get(ann, test.url())).status).toBe(404);
  });

  it('have one length for callers of any name, also in the link itself', async () => {
    const lengths = new Set<number>();
    for (const subject of ['a', 'b'.repeat(500)]) {
      const store = withoutTickets(memoryStore({ clock: () => 0 }));
      const test = new OutsideCase({}, { store });
      await test.test.host.start('refund', {}, { caller: user(subject) });
      lengths.add(test.url().length);
    }
    expect(lengths.size).toBe(1);
  });

  it('record as many answers as an approval can need', async () => {
    const honest = memoryStore({ clock: () => 0 });
    const limits: number[] = [];
    const append: SagaStore['append'] = (key, sealed, options) => {
      limits.push(options.maxValues);
      return honest.append(key, sealed, options);
    };
    const test = new OutsideCase({ of: 256 }, { store: { ...honest, append } });
    await test.start();
    expect((await test.post(ann)).status).toBe(200);
    expect(limits).toEqual([256]);
  });

  it('record one answer for each person of 200 concurrent answers', async () => {
    const test = new OutsideCase({ of: 4 });
    const turn = await test.start();
    const people = ['a', 'b', 'c', 'd'];
    const responses = await Promise.all(
      Array.from({ length: 200 }, (_, index) => test.post(user(people[index % 4] ?? ''))),
    );
    const statuses = responses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(4);
    expect(statuses.filter((status) => status === 409)).toHaveLength(196);
    const { answers } = await test.decision(turn);
    expect(answers.map(({ by }) => (by === 'link' ? by : by.subject)).toSorted()).toEqual(people);
  });
});

describe('a store that returns wrong entries', () => {
  /** Changes what a store lists. */
  function lying(
    clock: () => number,
    lie: (answers: readonly ListedValue[], box: string) => ListedValue[],
  ): SagaStore {
    const honest = memoryStore({ clock });
    return {
      ...honest,
      list: async (box) => {
        const { values, isClosed } = await honest.list(box);
        return { values: lie([...values], box), isClosed };
      },
    };
  }

  async function judged(lie: Parameters<typeof lying>[1]): Promise<string> {
    let isLying = false;
    const store = lying(
      () => 0,
      (answers, box) => (isLying ? lie(answers, box) : [...answers]),
    );
    const test = new OutsideCase({ of: 2 }, { store });
    const turn = await test.start();
    await test.post(ann);
    isLying = true;
    return (await test.resume(turn)).status;
  }

  it('cannot count repeated, moved, or altered answers', async () => {
    expect(await judged((answers) => [...answers, ...answers])).toBe('suspended');
    expect(
      await judged((answers) => answers.flatMap((one) => [one, { ...one, name: 'other' }])),
    ).toBe('suspended');
    expect(await judged((answers) => [...answers, { name: 'b', value: 'x' }])).toBe('suspended');
    expect(
      await judged((answers) =>
        answers.flatMap((one) => [one, { name: 'b', value: alterEnd(one.value) }]),
      ),
    ).toBe('suspended');
  });

  it('cannot count answers of another box, also of the same saga', async () => {
    const boxes = new Map<string, ListedValue[]>();
    const test = new OutsideCase(
      { of: 1 },
      {
        store: lying(
          () => 0,
          (answers, box) => {
            boxes.set(box, [...answers]);
            return [...boxes.values()].flat();
          },
        ),
      },
    );
    const one = await test.start();
    await test.start();
    await test.post(ann, undefined, { url: test.url(1) });
    await test.get(ann, test.url(1));
    suspended(await test.resume(one));
    expect(test.test.told.rejections.map(({ reason }) => reason)).toContain('answer');
  });

  it.each([
    ['nothing', undefined],
    ['no answers', {}],
    ['answers of another form', { values: [null], isClosed: false }],
  ])('delays the saga and is reported if it returns %s', async (_, reply) => {
    let isLying = false;
    const honest = memoryStore({ clock: () => 0 });
    const list = (box: string): ReturnType<SagaStore['list']> =>
      isLying ? (reply as never) : honest.list(box);
    const test = new OutsideCase({}, { store: { ...honest, list } });
    const turn = await test.start();
    await test.post(ann);
    isLying = true;
    const next = suspended(await test.resume(turn));
    expect(test.test.told.errors).toContainEqual(expect.any(TypeError));
    expect((await test.get(ann)).status).toBe(503);
    isLying = false;
    expect((await test.decision(next)).approved).toBe(true);
  });

  it('delays the saga while it is down, and the page asks to try again', async () => {
    const honest = memoryStore({ clock: () => 0 });
    let isDown = false;
    const unlessDown = <T>(work: () => T): T => {
      if (isDown) throw new Error('the store is down');
      return work();
    };
    const test = new OutsideCase(
      {},
      {
        store: {
          write: (...parts) => unlessDown(() => honest.write(...parts)),
          remove: (...parts) => unlessDown(() => honest.remove(...parts)),
          read: (...parts) => unlessDown(() => honest.read(...parts)),
          append: (...parts) => unlessDown(() => honest.append(...parts)),
          list: (...parts) => unlessDown(() => honest.list(...parts)),
          discard: (...parts) => unlessDown(() => honest.discard(...parts)),
          close: (...parts) => unlessDown(() => honest.close(...parts)),
        },
      },
    );
    const turn = await test.start();
    isDown = true;
    expect((await test.get(ann)).status).toBe(503);
    const page = await test.post(ann);
    expect([page.status, await page.text()]).toEqual([
      503,
      expect.not.stringContaining('the store is down'),
    ]);
    const next = suspended(await test.resume(turn));
    isDown = false;
    expect((await test.post(ann)).status).toBe(200);
    expect((await test.decision(next)).approved).toBe(true);
    expect(test.test.told.errors).not.toEqual([]);
  });
});

/** Answers of the client change nothing about an approval. */
it('an approval accepts no answer of the client', async () => {
  const test = new OutsideCase();
  const { token } = await test.start();
  const forged: StepAnswer[] = ['manager', 'manager/answers', 'manager/deliver'].map((stepId) => ({
    stepId,
    result: { action: 'accept', content: { approved: true } },
  }));
  suspended(await test.test.host.resume(token, forged, { caller }));
});
