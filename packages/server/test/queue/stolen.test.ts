import { approval, memoryStore, saga, step, TokenRefused, type SagaCaller } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { suspended } from '../fixtures/host.ts';
import { base, day, hour, user } from '../outside/case.ts';
import { queued, type Queued } from './queued.ts';

const victim: SagaCaller = { principal: { subject: 'victim', client: 'app' } };
const others: readonly SagaCaller[] = [
  { principal: { subject: 'thief', client: 'app' } },
  { principal: { subject: 'victim', client: 'app', issuer: 'https://elsewhere.example' } },
  {},
];

interface World extends Queued {
  /** Tokens of the saga, the oldest first. */
  readonly tokens: string[];
  readonly urls: string[];
  readonly did: string[];
}

/** A saga that its queue has driven for three turns. All its tokens are stolen. */
async function stolen(): Promise<World> {
  const did: string[] = [];
  const urls: string[] = [];
  const refund = saga({ name: 'refund', version: '1' }, function* () {
    yield* step('reserve', () => void did.push('reserve'), {
      compensate: () => void did.push('release'),
    });
    const { approved } = yield* approval('manager', {
      message: 'Refund?',
      remindEvery: hour,
      timeout: 2 * day,
      deliver: ({ url, isReminder }) => {
        urls.push(url);
        if (isReminder) did.push('remind');
      },
    });
    yield* step('pay', () => void did.push(approved ? 'pay' : 'refuse'));
    return String(approved);
  });
  const test: Queued = queued(refund, {
    store: memoryStore({ clock: () => test.clock.now }),
    url: base,
  });
  const { token: first } = suspended(await test.host.start('refund', {}, { caller: victim }));
  test.clock.now += hour + 30_000;
  const { token: second } = suspended(await test.host.resume(first, [], { caller: victim }));
  await test.next();
  await test.next();
  return { ...test, tokens: [first, second], urls, did };
}

/** All that a thief can do with a token. */
const uses: readonly [
  string,
  (world: World, token: string, caller: SagaCaller) => Promise<unknown>,
][] = [
  ['resume', ({ host }, token, caller) => host.resume(token, [], { caller })],
  [
    'resume with answers',
    ({ host }, token, caller) =>
      host.resume(token, [{ stepId: 'manager', result: { action: 'accept', content: {} } }], {
        caller,
      }),
  ],
  ['cancel', ({ host }, token, caller) => host.cancel(token, { caller })],
  ['deliver', ({ host }, token) => host.deliver({ sagaId: 'any', turn: 9, token })],
];

const used = uses.flatMap(([name, use]) => others.map((caller) => [name, use, caller] as const));

describe('stolen tokens of a saga that a queue drives', () => {
  it('[T3] [T5] are refused everywhere, with no difference between running and ended sagas', async () => {
    const running = await stolen();
    const before = [...running.did];
    const sent = running.queue.sent.length;
    const reasonsOf = async (world: World): Promise<readonly string[]> => {
      const reasons: string[] = [];
      for (const token of world.tokens) {
        for (const [name, use, caller] of used) {
          const error: unknown = await use(world, token, caller).catch((thrown: unknown) => thrown);
          expect(error, name).toBeInstanceOf(TokenRefused);
          expect(JSON.stringify(error)).not.toContain('refund');
          reasons.push(
            `${name}: ${(error as TokenRefused).reason}, ${(error as TokenRefused).message}`,
          );
        }
      }
      return reasons;
    };
    const reasons = await reasonsOf(running);
    expect(running.did).toEqual(before);
    expect(running.queue.sent).toHaveLength(sent);
    expect(running.queue.removed).toEqual([]);
    const ended = await stolen();
    await ended.host.cancel(ended.tokens[1] ?? '', { caller: victim });
    expect(ended.did).toEqual([...before, 'release']);
    expect(await reasonsOf(ended)).toEqual(reasons);
    // The saga ends as it would have, with each effect once.
    running.clock.now += 2 * day;
    await running.drain();
    expect(running.did.filter((what) => what !== 'remind')).toEqual(['reserve', 'refuse']);
  });

  it('[T3] open neither a message of the queue as a token, nor a page', async () => {
    const world = await stolen();
    const before = [...world.did];
    for (const { message } of world.queue.sent) {
      for (const caller of [victim, ...others]) {
        for (const [name, use] of uses.slice(0, 3)) {
          const error: unknown = await use(world, message.token, caller).catch(
            (thrown: unknown) => thrown,
          );
          expect(error, name).toBeInstanceOf(TokenRefused);
        }
      }
      const page = new Request(`${base}/saga/answer/${message.token}`);
      expect((await world.host.answer(page, { caller: user('ann') })).status).toBe(404);
    }
    expect(world.did).toEqual(before);
  });

  it('[E1] [T13] run no effect twice for a thief who is signed in as the victim', async () => {
    const world = await stolen();
    const { host, queue, did, tokens } = world;
    const restarted = world.restart();
    const form = { origin: 'null', 'sec-fetch-site': 'same-origin' };
    const body = new URLSearchParams({ decision: 'approve' });
    const approve = new Request(world.urls[0] ?? '', { method: 'POST', headers: form, body });
    // Older messages and older tokens, at the same time, on two hosts, while an answer comes.
    await Promise.allSettled([
      ...tokens.flatMap((token) => [
        host.resume(token, [], { caller: victim }),
        restarted.resume(token, [], { caller: victim }),
      ]),
      ...queue.sent.flatMap(({ message }) => [host.deliver(message), restarted.deliver(message)]),
      host.answer(approve, { caller: user('ann') }),
    ]);
    await world.drain();
    // Whatever is sent again changes nothing.
    await Promise.allSettled([
      ...tokens.flatMap((token) => [
        host.resume(token, [], { caller: victim }),
        restarted.cancel(token, { caller: victim }),
      ]),
      ...queue.sent.map(({ message }) => restarted.deliver(message)),
    ]);
    expect(did.filter((what) => what !== 'remind')).toEqual(['reserve', 'pay']);
  });
});
