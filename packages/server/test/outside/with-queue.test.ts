import {
  approval,
  continueAs,
  memoryStore,
  memoryQueue,
  saga,
  step,
  type Program,
  type SagaHost,
} from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import { testClock } from '../fixtures/clock.ts';
import type { HostChanges } from '../fixtures/host-changes.ts';
import { deferred } from '../fixtures/deferred.ts';
import { queued, type Queued } from '../queue/queued.ts';
import { base, caller, day, hour, OutsideCase, user } from './case.ts';

const ann = user('ann');
const form = { origin: 'null', 'sec-fetch-site': 'same-origin' };

function answer(
  host: SagaHost,
  url: string,
  decision: 'approve' | 'deny' = 'approve',
): Promise<Response> {
  const request = new Request(url, {
    method: 'POST',
    headers: form,
    body: new URLSearchParams({ decision }),
  });
  return host.answer(request, { caller: ann });
}

interface World extends Queued {
  readonly urls: string[];
  readonly did: string[];
  readonly woken: string[];
}

function refund(urls: string[], did: string[], message = 'Refund?', version = '1'): Program {
  return saga({ name: 'refund', version }, function* () {
    yield* step('reserve', () => void did.push('reserve'), {
      compensate: () => void did.push('release'),
    });
    const { approved } = yield* approval('manager', {
      message,
      timeout: 2 * day,
      deliver: ({ url }) => void urls.push(url),
    });
    yield* step('pay', () => void did.push(approved ? 'pay' : 'refuse'));
    return String(approved);
  });
}

const outside = (clock: () => number): HostChanges => ({
  store: memoryStore({ clock, olderTokens: 'accept' }),
  url: base,
});

function world(make: typeof refund = refund): World {
  const urls: string[] = [];
  const did: string[] = [];
  const woken: string[] = [];
  const test: Queued = queued(
    make(urls, did),
    outside(() => test.clock.now),
  );
  test.queue.wake = (sagaId) => void woken.push(sagaId);
  return { ...test, urls, did, woken };
}

describe('an approval without a queue', () => {
  async function warnings(options: object, changes: HostChanges = {}): Promise<readonly string[]> {
    const told: string[] = [];
    const hooks = { onWarning: (message: string) => void told.push(message), ...changes.hooks };
    const test = new OutsideCase(options, {
      store: memoryStore({ clock: () => 0, olderTokens: 'accept' }),
      ...changes,
      hooks,
    });
    await test.start();
    await test.start();
    return told;
  }

  it.each([{ remindEvery: hour }, { escalate: [{ after: hour }] }])(
    'warns once of reminders and escalations that wait for the client: %o',
    async (options) => {
      expect(await warnings(options)).toEqual([
        expect.stringMatching(/'refund'.*#missing_option$/),
      ]);
    },
  );

  it('causes no warning about other parts of the host', async () => {
    expect(await warnings({})).toEqual([]);
    const changes = { queue: { send: () => undefined }, store: memoryStore() };
    expect(await warnings({ remindEvery: hour }, changes)).not.toContainEqual(
      expect.stringContaining('missing_option'),
    );
  });
});

describe('an approval with a queue', () => {
  it('[E8] continues when an answer wakes the saga, before its message is due', async () => {
    const all = world();
    const { sagaId } = suspended(await all.host.start('refund', {}, { caller }));
    expect((await answer(all.host, all.urls[0] ?? '')).status).toBe(200);
    expect(all.woken).toEqual([sagaId]);
    all.clock.now += 5_000;
    expect(await all.host.deliver(all.queue.sent.at(-1)!.message)).toEqual({
      status: 'ended',
      sagaId,
    });
    expect(all.did).toEqual(['reserve', 'pay']);
    // A repeated answer and a repeated message change nothing.
    expect((await answer(all.host, all.urls[0] ?? '', 'deny')).status).toBe(409);
    expect(all.woken).toHaveLength(1);
    expect(await all.host.deliver(all.queue.sent.at(-1)!.message)).toMatchObject({
      status: 'ended',
    });
    expect(all.did).toEqual(['reserve', 'pay']);
  });

  it('[E8] continues if its first client dies in the turn that sent the link', async () => {
    const urls: string[] = [];
    const did: string[] = [];
    const late = deferred<undefined>();
    const program = saga({ name: 'refund', version: '1' }, function* () {
      const { approved } = yield* approval('manager', {
        message: 'Refund?',
        timeout: 2 * day,
        deliver: async ({ url }) => {
          urls.push(url);
          await late.promise;
        },
      });
      yield* step('pay', () => void did.push(approved ? 'pay' : 'refuse'));
      return String(approved);
    });
    const all: Queued = queued(
      program,
      outside(() => all.clock.now),
    );
    // The first request of the call.
    void all.host.start('refund', {}, { caller }).catch(() => undefined);
    await expect.poll(() => urls).toHaveLength(1);
    expect((await answer(all.host, urls[0] ?? '')).status).toBe(200);
    const other = all.restart();
    all.clock.now += 60_000;
    late.resolve(undefined);
    const { message } = all.queue.sent.at(0)!;
    expect(await other.deliver(message)).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['pay']);
  });

  it('[E8] is woken on two hosts at once, and runs once', async () => {
    const all = world();
    await all.host.start('refund', {}, { caller });
    const other = all.restart();
    all.clock.now += 1_000;
    await answer(other, all.urls[0] ?? '');
    const { message } = all.queue.sent.at(-1)!;
    await Promise.allSettled([all.host.deliver(message), other.deliver(message)]);
    expect(all.did).toEqual(['reserve', 'pay']);
  });

  it('[E8] keeps an answer that is stored while a turn reads the store', async () => {
    const urls: string[] = [];
    const did: string[] = [];
    const clock = testClock();
    const stored = memoryStore({ clock });
    const read = deferred<undefined>();
    let isSlow = false;
    const began = deferred<undefined>();
    const store = {
      ...stored,
      list: async (box: string) => {
        const found = await stored.list(box);
        if (isSlow) {
          isSlow = false;
          began.resolve(undefined);
          await read.promise;
        }
        return found;
      },
    };
    const queue = memoryQueue();
    const test = queued(refund(urls, did), {
      store,
      url: base,
      queue,
      testing: { clock, sleep: () => new Promise(() => undefined) },
    });
    await test.host.start('refund', {}, { caller });
    clock.now += hour;
    isSlow = true;
    const delivered = queue.deliverDue();
    await began.promise;
    // The turn at hand has read the store without this answer, and its message is gone from the
    // queue.
    expect((await answer(test.host, urls[0] ?? '')).status).toBe(200);
    read.resolve(undefined);
    await delivered;
    clock.now += 30_000;
    await queue.deliverDue();
    expect(did).toEqual(['reserve', 'pay']);
    expect(queue.size).toBe(0);
  });

  it('[E8] refuses answers after a cancellation, and undoes once', async () => {
    const all = world();
    const { token } = suspended(await all.host.start('refund', {}, { caller }));
    const { message } = all.queue.sent.at(-1)!;
    await all.host.cancel(token, { caller });
    expect((await answer(all.host, all.urls[0] ?? '')).status).toBe(409);
    expect(all.woken).toEqual([]);
    expect(await all.host.deliver(message).catch((error: unknown) => error)).toBeDefined();
    expect(all.did).toEqual(['reserve', 'release']);
  });

  it('[E8] ends by its timeout without a client, and refuses later answers', async () => {
    const all = world();
    await all.host.start('refund', {}, { caller });
    all.clock.now += 2 * day;
    expect((await answer(all.host, all.urls[0] ?? '')).status).toBe(410);
    await all.drain();
    expect((await answer(all.host, all.urls[0] ?? '')).status).toBe(409);
    expect(all.did).toEqual(['reserve', 'refuse']);
  });

  it('[E8] of a removed version is closed after the saga has ended', async () => {
    const all = world();
    await all.host.start('refund', {}, { caller });
    const later = saga({ name: 'refund', version: '2' }, function* () {
      yield* step('other', () => 1);
      return '';
    });
    const host = all.restart({ sagas: [later] });
    // The page needs no code of the saga.
    expect((await answer(host, all.urls[0] ?? '')).status).toBe(200);
    const { message } = all.queue.sent.at(-1)!;
    await expect(host.deliver(message)).rejects.toMatchObject({ code: 'version_gone' });
    // A rollback finds the answer.
    expect(await all.host.deliver(message)).toMatchObject({ status: 'ended' });
    expect(all.did).toEqual(['reserve', 'pay']);
  });

  it('[E8] accepts no answer to a link from before `continueAs`', async () => {
    const urls: string[] = [];
    const did: string[] = [];
    const ask = (id: string) =>
      approval(id, { message: 'Same?', timeout: day, deliver: ({ url }) => void urls.push(url) });
    const next: Program = saga({ name: 'next', version: '1' }, function* () {
      const { approved } = yield* ask('manager');
      yield* step('pay', () => void did.push(`next ${approved}`));
      return '';
    });
    const first = saga({ name: 'first', version: '1' }, function* () {
      const { approved } = yield* ask('manager');
      yield* step('pay', () => void did.push(`first ${approved}`));
      return yield* continueAs(next as never, {});
    });
    const all: Queued = queued(
      [first, next],
      outside(() => all.clock.now),
    );
    await all.host.start('first', {}, { caller });
    await answer(all.host, urls[0] ?? '');
    expect(await all.next()).toMatchObject({ status: 'waiting' });
    expect(urls).toHaveLength(2);
    expect((await answer(all.host, urls[0] ?? '', 'deny')).status).toBe(409);
    await answer(all.host, urls[1] ?? '', 'deny');
    expect(await all.next()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['first true', 'next false']);
  });
});
