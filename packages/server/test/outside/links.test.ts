import { memoryStore, type SagaStore } from '@mcp-saga/server';
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

/** A store, and everything that it was ever told. */
function recording(): {
  readonly store: SagaStore;
  readonly tickets: { readonly id: string; sealed: string }[];
  readonly told: unknown[];
} {
  const honest = memoryStore({ clock: () => 0 });
  const tickets: { id: string; sealed: string }[] = [];
  const told: unknown[] = [];
  const store: SagaStore = {
    ...honest,
    write: (...given) => {
      const [{ group, name }, { body = '' }] = given;
      told.push(given);
      if (name === 'ticket') tickets.push({ id: group, sealed: body });
      return honest.write(...given);
    },
    read: async (key) => {
      told.push(key);
      const entry = await honest.read(key);
      const ticket = tickets.find(({ id }) => id === key.group);
      return entry && ticket ? { ...entry, body: ticket.sealed } : entry;
    },
    append: (...given) => {
      told.push(given);
      return honest.append(...given);
    },
    list: (group) => {
      told.push(group);
      return honest.list(group);
    },
  };
  return { store, tickets, told };
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
    const test = new OutsideCase({ to: ['ann', 'bob'], remindEvery: 60_000 });
    const turn = await test.start();
    test.clock.now += 60_000;
    await test.resume(turn);
    expect(test.sent.map(({ to }) => to)).toEqual(['ann', 'bob', 'ann', 'bob']);
    const urls = test.sent.map(({ url }) => url);
    expect(new Set(urls).size).toBe(2);
    expect(urls.slice(2)).toEqual(urls.slice(0, 2));
  });

  it('cannot be made by the store, which knows neither the name nor what is asked', async () => {
    const { store, tickets, told } = recording();
    const test = new OutsideCase({ message: 'Refund a secret' }, { store });
    await test.start();
    await test.get(ann);
    const name = test.url().split('/').at(-1) ?? '';
    expect(JSON.stringify(told)).not.toContain(name);
    expect(JSON.stringify(told)).not.toContain('secret');
    for (const { id, sealed } of tickets)
      for (const text of [id, sealed])
        expect((await test.get(ann, `${base}/saga/answer/${text}`)).status).toBe(404);
  });

  it('does not open the ticket of another link, which the store has exchanged', async () => {
    const { store, tickets } = recording();
    const test = new OutsideCase({ to: ['ann', 'bob'], link: 'accept' }, { store });
    await test.start();
    const exchanged = tickets.map(({ sealed }) => sealed).toReversed();
    for (const [index, ticket] of tickets.entries()) ticket.sealed = exchanged[index] ?? '';
    for (const { url } of test.sent) expect((await test.get(undefined, url)).status).toBe(404);
    expect(test.test.told.rejections).toMatchObject(
      Array.from({ length: 2 }, () => ({ reason: 'undecryptable' })),
    );
  });

  it('is invalid if the store does not know it, or gives it something else', async () => {
    const { store, tickets } = recording();
    const test = new OutsideCase({}, { store });
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
    'is short if the store fails $downFor times at most, and else holds its question',
    async ({ downFor, link }) => {
      let downs = downFor;
      const honest = memoryStore({ clock: () => 0 });
      const store: SagaStore = {
        ...honest,
        write: (...given) => {
          downs -= 1;
          if (downs >= 0) throw new Error('down');
          return honest.write(...given);
        },
      };
      const test = new OutsideCase({}, { store });
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

  it('dies with the store that held it, until its reminder is sent', async () => {
    const lost = new Set<string>();
    const honest = memoryStore({ clock: () => 0 });
    const groups = new Set<string>();
    const store: SagaStore = {
      ...honest,
      write: (key, ...given) => {
        groups.add(key.group);
        lost.delete(key.group);
        return honest.write(key, ...given);
      },
      read: (key) => (lost.has(key.group) ? undefined : honest.read(key)),
    };
    const test = new OutsideCase({ remindEvery: 60_000 }, { store });
    const turn = await test.start();
    for (const group of groups) lost.add(group);
    expect((await test.get(ann)).status).toBe(404);
    test.clock.now += 60_000;
    const next = suspended(await test.resume(turn));
    expect((await test.post(ann)).status).toBe(200);
    expect((await test.decision(next)).approved).toBe(true);
  });

  it('is served as long as the answers are kept, and opens again on other processes', async () => {
    const store = memoryStore({ clock: () => 0 });
    const test = new OutsideCase({}, { store });
    await test.start();
    const elsewhere = new OutsideCase({}, { store, clock: test.clock });
    expect((await elsewhere.get(ann, test.url())).status).toBe(200);
    test.clock.now += day;
    expect((await elsewhere.get(ann, test.url())).status).toBe(410);
    const without = new OutsideCase({}, { store: withoutTickets(store), clock: test.clock });
    expect((await without.get(ann, test.url())).status).toBe(410);
  });
});
