import {
  all,
  checkpoint,
  continueAs,
  createSagaHost,
  elicit,
  generateKey,
  info,
  pivot,
  memoryStore,
  poll,
  race,
  saga,
  sleep,
  step,
  StepTimedOut,
  TokenRefused,
  type Program,
  type Steps,
} from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { coreOf } from '../../src/saga-host.ts';
import { deferred } from '../fixtures/deferred.ts';
import { suspended } from '../fixtures/host.ts';
import { hour, minute, Ok, queued, type Queued } from './queued.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const options = { version: '1' } as const;
const yes = (stepId: string, ok = true) => [
  { stepId, result: { action: 'accept' as const, content: { ok } } },
];

const order = (body: () => Steps<unknown>): Program =>
  saga({ name: 'order', ...options }, function* () {
    return `got ${JSON.stringify(yield* body())}`;
  });

/** Asks its client, and polls meanwhile. The poll ends with a request after `most`. */
const asksAndPolls = (did: string[], most = 3) =>
  order(function* () {
    const { sure } = yield* all({
      sure: elicit('sure', { message: 'Sure?', schema: Ok }),
      packed: poll('packed', () => (did.push('poll') > most ? true : undefined), {
        every: hour,
        timeout: 24 * hour,
      }),
    });
    yield* step('ship', () => void did.push('ship'));
    return sure.ok;
  });

const newest = ({ queue }: Queued) => queue.sent.at(-1)!;

describe('a client beside the queue', () => {
  it('[W4] may answer with a token that the queue has used', async () => {
    const did: string[] = [];
    const world = queued(asksAndPolls(did));
    const { token } = suspended(await world.host.start('order', {}));
    await world.next();
    await world.next();
    expect(did).toEqual(['poll', 'poll', 'poll']);
    const { token: next, steps } = suspended(await world.host.resume(token, yes('sure')));
    expect(steps).toEqual([]);
    // Repeated, it gets the same response.
    expect(await world.host.resume(token, yes('sure'))).toMatchObject({ token: next });
    // With another answer, it is a fork.
    await expect(world.host.resume(token, yes('sure', false))).rejects.toThrow(TokenRefused);
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    const end = { status: 'completed', result: 'got true' };
    expect(await world.host.resume(token, yes('sure'))).toMatchObject(end);
    expect(await world.host.resume(next)).toMatchObject(end);
    expect(did.filter((what) => what === 'ship')).toEqual(['ship']);
  });

  it('[W4] [T13] gets the newest turn for its decision, and no other, when the responses between are gone', async () => {
    const did: string[] = [];
    const world = queued(asksAndPolls(did, 12));
    const { token, sagaId } = suspended(await world.host.start('order', {}));
    for (let turns = 0; turns < 4; turns += 1) await world.next();
    suspended(await world.host.resume(token, yes('sure')));
    for (let turns = 0; turns < 4; turns += 1) await world.next();
    expect((await world.store.read({ group: sagaId, name: 'turn:1' }))?.body).toBeUndefined();
    const turn = suspended(await world.host.resume(token, yes('sure')));
    expect(turn.turn).toBeGreaterThan(8);
    expect(turn.unknown).toBeUndefined();
    await expect(world.host.resume(token, yes('sure', false))).rejects.toThrow(TokenRefused);
    await expect(world.host.cancel(token)).rejects.toThrow(TokenRefused);
    expect(suspended(await world.host.resume(token)).token).toBe(turn.token);
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    const end = { status: 'completed', result: 'got true' };
    expect(await world.host.resume(token, yes('sure'))).toMatchObject(end);
    await expect(world.host.resume(token, yes('sure', false))).rejects.toThrow(TokenRefused);
    expect(did.filter((what) => what === 'ship')).toEqual(['ship']);
  });

  it('[W4] gets the newest turn for its decision, also if only one of its answers was still wanted', async () => {
    const world = queued(
      order(function* () {
        const { sure } = yield* all({
          sure: elicit('sure', { message: 'Sure?', schema: Ok }),
          gift: (function* () {
            try {
              yield* elicit('gift', { message: 'As a gift?', schema: Ok, timeout: hour });
            } catch {
              // No gift.
            }
          })(),
        });
        for (let wait = 0; wait < 6; wait += 1) yield* sleep(hour);
        return sure.ok;
      }),
      { limits: { tokenTtl: 24 * hour, maxHold: 0 } },
    );
    const { token } = suspended(await world.host.start('order', {}));
    await world.next();
    const both = [...yes('sure'), ...yes('gift/gift')];
    expect(suspended(await world.host.resume(token, both)).unknown).toEqual(['gift/gift']);
    for (let turns = 0; turns < 4; turns += 1) await world.next();
    expect(suspended(await world.host.resume(token, both)).turn).toBeGreaterThan(5);
    await expect(world.host.resume(token, yes('sure', false))).rejects.toThrow(TokenRefused);
  });

  it('[W4] gets the newest turn for its decision, also after another decision', async () => {
    const did: string[] = [];
    const world = queued(
      order(function* () {
        const { sure } = yield* all({
          sure: elicit('sure', { message: 'Sure?', schema: Ok }),
          packed: poll('packed', () => (did.push('poll') > 1 ? true : undefined), {
            every: hour,
            timeout: 24 * hour,
          }),
        });
        yield* elicit('gift', { message: 'As a gift?', schema: Ok });
        for (let wait = 0; wait < 6; wait += 1) yield* sleep(hour);
        return sure.ok;
      }),
      { limits: { tokenTtl: 24 * hour, maxHold: 0 } },
    );
    const { token } = suspended(await world.host.start('order', {}));
    await world.next();
    const { token: next } = suspended(await world.host.resume(token, yes('sure')));
    suspended(await world.host.resume(next, yes('gift')));
    for (let turns = 0; turns < 4; turns += 1) await world.next();
    const turn = suspended(await world.host.resume(token, yes('sure')));
    expect(turn.turn).toBeGreaterThan(5);
    expect(turn.unknown).toBeUndefined();
    await expect(world.host.resume(token, yes('sure', false))).rejects.toThrow(TokenRefused);
    await expect(world.host.cancel(token)).rejects.toThrow(TokenRefused);
  });

  it.each([
    ['another saga', true],
    ['the same saga', false],
  ])('[W4] is told that its late answer is not wanted, when %s has gone on', async (_, moves) => {
    const second = saga({ name: 'second', ...options }, function* () {
      yield* elicit('sure', { message: 'Really?', schema: Ok });
      for (let wait = 0; wait < 6; wait += 1) yield* sleep(hour);
      return 'done';
    });
    const first = order(function* () {
      try {
        yield* elicit('sure', { message: 'Sure?', schema: Ok, timeout: hour });
      } catch {
        // The question is over.
      }
      yield* sleep(hour);
      if (moves) yield* continueAs(second, {});
      yield* elicit('really', { message: 'Really?', schema: Ok });
      for (let wait = 0; wait < 6; wait += 1) yield* sleep(hour);
      return 'done';
    });
    const world = queued([first, second], { limits: { tokenTtl: 24 * hour, maxHold: 0 } });
    const { token } = suspended(await world.host.start('order', {}));
    await world.next();
    await world.next();
    const { token: next, steps } = suspended(await world.host.resume(token));
    suspended(await world.host.resume(next, yes(steps[0]?.stepId ?? '')));
    for (let turns = 0; turns < 4; turns += 1) await world.next();
    for (const ok of [true, false])
      expect(suspended(await world.host.resume(token, yes('sure', ok))).unknown).toEqual(['sure']);
  });

  it('[W4] [E7] cancels the newest turn if only time has moved the saga on, and its responses are gone', async () => {
    const did: string[] = [];
    const world = queued(asksAndPolls(did, 12));
    const { token } = suspended(await world.host.start('order', {}));
    for (let turns = 0; turns < 5; turns += 1) await world.next();
    expect(await world.host.cancel(token)).toMatchObject({ status: 'failed' });
    expect(await world.host.cancel(token)).toMatchObject({ status: 'failed' });
    await expect(world.host.resume(token, yes('sure'))).rejects.toThrow(TokenRefused);
    expect(did).not.toContain('ship');
  });

  it('[W4] gets the newest question if its own is no longer open', async () => {
    const world = queued(
      order(function* () {
        try {
          return yield* elicit('sure', { message: 'Sure?', schema: Ok, timeout: hour });
        } catch (error) {
          if (!(error instanceof StepTimedOut)) throw error;
        }
        return yield* elicit('really', { message: 'Really?', schema: Ok });
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    expect(await world.next()).toMatchObject({ status: 'waiting' });
    const next = suspended(await world.host.resume(token, yes('sure')));
    expect(next).toMatchObject({ turn: 2, steps: [{ stepId: 'really' }], unknown: ['sure'] });
    expect(await world.host.resume(next.token, yes('really'))).toMatchObject({
      result: 'got {"ok":true}',
    });
  });

  it('[W6] waits for the rest of a wait that the queue has begun', async () => {
    const world = queued(
      order(function* () {
        yield* sleep(hour);
        yield* step('remind', () => undefined);
        yield* sleep(hour);
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    await world.next();
    world.clock.now += 10 * minute;
    expect(await world.host.resume(token)).toMatchObject({
      status: 'suspended',
      turn: 2,
      retryAfterMs: 50 * minute,
    });
  });

  it('[E1] [T13] shares a turn with the queue: only one runs it, and both get its response', async () => {
    const runs: string[] = [];
    const world = queued(
      order(function* () {
        yield* sleep(hour);
        yield* step('ship', ({ idempotencyKey }) => void runs.push(idempotencyKey));
        yield* sleep(hour);
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    const { message, at } = newest(world);
    world.clock.now = at;
    const [one, other, third] = await Promise.all([
      world.host.resume(token),
      world.restart().deliver(message),
      world.restart().deliver(message),
    ]);
    expect(one).toMatchObject({ status: 'suspended', turn: 2 });
    expect([other, third]).toMatchObject([{ status: 'waiting' }, { status: 'waiting' }]);
    expect(runs).toHaveLength(1);
  });

  it('[W4] [T13] may answer while the queue runs the turn', async () => {
    const begun = deferred<() => void>();
    const did: string[] = [];
    const world = queued(
      order(function* () {
        const { sure } = yield* all({
          sure: elicit('sure', { message: 'Sure?', schema: Ok }),
          packed: poll(
            'packed',
            () =>
              did.push('poll') === 1
                ? undefined
                : new Promise((resolve) => {
                    begun.resolve(() => resolve(true));
                  }),
            { every: hour, timeout: 24 * hour },
          ),
        });
        return sure.ok;
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    const { message, at } = newest(world);
    world.clock.now = at;
    const delivered = world.host.deliver(message);
    const goOn = await begun.promise;
    const answered = world.restart().resume(token, yes('sure'));
    goOn();
    expect(await delivered).toMatchObject({ status: 'waiting' });
    expect(await answered).toMatchObject({ status: 'completed', result: 'got true' });
    expect(did).toEqual(['poll', 'poll']);
  });

  it('[E7] [E8] may cancel the newest turn with a token that the queue has used', async () => {
    const did: string[] = [];
    const world = queued(
      order(function* () {
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => void did.push('refund'),
        });
        yield* sleep(hour);
        yield* step('pack', () => void did.push('pack'), {
          compensate: () => void did.push('unpack'),
        });
        yield* sleep(hour);
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    await world.next();
    const end = { status: 'failed', compensated: [{ stepId: 'pack' }, { stepId: 'charge' }] };
    expect(await world.host.cancel(token)).toMatchObject(end);
    expect(await world.host.cancel(token)).toMatchObject(end);
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'pack', 'unpack', 'refund']);
  });

  it('[E8] [E9] that does not return has its interrupted request finished by the queue, with its answers', async () => {
    const keys: string[] = [];
    const world = queued(
      order(function* () {
        const { ok } = yield* elicit('sure', { message: 'Sure?', schema: Ok, timeout: 2 * hour });
        yield* step('ship', ({ idempotencyKey }) => void keys.push(idempotencyKey), {
          compensate: () => undefined,
          unknown: 'compensate',
        });
        return ok;
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    const dying = world.restart({
      store: storeWithGuard(
        () => ({ finish: () => Promise.reject(new Error('killed')) }),
        world.store,
      ),
    });
    await expect(dying.resume(token, yes('sure'))).rejects.toMatchObject({ code: 'guard_down' });
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    expect(keys).toEqual([keys[0], keys[0]]);
    expect(await world.host.resume(token, yes('sure'))).toMatchObject({ result: 'got true' });
  });

  it('[E8] [T13] continues the turn of a queue process that died', async () => {
    const keys: string[] = [];
    const world = queued(
      order(function* () {
        const { sure } = yield* all({
          sure: elicit('sure', { message: 'Sure?', schema: Ok }),
          later: (function* () {
            yield* sleep(hour);
            yield* step('ship', ({ idempotencyKey }) => void keys.push(idempotencyKey));
          })(),
        });
        return sure.ok;
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    const dying = world.restart({
      store: storeWithGuard(
        () => ({ finish: () => Promise.reject(new Error('killed')) }),
        world.store,
      ),
    });
    await expect(world.next(dying)).rejects.toMatchObject({ code: 'guard_down' });
    world.clock.now += 2 * minute;
    expect(await world.host.resume(token, yes('sure'))).toMatchObject({ result: 'got true' });
    expect(keys).toEqual([keys[0], keys[0]]);
  });

  it.each([
    ['its start', 0],
    ['its start', 8 * 24 * hour],
    ['an answer', 0],
    ['an answer', 8 * 24 * hour],
  ])(
    '[E5] [E8] goes on past its pivot after a kill in %s, although the queue is late by %i ms',
    async (request, late) => {
      const did: string[] = [];
      const world = queued(
        order(function* () {
          if (request === 'an answer') yield* elicit('sure', { message: 'Sure?', schema: Ok });
          yield* step('look', async () => {
            did.push('look');
            if (did.length === 1) await new Promise(() => undefined);
          });
          yield* pivot('booked');
          yield* step('charge', () => void did.push('charge'));
          yield* sleep(1_500);
          yield* step('thank', () => void did.push('thank'));
        }),
      );
      const begun = world.host.start('order', {}, { idempotencyKey: 'one' });
      // The process dies in the step.
      if (request === 'an answer')
        void world.host.resume(suspended(await begun).token, yes('sure'));
      await expect.poll(() => did).toEqual(['look']);
      world.clock.now += late;
      expect(await world.drain()).toMatchObject({ status: 'ended' });
      expect(did).toEqual(['look', 'look', 'charge', 'thank']);
    },
  );

  it.each([
    ['its answer was interrupted', true],
    ['it slept', false],
  ])(
    '[E5] [E8] goes on as another saga past a pivot, although the queue is late by days: %s',
    async (_, isInterrupted) => {
      const did: string[] = [];
      const tickets = saga({ name: 'tickets', ...options }, function* () {
        yield* pivot('booked');
        yield* step('charge', () => void did.push('charge'));
        yield* sleep(1_500);
        yield* step('thank', () => void did.push('thank'));
        return 'thanks';
      });
      const tour = saga({ name: 'tour', ...options }, function* () {
        if (isInterrupted) yield* elicit('sure', { message: 'Sure?', schema: Ok });
        else yield* sleep(hour);
        yield* step('look', async () => {
          did.push('look');
          if (isInterrupted && did.length === 1) await new Promise(() => undefined);
        });
        yield* pivot('asked');
        return yield* continueAs(tickets, undefined);
      });
      const world = queued([tour, tickets]);
      const { token } = suspended(await world.host.start('tour', {}));
      if (isInterrupted) {
        // The process dies in the step.
        void world.host.resume(token, yes('sure'));
        await expect.poll(() => did).toEqual(['look']);
      }
      world.clock.now += 8 * 24 * hour;
      expect(await world.drain()).toMatchObject({ status: 'ended' });
      expect(did.filter((what) => what !== 'look')).toEqual(['charge', 'thank']);
    },
  );

  it('[W4] reads each page by a request of its own', async () => {
    const did: string[] = [];
    const world = queued(
      order(function* () {
        yield* step('read', () => void did.push('read 1'));
        yield* checkpoint('page 1');
        yield* step('read', () => void did.push('read 2'));
      }),
    );
    const { expiresAt } = suspended(await world.host.start('order', {}));
    expect(newest(world).at).toBe(expiresAt + minute);
    expect(await world.next()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['read 1']);
  });

  it('[E1] continues a saga that returned at once, because the queue waits until its first token expires', async () => {
    const did: string[] = [];
    const first = saga({ name: 'order', ...options }, function* () {
      yield* step('charge', () => void did.push('charge'), { compensate: () => undefined });
      yield* sleep(hour);
      return 'done';
    });
    const world = queued(first, { starts: { unkeyed: 'handshake' } });
    const { token, expiresAt } = suspended(await world.host.start('order', {}));
    expect(newest(world).at).toBe(expiresAt + minute);
    suspended(await world.host.resume(token));
    expect(did).toEqual(['charge']);
    expect(await world.next()).toMatchObject({ status: 'ended' });
  });

  it('[W3] has its capabilities stored for turns of the queue', async () => {
    const world = queued(
      order(function* () {
        yield* sleep(hour);
        return yield* elicit('gift', {
          message: 'As a gift?',
          schema: Ok,
          fallback: () => ({ ok: false }),
        });
      }),
    );
    const caller = { capabilities: { sampling: {} } };
    const { token } = suspended(await world.host.start('order', {}, { caller }));
    expect(await world.next()).toMatchObject({ status: 'ended' });
    expect(await world.host.resume(token, [], { caller })).toMatchObject({
      result: 'got {"ok":false}',
    });
    const told = queued(
      order(function* () {
        yield* sleep(hour);
        return (yield* info()).capabilities;
      }),
    );
    const known = suspended(await told.host.start('order', {}, { caller }));
    expect(await told.next()).toMatchObject({ status: 'ended' });
    expect(await told.host.resume(known.token)).toMatchObject({ result: 'got {"sampling":{}}' });
    // A client with elicitation gets the question.
    const asked = suspended(
      await world.host.start('order', {}, { caller: { capabilities: { elicitation: {} } } }),
    );
    expect(await world.next()).toMatchObject({ status: 'waiting' });
    expect(await world.host.resume(asked.token)).toMatchObject({ steps: [{ stepId: 'gift' }] });
  });

  it('[W1] has no token after its connection ends, so the queue only undoes the saga', async () => {
    const did: string[] = [];
    const world = queued(
      order(function* () {
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => void did.push('refund'),
        });
        yield* sleep(hour);
        yield* step('ship', () => void did.push('ship'));
      }),
    );
    const core = coreOf(world.host);
    suspended(await core.start('order', {}, {}, { dialect: { endsOnAbort: true } }));
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'refund']);
  });

  it('[T6] keeps its full time to answer after a turn of the queue', async () => {
    const world = queued(
      order(function* () {
        try {
          yield* race({
            sure: elicit('sure', { message: 'Sure?', schema: Ok, timeout: hour }),
            later: sleep(3 * hour),
          });
        } catch (error) {
          if (!(error instanceof StepTimedOut)) throw error;
        }
        return yield* elicit('really', { message: 'Really?', schema: Ok });
      }),
    );
    const { token, expiresAt } = suspended(await world.host.start('order', {}));
    expect(await world.next()).toMatchObject({ status: 'waiting', at: expiresAt + minute });
    world.clock.now = expiresAt - minute;
    const next = suspended(await world.host.resume(token));
    expect(await world.host.resume(next.token, yes('really'))).toMatchObject({
      result: 'got {"ok":true}',
    });
  });

  it('[E7] [T6] is not required to continue as another saga', async () => {
    const second = saga(
      { name: 'second', ...options, input: z.object({ of: z.string() }) },
      function* ({ of }) {
        yield* sleep(hour);
        return `second of ${of}`;
      },
    );
    const world = queued(
      [
        order(function* () {
          yield* sleep(hour);
          return yield* continueAs(second, { of: 'order' });
        }),
        second,
      ],
      {
        auth: { authorize: ({ principal }) => principal !== undefined },
        limits: { tokenTtl: 24 * hour, maxHold: 0 },
      },
    );
    const caller = { principal: { subject: 'ann', client: 'app' } };
    const { token } = suspended(await world.host.start('order', {}, { caller }));
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    expect(await world.host.resume(token, [], { caller })).toMatchObject({
      result: 'second of order',
    });
    await expect(world.host.resume(token, [], { caller: 'anonymous' })).rejects.toThrow(
      TokenRefused,
    );
  });
});

describe('a failure around the queue', () => {
  const sleeps = (did: string[]) =>
    order(function* () {
      yield* sleep(hour);
      yield* step('ship', () => void did.push('ship'));
      yield* sleep(hour);
    });

  it('[E10] of the queue fails no turn, and the next request of the client sends the message again', async () => {
    const world = queued(sleeps([]));
    world.queue.isDown = true;
    const { token } = suspended(await world.host.start('order', {}));
    expect(world.errors).toMatchObject([{ code: 'queue_down' }]);
    world.queue.isDown = false;
    // Nothing is due, so the saga stays in its turn.
    expect(await world.host.resume(token)).toMatchObject({ turn: 1 });
    expect(world.queue.sent).toMatchObject([{ message: { turn: 1 } }]);
    world.clock.now += hour;
    world.queue.isDown = true;
    suspended(await world.host.resume(token));
    world.queue.isDown = false;
    suspended(await world.host.resume(token));
    expect(newest(world)).toMatchObject({ message: { turn: 2 } });
  });

  it('[E8] of the queue leaves the older message, which leads to the newest turn, also hours late', async () => {
    const did: string[] = [];
    const world = queued(
      order(function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => void did.push('refund'),
        });
        yield* elicit('really', { message: 'Really?', schema: Ok });
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    const { message, at } = newest(world);
    world.queue.isDown = true;
    suspended(await world.host.resume(token, yes('sure')));
    world.queue.isDown = false;
    expect(world.queue.sent).toHaveLength(1);
    // The client does not return.
    world.clock.now = at + 12 * hour;
    expect(await world.restart().deliver(message)).toMatchObject({ status: 'outdated' });
    expect(newest(world).message.turn).toBe(2);
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'refund']);
  });

  it('[E8] of the queue in a delivery causes another delivery, which repeats no effect', async () => {
    const did: string[] = [];
    const world = queued(sleeps(did));
    await world.host.start('order', {});
    const { message, at } = newest(world);
    world.clock.now = at;
    world.queue.isDown = true;
    await expect(world.host.deliver(message)).rejects.toMatchObject({ code: 'queue_down' });
    await expect(world.host.deliver(message)).rejects.toMatchObject({ code: 'queue_down' });
    world.queue.isDown = false;
    expect(await world.host.deliver(message)).toMatchObject({ status: 'waiting' });
    expect(newest(world)).toMatchObject({ message: { turn: 2 } });
    expect(did).toEqual(['ship']);
  });

  it('[E8] of a process, with a redelivery hours later, loses no turn', async () => {
    const did: string[] = [];
    const world = queued(sleeps(did));
    const { expiresAt } = suspended(await world.host.start('order', {}));
    const { message } = newest(world);
    world.clock.now = expiresAt + 5 * hour;
    world.queue.isDown = true;
    await expect(world.host.deliver(message)).rejects.toMatchObject({ code: 'queue_down' });
    world.queue.isDown = false;
    world.clock.now += 20 * hour;
    expect(await world.host.deliver(message)).toMatchObject({ status: 'waiting' });
    expect(await world.next()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['ship']);
  });

  it('[E7] [E8] of a guard that lost its turns stops a saga, and an abandoned saga is undone', async () => {
    const did: string[] = [];
    const world = queued(
      order(function* () {
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => void did.push('refund'),
        });
        yield* sleep(hour);
        yield* step('ship', () => void did.push('ship'));
      }),
    );
    const { expiresAt } = suspended(await world.host.start('order', {}));
    world.clock.now += minute;
    const host = world.restart({ store: memoryStore({ clock: world.clock }) });
    expect(await world.next(host)).toMatchObject({ status: 'waiting', at: expiresAt + minute });
    expect(await world.next(host)).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'refund']);
  });

  it('[T13] of the guard stops a delivery', async () => {
    const did: string[] = [];
    const world = queued(sleeps(did));
    await world.host.start('order', {});
    const down = world.restart({
      store: storeWithGuard(
        () => ({ begin: () => Promise.reject(new Error('down')) }),
        world.store,
      ),
    });
    await expect(world.next(down)).rejects.toMatchObject({ code: 'guard_down' });
    expect(did).toEqual([]);
    expect(await world.next()).toMatchObject({ status: 'waiting' });
  });

  it('[E10] of a version that is not served keeps the saga unchanged', async () => {
    const world = queued(sleeps([]));
    await world.host.start('order', {});
    const other = saga({ name: 'order', version: '2' }, function* () {
      yield* step('other', () => undefined);
      return 'other';
    });
    await expect(world.next(world.restart({ sagas: [other] }))).rejects.toMatchObject({
      code: 'version_gone',
    });
    expect(await world.next()).toMatchObject({ status: 'waiting' });
  });

  it('[T5] of a revoked token stops the saga, and an abandoned saga is undone', async () => {
    const did: string[] = [];
    const world = queued(
      order(function* () {
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => void did.push('refund'),
        });
        yield* sleep(hour);
        yield* step('ship', () => void did.push('ship'));
      }),
    );
    const { expiresAt } = suspended(await world.host.start('order', {}));
    const host = world.restart({ auth: { rejectIssuedBefore: world.clock.now + 1 } });
    expect(await world.next(host)).toMatchObject({ status: 'waiting', at: expiresAt + minute });
    expect(await world.next(host)).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'refund']);
  });

  it('[T12] of the configuration: a host without a queue rejects deliveries', async () => {
    const world = queued(sleeps([]));
    await world.host.start('order', {});
    const without = createSagaHost({
      sagas: [sleeps([])],
      keys: generateKey(),
      name: 'shop',
      store: world.store,
    });
    await expect(without.deliver(newest(world).message)).rejects.toThrow(TypeError);
  });
});
