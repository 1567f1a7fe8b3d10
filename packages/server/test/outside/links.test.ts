import { memoryMailbox, type Mailbox } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { suspended } from '../fixtures/host.ts';
import { base, day, OutsideCase, user, withoutTickets } from './case.ts';

const ann = user('ann');

/** Options of a saga that asks much: a long message, and many fields. */
const long = {
  message: 'Refund '.repeat(500),
  schema: z.object(
    Object.fromEntries(
      Array.from({ length: 50 }, (_, index) => [`field${index}`, z.string().optional()]),
    ),
  ) as never,
};

/** A mailbox, and everything that it was ever told. */
function recording(): {
  readonly mailbox: Mailbox;
  readonly tickets: { readonly box: string; sealed: string }[];
  readonly told: unknown[];
} {
  const honest = memoryMailbox({ clock: () => 0 });
  const tickets: { box: string; sealed: string }[] = [];
  const told: unknown[] = [];
  const mailbox: Mailbox = {
    ...honest,
    put: (...given) => {
      const [box, slot, sealed] = given;
      told.push(given);
      if (slot === 'ticket') tickets.push({ box, sealed });
      return honest.put(...given);
    },
    list: async (box) => {
      told.push(box);
      const ticket = tickets.find((one) => one.box === box);
      if (ticket === undefined) return await honest.list(box);
      return { answers: [{ slot: 'ticket', sealed: ticket.sealed }], isClosed: false };
    },
  };
  return { mailbox, tickets, told };
}

describe('a link', () => {
  it('is short, whatever its page asks', async () => {
    for (const options of [{}, long]) {
      const test = new OutsideCase(options);
      await test.start();
      expect(test.url()).toMatch(/^https:\/\/shop\.example\/saga\/answer\/[\w-]{22}$/);
      expect((await test.get(ann)).status).toBe(200);
    }
    const test = new OutsideCase();
    await test.start('payment');
    expect(test.url()).toMatch(/^https:\/\/shop\.example\/saga\/event\/[\w-]{22}$/);
  });

  it('is another one for each recipient, and the same for a reminder', async () => {
    const test = new OutsideCase({ to: ['ann', 'bob'], remindEveryMs: 60_000 });
    const turn = await test.start();
    test.clock.now += 60_000;
    await test.resume(turn);
    expect(test.sent.map(({ to }) => to)).toEqual(['ann', 'bob', 'ann', 'bob']);
    const urls = test.sent.map(({ url }) => url);
    expect(new Set(urls).size).toBe(2);
    expect(urls.slice(2)).toEqual(urls.slice(0, 2));
  });

  it('cannot be made by the mailbox, which knows neither the name nor what is asked', async () => {
    const { mailbox, tickets, told } = recording();
    const test = new OutsideCase({ message: 'Refund a secret' }, { mailbox });
    await test.start();
    await test.get(ann);
    const name = test.url().split('/').at(-1) ?? '';
    expect(JSON.stringify(told)).not.toContain(name);
    expect(JSON.stringify(told)).not.toContain('secret');
    for (const { box, sealed } of tickets)
      for (const text of [box, sealed])
        expect((await test.get(ann, `${base}/saga/answer/${text}`)).status).toBe(404);
  });

  it('does not open the ticket of another link, which the mailbox has exchanged', async () => {
    const { mailbox, tickets } = recording();
    const test = new OutsideCase({ to: ['ann', 'bob'], link: 'accept' }, { mailbox });
    await test.start();
    const exchanged = tickets.map(({ sealed }) => sealed).toReversed();
    for (const [index, ticket] of tickets.entries()) ticket.sealed = exchanged[index] ?? '';
    for (const { url } of test.sent) expect((await test.get(undefined, url)).status).toBe(404);
    expect(test.test.told.rejections).toMatchObject(
      Array.from({ length: 2 }, () => ({ reason: 'undecryptable' })),
    );
  });

  it('is invalid if the mailbox does not know it, or gives it something else', async () => {
    const { mailbox, tickets } = recording();
    const test = new OutsideCase({}, { mailbox });
    const { token } = await test.start();
    const unknown = `${base}/saga/answer/${'A'.repeat(22)}`;
    expect((await test.get(ann, unknown)).status).toBe(404);
    expect(test.test.told.rejections).toMatchObject([{ reason: 'unknown_handle' }]);
    for (const sealed of [token, '', 'x'.repeat(22)]) {
      (tickets[0] as { sealed: string }).sealed = sealed;
      expect((await test.get(ann)).status).toBe(404);
    }
  });

  it.each([
    { downFor: 2, link: /[\w-]{22}$/ },
    { downFor: 3, link: /[\w.-]{500,}$/ },
  ])(
    'is short if the mailbox fails $downFor times at most, and else holds its question',
    async ({ downFor, link }) => {
      let downs = downFor;
      const honest = memoryMailbox({ clock: () => 0 });
      const mailbox: Mailbox = {
        ...honest,
        put: (...given) => {
          downs -= 1;
          if (downs >= 0) throw new Error('down');
          return honest.put(...given);
        },
      };
      const test = new OutsideCase({}, { mailbox });
      let turn = await test.start();
      for (let attempt = 2; attempt <= 3; attempt += 1) {
        test.clock.now += 60_000;
        turn = suspended(await test.resume(turn));
      }
      expect(test.sent).toHaveLength(1);
      expect(test.url()).toMatch(link);
      expect((await test.post(ann)).status).toBe(200);
      expect((await test.decision(turn)).approved).toBe(true);
      const errors = test.test.told.errors.map((error) => (error as Error).message);
      expect(errors.filter((message) => message === 'down')).toHaveLength(downFor);
    },
  );

  it('dies with the mailbox that held it, until its reminder is sent', async () => {
    const lost = new Set<string>();
    const honest = memoryMailbox({ clock: () => 0 });
    const boxes = new Set<string>();
    const mailbox: Mailbox = {
      ...honest,
      put: (box, ...given) => {
        boxes.add(box);
        lost.delete(box);
        return honest.put(box, ...given);
      },
      list: (box) => (lost.has(box) ? { answers: [], isClosed: false } : honest.list(box)),
    };
    const test = new OutsideCase({ remindEveryMs: 60_000 }, { mailbox });
    const turn = await test.start();
    for (const box of boxes) lost.add(box);
    expect((await test.get(ann)).status).toBe(404);
    test.clock.now += 60_000;
    const next = suspended(await test.resume(turn));
    expect((await test.post(ann)).status).toBe(200);
    expect((await test.decision(next)).approved).toBe(true);
  });

  it('is served as long as the answers are kept, and opens again on other processes', async () => {
    const mailbox = memoryMailbox({ clock: () => 0 });
    const test = new OutsideCase({}, { mailbox });
    await test.start();
    const elsewhere = new OutsideCase({}, { mailbox, clock: test.clock });
    expect((await elsewhere.get(ann, test.url())).status).toBe(200);
    test.clock.now += day;
    expect((await elsewhere.get(ann, test.url())).status).toBe(410);
    const without = new OutsideCase({}, { mailbox: withoutTickets(mailbox), clock: test.clock });
    expect((await without.get(ann, test.url())).status).toBe(410);
  });
});
