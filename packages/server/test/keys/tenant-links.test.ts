import {
  approval,
  memoryStore,
  saga,
  waitFor,
  type Program,
  type QueueMessage,
  type SagaCaller,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import type { HostChanges } from '../fixtures/host-changes.ts';
import { hostOf, keyOf, suspended, type TestHost } from '../fixtures/host.ts';
import { base, day, Paid, withoutTickets } from '../outside/case.ts';
import { recordingQueue, type RecordingQueue } from '../queue/queued.ts';

const tenantOf = ({ user }: SagaCaller): string =>
  String((user as { readonly clientId?: string } | undefined)?.clientId).split('@')[1] ?? '';

/** A user of a tenant, as in `ada@a`. */
const of = (user: string): SagaCaller => ({ user: { clientId: user } });

interface Tenants extends TestHost {
  readonly queue: RecordingQueue;
  readonly urls: string[];
  readonly loads: string[];
}

/** @param given.isLong - the links hold their tickets. Default: the store holds them */
function tenants({
  isDown = false,
  isLong = false,
  ...changes
}: HostChanges & { readonly isDown?: boolean; readonly isLong?: boolean } = {}): Tenants {
  const urls: string[] = [];
  const loads: string[] = [];
  const clock = testClock();
  const queue = recordingQueue();
  const store = memoryStore({ clock });
  const sagas: readonly Program[] = [
    saga({ name: 'refund', version: '1' }, function* () {
      const { approved } = yield* approval('manager', {
        message: 'Refund 10 €?',
        timeout: day,
        deliver: ({ url }) => void urls.push(url),
      });
      return String(approved);
    }),
    saga({ name: 'payment', version: '1' }, function* () {
      const { amount } = yield* waitFor('payment', {
        schema: Paid,
        link: 'accept',
        timeout: day,
        register: ({ url }) => void urls.push(url),
      });
      return String(amount);
    }),
  ];
  const load = async (tenant: string): Promise<string> => {
    loads.push(tenant);
    if (isDown) throw new Error('the provider is down');
    // All tenants have the same key ID.
    return keyOf('k1', tenant.charCodeAt(0));
  };
  const made = hostOf(sagas, {
    keys: { load, tenantOf, links: keyOf('links', 7) },
    auth: {
      // Users of two tenants have the same subject.
      principal: (info) => ({
        subject: (info as { clientId: string }).clientId.split('@')[0] ?? '',
        client: 'app',
      }),
    },
    store: isLong ? withoutTickets(store) : store,
    url: base,
    limits: { maxHold: 0 },
    queue,
    clock,
    ...changes,
  });
  return { ...made, queue, urls, loads };
}

const form = { origin: 'null', 'sec-fetch-site': 'same-origin' };

function post({ host }: TestHost, url: string, user?: string): Promise<Response> {
  const request = new Request(url, {
    method: 'POST',
    headers: form,
    body: new URLSearchParams({ decision: 'approve' }),
  });
  return host.answer(request, user === undefined ? {} : { caller: of(user) });
}

/** Replaces the tenant that a link or a message names. */
function renamed(text: string, tenant: string): string {
  return text.replace(/[^/]*~/, `${Buffer.from(tenant).toString('base64url')}~`);
}

describe('a ticket of a tenant', () => {
  test.each([
    { isLong: false, link: /\/saga\/answer\/[\w-]{22}$/ },
    { isLong: true, link: /\/saga\/answer\/ey[^~]+~ey[^~]+$/ },
  ])(
    '[T3] accepts an answer of a user of the tenant, and wakes the saga without its client, by a link like $link',
    async ({ isLong, link }) => {
      const all = tenants({ isLong });
      await all.host.start('refund', {}, { caller: of('caller@a') });
      const [url = ''] = all.urls;
      expect(url).toMatch(link);
      expect((await all.host.answer(new Request(url), { caller: of('ann@a') })).status).toBe(200);
      expect((await post(all, url, 'caller@a')).status).toBe(403);
      expect((await post(all, url, 'ann@a')).status).toBe(200);
      const { message, at } = all.queue.sent.at(-1)!;
      expect(message.token).toMatch(/^YQ~ey/);
      all.clock.now = at;
      expect(await all.host.deliver(message)).toMatchObject({ status: 'ended' });
      expect(all.told.errors).toEqual([]);
    },
  );

  test('[T3] accepts an event by its URL alone, also with an escaped tilde', async () => {
    const all = tenants({ isLong: true });
    const { token } = suspended(await all.host.start('payment', {}, { caller: of('caller@a') }));
    const url = (all.urls[0] ?? '').replace('~', '%7E');
    const body = JSON.stringify({ status: 'paid', amount: 7 });
    const event = (to: string): Promise<Response> =>
      all.host.answer(new Request(to, { method: 'POST', body }));
    expect((await event(renamed(all.urls[0] ?? '', 'b'))).status).toBe(404);
    expect((await event(url)).status).toBe(202);
    const turn = await all.host.resume(token, [], { caller: of('caller@a') });
    expect(turn).toMatchObject({ result: '7' });
  });

  test('[E6] accepts no answer of a user of another tenant, whatever the subject', async () => {
    const all = tenants({
      auth: { principal: () => ({ subject: 'x', client: 'app' }), mayAnswer: () => true },
    });
    await all.host.start(
      'refund',
      {},
      {
        caller: {
          user: { clientId: 'caller@a' },
          principal: { subject: 'caller', client: 'app' },
        },
      },
    );
    const [url = ''] = all.urls;
    for (const user of ['ann@b', 'ann'])
      expect([user, (await post(all, url, user)).status]).toEqual([user, 403]);
    expect((await post(all, url, 'ann@a')).status).toBe(200);
  });

  test.each<[string, (url: string) => string]>([
    ['the name of another tenant', (url) => renamed(url, 'b')],
    ['no name', (url) => url.replace(/[^/]*~/, '')],
    ['an empty name', (url) => url.replace(/[^/]*~/, '~')],
    ['two names', (url) => url.replace(/([^/]*~)/, '$1$1')],
    ['a name that is too long', (url) => renamed(url, 'b'.repeat(257))],
    ['a name without an end', (url) => renamed(url, 'b'.repeat(2_000))],
    ['a name with bytes that are not UTF-8', (url) => url.replace(/[^/]*~/, `${'_'.repeat(500)}~`)],
  ])(
    '[T5] under %s gets the response for an invalid link, and causes no error',
    async (_, change) => {
      const all = tenants({ isLong: true });
      await all.host.start('refund', {}, { caller: of('caller@a') });
      const invalid = await post(all, `${base}/saga/answer/x`, 'ann@a');
      const text = async (response: Response): Promise<string> =>
        `${response.status} ${(await response.text()).replaceAll(/nonce="[^"]*"/g, '')}`;
      const expected = await text(invalid);
      expect(expected).toMatch(/^404 /);
      expect(await text(await post(all, change(all.urls[0] ?? ''), 'ann@a'))).toBe(expected);
      expect(all.told.errors).toEqual([]);
    },
  );
});

describe('a message of a tenant', () => {
  async function message(all: Tenants): Promise<QueueMessage> {
    await all.host.start('refund', {}, { caller: of('caller@a') });
    return all.queue.sent.at(-1)!.message;
  }

  test.each<[string, (token: string) => string]>([
    ['the name of another tenant', (token) => renamed(token, 'b')],
    ['no name', (token) => token.replace(/.*~/, '')],
    ['a name that is too long', (token) => renamed(token, 'b'.repeat(257))],
  ])('[T3] is refused under %s', async (_, change) => {
    const all = tenants();
    const sent = await message(all);
    const changed = { ...sent, token: change(sent.token) };
    await expect(all.host.deliver(changed)).rejects.toMatchObject({ code: 'refused' });
    expect(all.told.rejections).toHaveLength(1);
    expect(await all.host.deliver(sent)).toMatchObject({ status: 'waiting' });
  });

  test('[T3] is not a ticket, and a ticket is not a message', async () => {
    const all = tenants({ isLong: true });
    const sent = await message(all);
    const token = (all.urls[0] ?? '').split('/').at(-1)!;
    await expect(all.host.deliver({ ...sent, token })).rejects.toMatchObject({ code: 'refused' });
    expect((await post(all, `${base}/saga/answer/${sent.token}`, 'ann@a')).status).toBe(404);
    await expect(all.host.cancel(token, { caller: of('caller@a') })).rejects.toMatchObject({
      code: 'refused',
    });
  });
});

describe('links with forged names', () => {
  test('[T5] load no keys, and keep the links of tenants without loaded keys valid', async () => {
    const starting = tenants({ isLong: true });
    for (const tenant of ['a', 'b'])
      await starting.host.start('refund', {}, { caller: of(`caller@${tenant}`) });
    const [a = '', b = ''] = starting.urls;
    const pages = tenants({ isLong: true });
    expect((await post(pages, a, 'ann@a')).status).toBe(200);
    for (let link = 0; link < 200; link += 1)
      expect((await post(pages, renamed(a, `unknown ${link}`))).status).toBe(404);
    expect(pages.loads).toEqual(['a']);
    expect((await post(pages, b, 'ann@b')).status).toBe(200);
    expect((await post(pages, a, 'ann@a')).status).toBe(409);
    expect(pages.loads).toEqual(['a', 'b']);
    expect(pages.told.errors).toEqual([]);
  });

  test('[T5] get the response for a damaged ticket while the provider of keys is down, which is reported', async () => {
    const starting = tenants({ isLong: true });
    await starting.host.start('refund', {}, { caller: of('caller@unknown') });
    const [url = ''] = starting.urls;
    const pages = tenants({ isDown: true, isLong: true });
    expect((await post(pages, renamed(url, 'b'))).status).toBe(404);
    expect(pages.told.errors).toEqual([]);
    expect((await post(pages, url)).status).toBe(503);
    expect(pages.told.errors).toMatchObject([{ code: 'keys_down' }]);
  });

  test('[T5] name the tenant under a seal that only `keys.links` opens', async () => {
    const all = tenants({ isLong: true });
    await all.host.start('refund', {}, { caller: of('caller@a') });
    const [url = ''] = all.urls;
    expect(url).not.toContain('/YQ~');
    const own = { load: () => keyOf('k1', 97), tenantOf };
    expect(
      (
        await post(
          tenants({ isLong: true, keys: { ...own, links: keyOf('links', 8) } }),
          url,
          'ann@a',
        )
      ).status,
    ).toBe(404);
    const rotated = { ...own, links: `${keyOf('new', 9)},${keyOf('links', 7)}` };
    expect((await post(tenants({ isLong: true, keys: rotated }), url, 'ann@a')).status).toBe(200);
    expect(() => tenants({ isLong: true, keys: own })).toThrow(
      expect.objectContaining({ code: 'missing_option' }),
    );
    expect(() => tenants({ isLong: true, keys: { ...own, links: 'short' } })).toThrow('keys.links');
  });
});
