import {
  abort,
  elicit,
  pivot,
  poll,
  saga,
  sleep,
  StepTimedOut,
  step,
  TokenRefused,
  type Steps,
} from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import { coreOf } from '../../src/saga-host.ts';
import { deferred } from '../fixtures/deferred.ts';
import { accept, suspended } from '../fixtures/host.ts';
import { hour, minute, Ok, queued, type Queued } from './queued.ts';

/** The lease of a turn. */
const lease = 30_000;

const options = { version: '1' } as const;

/** Answer to the question of most sagas here. */
const yes = { stepId: 'sure', result: { action: 'accept', content: { ok: true } } };

/** Saga that charges first, and can be undone. */
const charged = (did: string[], rest: () => Steps<unknown>) =>
  saga({ name: 'order', ...options }, function* () {
    yield* step('charge', () => void did.push('charge'), {
      compensate: () => void did.push('refund'),
    });
    yield* rest();
    return 'done';
  });

const newest = ({ queue }: Queued) => queue.sent.at(-1);

describe('a delivered message', () => {
  // A client that returns hours later needs a token that is good for so long.
  const long = { limits: { tokenTtl: 48 * hour, maxHold: 0 } };

  it('[E8] continues a sleep that is due, without the client', async () => {
    const did: string[] = [];
    const world = queued(
      charged(did, function* () {
        yield* sleep(3 * hour);
        yield* step('remind', () => void did.push('remind'));
        yield* sleep(hour);
      }),
      long,
    );
    const began = world.clock.now;
    const { token, sagaId } = suspended(await world.host.start('order', {}));
    expect(world.queue.sent).toMatchObject([
      // Before the charge, in case that this process dies.
      { at: began + lease, message: { sagaId, turn: 1 } },
      // The client may come first.
      { at: began + 3 * hour + 30_000, message: { sagaId, turn: 2 } },
    ]);
    world.queue.sent.shift();
    expect(await world.next()).toEqual({ status: 'waiting', sagaId, at: world.clock.now + hour });
    expect(did).toEqual(['charge', 'remind']);
    // No client came, so the next wait is exact.
    expect(newest(world)).toMatchObject({ at: world.clock.now + hour, message: { turn: 3 } });
    expect(await world.next()).toEqual({ status: 'ended', sagaId });
    expect(world.queue.removed).toEqual([sagaId]);
    expect(await world.host.resume(token)).toMatchObject({ status: 'completed', result: 'done' });
    expect(did).toEqual(['charge', 'remind']);
  });

  it('[E8] continues a poll until it succeeds', async () => {
    let asked = 0;
    const world = queued(
      charged([], function* () {
        yield* poll('packed', () => ((asked += 1) > 3 ? true : undefined), {
          every: hour,
          timeout: 24 * hour,
        });
      }),
    );
    await world.host.start('order', {});
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    expect(asked).toBe(4);
  });

  it('[E8] times out a question after the grace for late answers', async () => {
    const did: string[] = [];
    const world = queued(
      charged(did, function* () {
        try {
          yield* elicit('gift', { message: 'As a gift?', schema: Ok, timeout: hour });
        } catch (error) {
          if (!(error instanceof StepTimedOut)) throw error;
          did.push('no gift');
        }
        yield* step('ship', () => void did.push('ship'));
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    expect(newest(world)?.at).toBe(world.clock.now + hour + 30_000);
    expect(await world.next()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'no gift', 'ship']);
    // The answer is late, and the client gets the true end.
    const late = await world.host.resume(token, [accept('gift', { ok: 1 })]);
    expect(late).toMatchObject({ status: 'completed', result: 'done', unknown: ['gift'] });
  });

  it('[E8] undoes a saga whose client can no longer answer', async () => {
    const did: string[] = [];
    const world = queued(
      charged(did, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
      }),
    );
    const { sagaId, expiresAt } = suspended(await world.host.start('order', {}));
    const first = newest(world);
    expect(first?.at).toBe(expiresAt + minute);
    // Too early, nothing runs, and the message is sent again.
    expect(await world.host.deliver(first!.message)).toEqual({
      status: 'waiting',
      sagaId,
      at: first!.at,
    });
    expect(world.queue.sent).toHaveLength(3);
    expect(await world.next()).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['charge', 'refund']);
    // Twice.
    expect(await world.host.deliver(first!.message)).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['charge', 'refund']);
  });

  it('[E2] [E8] finishes the turn of a dead process after its lease', async () => {
    const did: string[] = [];
    const world = queued(
      charged(did, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
        yield* step('book', () => {
          did.push('book');
          return did.includes('died') ? undefined : new Promise(() => undefined);
        });
        yield* step('pay', () => void did.push('pay'));
      }),
    );
    const { token, sagaId } = suspended(await world.host.start('order', {}));
    void world.host.resume(token, [yes]);
    await expect.poll(() => did).toContain('book');
    did.push('died');
    const began = world.clock.now;
    expect(newest(world)).toMatchObject({ at: began + lease, message: { turn: 2 } });
    expect(await world.next(world.restart())).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['charge', 'book', 'died', 'book', 'pay']);
  });

  it.each([
    ['is no round of the client, also behind a commit of its request', true],
    ['is not needed for a repeated request, which is one round with its commits', false],
  ])('[E8] %s', async (_, isDelivered) => {
    const did: string[] = [];
    const world = queued(
      charged(did, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
        yield* pivot('booked');
        yield* step('book', () => {
          did.push('book');
          return did.includes('died') ? undefined : new Promise(() => undefined);
        });
        yield* elicit('really', { message: 'Really?', schema: Ok });
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    void world.host.resume(token, [yes]);
    await expect.poll(() => did).toContain('book');
    did.push('died');
    world.clock.now += 2 * minute;
    if (isDelivered) expect(await world.next(world.restart())).toMatchObject({ status: 'waiting' });
    const { turn, ownTurns = 0 } = suspended(await world.restart().resume(token, [yes]));
    // The call, and the answer.
    expect(turn - ownTurns).toBe(2);
    expect(turn).toBe(4);
  });

  it('[E8] leaves the next turn to a round of the client, also behind a commit of the queue', async () => {
    const did: string[] = [];
    const world = queued(
      charged(did, function* () {
        yield* sleep(hour);
        yield* pivot('booked');
        yield* step('book', () => {
          did.push('book');
          return did.includes('died') ? undefined : new Promise(() => undefined);
        });
        yield* elicit('really', { message: 'Really?', schema: Ok });
      }),
      long,
    );
    const { token } = suspended(await world.host.start('order', {}));
    void world.next();
    await expect.poll(() => did).toContain('book');
    did.push('died');
    world.clock.now += 2 * minute;
    const { turn, ownTurns = 0 } = suspended(await world.restart().resume(token));
    // The call, and this request.
    expect(turn - ownTurns).toBe(2);
    expect(turn).toBe(4);
  });

  it('[E8] does not run a turn whose process still runs', async () => {
    const did: string[] = [];
    const end = deferred<undefined>();
    const world = queued(
      charged(did, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
        yield* step('book', () => (did.push('book'), end.promise));
      }),
    );
    const { token, sagaId } = suspended(await world.host.start('order', {}));
    const resumed = world.host.resume(token, [yes]);
    await expect.poll(() => did).toContain('book');
    world.clock.now += lease - 1;
    const delivered = world.restart().deliver(newest(world)!.message);
    end.resolve(undefined);
    expect((await resumed).status).toBe('completed');
    expect(await delivered).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['charge', 'book']);
  });

  it('[E8] does not continue the turn of a call whose client has no token', async () => {
    const did: string[] = [];
    const end = deferred<undefined>();
    const world = queued(
      charged(did, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
        yield* step('book', () => (did.push('book'), end.promise));
      }),
    );
    const { token } = suspended(await world.host.start('order', {}));
    const first = newest(world);
    const resumed = coreOf(world.host).resume(token, [yes], {}, { dialect: { endsOnAbort: true } });
    await expect.poll(() => did).toContain('book');
    expect(newest(world)).toBe(first);
    end.resolve(undefined);
    expect((await resumed).status).toBe('completed');
  });

  it('[E5] [E8] continues an abandoned saga past its pivot until the client is needed', async () => {
    const did: string[] = [];
    const world = queued(
      charged(did, function* () {
        yield* pivot('charged');
        yield* step('pack', () => void did.push('pack'), {
          compensate: () => void did.push('unpack'),
        });
        yield* elicit('gift', { message: 'As a gift?', schema: Ok });
        yield* step('ship', () => void did.push('ship'));
      }),
    );
    await world.host.start('order', {});
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'pack', 'unpack']);
  });

  it('[E3] [E8] retries an undo across messages', async () => {
    const did: string[] = [];
    let failures = 0;
    const world = queued(
      saga({ name: 'order', ...options }, function* () {
        yield* step('charge', () => void did.push('charge'), {
          compensate: () => {
            did.push('refund');
            if ((failures += 1) < 4) throw new Error('503');
          },
          undo: { retry: { attempts: 5, delay: hour, maxDelay: hour } },
        });
        yield* sleep(hour);
        yield* abort('too late');
      }),
      long,
    );
    const { token } = suspended(await world.host.start('order', {}));
    expect(await world.drain()).toMatchObject({ status: 'ended' });
    expect(did).toEqual(['charge', 'refund', 'refund', 'refund', 'refund']);
    expect(await world.host.resume(token)).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'charge' }],
    });
  });

  it('[E7] has no effect if the client has continued the saga', async () => {
    const did: string[] = [];
    const world = queued(
      charged(did, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: Ok, timeout: hour });
        yield* step('ship', () => void did.push('ship'));
        yield* elicit('review', { message: 'Good?', schema: Ok });
      }),
    );
    const { token, sagaId } = suspended(await world.host.start('order', {}));
    const old = newest(world)!;
    const second = suspended(
      await world.host.resume(token, [
        { stepId: 'sure', result: { action: 'accept', content: { ok: true } } },
      ]),
    );
    world.queue.sent.length = 0;
    world.clock.now = old.at;
    // The message of the newest turn may have been lost.
    expect(await world.host.deliver(old.message)).toEqual({
      status: 'waiting',
      sagaId,
      at: second.expiresAt + minute,
    });
    expect(world.queue.sent).toMatchObject([
      { message: { turn: 3 }, at: second.expiresAt + minute },
    ]);
    expect(did).toEqual(['charge', 'ship']);
    // Once the responses have expired, the message is only outdated.
    world.clock.now += 48 * hour;
    expect(await world.host.deliver(old.message)).toEqual({ status: 'outdated', sagaId });
    expect(did).toEqual(['charge', 'ship']);
  });

  it('[T3] opens with its own purpose only, and is not a token of a client', async () => {
    const world = queued(
      charged([], function* () {
        yield* sleep(hour);
      }),
    );
    const { token, sagaId } = suspended(await world.host.start('order', {}));
    const { message } = newest(world)!;
    await expect(world.host.resume(message.token)).rejects.toThrow(TokenRefused);
    await expect(world.host.cancel(message.token)).rejects.toThrow(TokenRefused);
    await expect(world.host.deliver({ sagaId, turn: 1, token })).rejects.toThrow(TokenRefused);
    const nonsense = [
      undefined,
      null,
      'x',
      {},
      { sagaId, turn: 1, token: 1 },
      { sagaId, turn: 1, token: `${message.token}A` },
    ];
    for (const bad of nonsense) {
      await expect(world.host.deliver(bad as never)).rejects.toThrow(TokenRefused);
    }
    world.clock.now += 40 * 24 * hour;
    await expect(world.host.deliver(message)).rejects.toMatchObject({ reason: 'expired' });
    expect(world.rejected.length).toBeGreaterThan(0);
  });
});
