import { describe, expect, test as it } from 'vitest';
import { z } from 'zod';
import {
  all,
  call,
  compensator,
  continueAs,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  pivot,
  saga,
  sleep,
  step,
  TokenRefused,
  TurnAborted,
  type Saga,
  type SagaTurn,
  type SuspendedTurn,
} from '../src/index.ts';
import type { Command } from '@mcp-saga/core';
import { deferred } from './fixtures/deferred.ts';
import { changed, type HostChanges } from './fixtures/host-changes.ts';
import type { Sent } from './queue/queued.ts';
import { expectLogs } from '../../../test/support/logs.ts';
import { restartLog, rejectionLog } from '../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

const Ok = z.object({ ok: z.boolean() });
const accept = { action: 'accept', content: { ok: true } } as const;

/** A shop whose saga charges, asks, ships, asks for a review. Undo: refund. */
function shop(reuse?: 'ok') {
  const ledger: string[] = [];
  const order = saga({ name: 'order', version: '1', reuse }, function* () {
    yield* step(
      'charge',
      ({ idempotencyKey }) => void ledger.push(`charge ${idempotencyKey.slice(0, 4)}`),
      {
        compensate: () => void ledger.push('refund'),
      },
    );
    yield* elicit('ship', { message: 'Ship?', schema: Ok });
    yield* step('ship', () => void ledger.push('shipped'));
    yield* elicit('review', { message: 'Good?', schema: Ok });
    return 'thanks';
  });
  return { ledger, order };
}

const keys = generateKey();
const hostOf = (changes: HostChanges) =>
  createSagaHost(
    changed(
      {
        keys,
        name: 'shop',
        testing: { environment: 'production' },
        hooks: { onError: () => undefined },
      },
      changes,
    ),
  );

function waiting(turn: SagaTurn): SuspendedTurn {
  if (turn.status !== 'suspended') throw new Error(`not suspended but ${turn.status}`);
  return turn;
}

describe('older tokens', () => {
  it('[E7] a saga refuses an undo on a host without a store, before its effect', async () => {
    const { ledger, order } = shop();
    const failures: unknown[] = [];
    const host = hostOf({
      sagas: [order],
      hooks: { onTurn: ({ error }) => void failures.push(error) },
    });
    expect(await host.start('order', {})).toMatchObject({
      status: 'failed',
      compensated: [],
      uncompensated: [],
    });
    expect(failures).toMatchObject([{ code: 'authoring_error' }]);
    expect(String(failures[0])).toContain('#missing-store');
    expect(ledger).toEqual([]);
  });

  it('[E7] a saga keeps a pivot and `once` behind a store, and a called saga keeps its undo there', async () => {
    const paid = saga({ name: 'paid', version: '1' }, function* () {
      yield* step('charge', () => did.push('charge'), { compensate: () => undefined });
      return 'paid';
    });
    const bodies = {
      once: () => step('send', () => did.push('send'), { once: true }),
      pivot: () => pivot('sent'),
      call: () => call(paid, {}),
    };
    const did: string[] = [];
    for (const [name, work] of Object.entries(bodies)) {
      const needy = saga({ name, version: '1' }, function* () {
        yield* work() as Command<unknown>;
        return 'done';
      });
      const without = hostOf({ sagas: [needy], hooks: { onTurn: () => undefined } });
      expect(await without.start(name, {})).toMatchObject({ status: 'failed' });
      expect(did).toEqual([]);
      const { status } = await hostOf({ sagas: [needy], store: memoryStore() }).start(name, {});
      expect(status).toBe('completed');
      did.length = 0;
    }
  });

  it('[E7] a saga is kept unchanged if its host has lost the store', async () => {
    const { ledger, order } = shop();
    const shared = { sagas: [order], keys: generateKey(), hooks: { onTurn: () => undefined } };
    const one = waiting(await hostOf({ ...shared, store: memoryStore() }).start('order', {}));
    const without = hostOf(shared);
    const answers = [{ stepId: 'ship', result: accept }];
    await expect(without.resume(one.token, answers)).rejects.toThrow(TurnAborted);
    expect(ledger).toHaveLength(1);
    const again = hostOf({ ...shared, store: memoryStore({ olderTokens: 'accept' }) });
    expect(await again.resume(one.token, answers)).toMatchObject({ status: 'suspended' });
    expect(ledger.slice(1)).toEqual(['shipped']);
  });

  it('[E7] a host that has lost its store undoes nothing, also of a saga that is undone when it does not match', async () => {
    const refunds: string[] = [];
    const refund = compensator('refund', z.object({}), () => void refunds.push('refund'));
    const order = saga({ name: 'order', version: '1', onMismatch: 'compensate' }, function* () {
      const charge = step('charge', () => 1, { compensate: refund.for(() => ({})) });
      yield* all({ look: step('look', () => 1), charge });
      yield* elicit('go', { message: 'Go?', schema: Ok });
      return 'done';
    });
    const shared = { sagas: [order], compensators: [refund], keys: generateKey() };
    const one = waiting(await hostOf({ ...shared, store: memoryStore() }).start('order', {}));
    const answers = [{ stepId: 'go', result: accept }];
    await expect(hostOf(shared).resume(one.token, answers)).rejects.toThrow(TurnAborted);
    expect(refunds).toEqual([]);
  });

  it('[E7] a saga that commits each step needs a store when its host is made', () => {
    const each = saga({ name: 'each', version: '1', commitEach: true }, function* () {
      yield* step('a', () => 1);
      return 'done';
    });
    expect(() => hostOf({ sagas: [each] })).toThrow(
      expect.objectContaining({ code: 'missing_option' }),
    );
  });

  it('[E7] without a guard, a client can reload an older token and get a refund after shipping', async () => {
    const { ledger, order } = shop('ok');
    const host = hostOf({ sagas: [order], hooks: { onWarning: () => undefined } });
    const one = waiting(await host.start('order', {}));
    waiting(await host.resume(one.token, [{ stepId: 'ship', result: accept }]));
    const reloaded = await host.resume(one.token, [
      { stepId: 'ship', result: { action: 'decline' } },
    ]);
    expect(ledger.slice(1)).toEqual(['shipped', 'refund']);
    expect(reloaded).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'charge' }],
      uncompensated: [],
    });
  });

  it('[T13] [E7] with a guard, an older token after shipping is refused with the frozen response', async () => {
    const { ledger, order } = shop();
    const reasons: string[] = [];
    const host = hostOf({
      sagas: [order],
      store: memoryStore(),
      hooks: { onReject: ({ reason }) => reasons.push(reason) },
    });
    const one = waiting(await host.start('order', {}));
    waiting(await host.resume(one.token, [{ stepId: 'ship', result: accept }]));
    await expect(
      host.resume(one.token, [{ stepId: 'ship', result: { action: 'decline' } }]),
    ).rejects.toThrow(new TokenRefused('used'));
    expect(ledger.slice(1)).toEqual(['shipped']);
    expect(reasons).toEqual(['used']);
  });

  it('[T13] the same token with the same answers gets the same response and runs nothing', async () => {
    const { ledger, order } = shop();
    const host = hostOf({ sagas: [order], store: memoryStore() });
    const one = waiting(await host.start('order', {}));
    const answers = [{ stepId: 'ship', result: accept }];
    const [first, second] = await Promise.all([
      host.resume(one.token, answers),
      host.resume(one.token, answers),
    ]);
    expect(second).toEqual(first);
    expect(await host.resume(one.token, [...answers, { stepId: 'other', result: {} }])).toEqual(
      first,
    );
    expect(ledger).toHaveLength(2);
  });

  /**
   * Asks for a number, may continue as a saga between, and ends as a saga that buys this number.
   */
  function buying(reuse: 'ok' | undefined, isBetween = false) {
    const N = z.object({ n: z.number() });
    const did: string[] = [];
    const buy = saga({ name: 'buy', version: '1', input: N }, function* ({ n }) {
      yield* step('charge', () => void did.push(`charge ${n}`), {
        compensate: () => void did.push(`refund ${n}`),
      });
      if (n > 1) throw new Error('too many');
      yield* elicit('sure', { message: 'Sure?', schema: Ok });
      yield* step('ship', () => void did.push(`ship ${n}`));
      return 'shipped';
    });
    const between = saga({ name: 'between', version: '1', input: N }, function* (args) {
      return yield* continueAs(buy, args);
    });
    const ask = saga({ name: 'ask', version: '1', reuse }, function* () {
      const { n } = yield* elicit('n', { message: 'How many?', schema: N });
      return yield* continueAs(isBetween ? between : buy, { n });
    });
    const errors: unknown[] = [];
    const host = hostOf({
      sagas: [ask, between, buy],
      store: memoryStore(),
      hooks: { onTurn: ({ error }) => errors.push(error), onReject: () => undefined },
    });
    const come = (token: string, n: number): Promise<SagaTurn> =>
      host.resume(token, [{ stepId: 'n', result: { action: 'accept', content: { n } } }]);
    return { did, host, come, errors };
  }

  it.each([false, true])(
    '[E7] a saga with `reuse` never continues as one without, also by a third saga: %s',
    async (isBetween) => {
      const { did, host, come, errors } = buying('ok', isBetween);
      const { token } = waiting(await host.start('ask', {}));
      expect(await come(token, 1)).toMatchObject({
        status: 'failed',
        compensated: [],
        uncompensated: [],
      });
      expect(await come(token, 2)).toMatchObject({
        status: 'failed',
        compensated: [],
        uncompensated: [],
      });
      expect(errors.at(-1)).toMatchObject({ name: 'TypeError', code: 'invalid_option' });
      expect(did).toEqual([]);
    },
  );

  it('[E7] a saga with `reuse` cannot continue as one without in its first turn', async () => {
    const { order } = shop();
    const begun = saga({ name: 'begun', version: '1', reuse: 'ok' }, function* () {
      return yield* continueAs(order, {});
    });
    const quiet = { onTurn: () => undefined };
    const host = hostOf({ sagas: [begun, order], store: memoryStore(), hooks: quiet });
    expect(await host.start('begun', {})).toMatchObject({ status: 'failed' });
  });

  it('[E7] a saga continues as another, and its token is used once', async () => {
    const { did, host, come } = buying(undefined, true);
    const { token } = waiting(await host.start('ask', {}));
    const asked = waiting(await come(token, 1));
    await expect(come(token, 2)).rejects.toThrow(TokenRefused);
    expect(await host.resume(asked.token, [{ stepId: 'sure@2', result: accept }])).toMatchObject({
      result: 'shipped',
    });
    expect(did).toEqual(['charge 1', 'ship 1']);
  });

  it('[T13] a request that repeats older answers counts as the same request, across generations', async () => {
    expectLogs(rejectionLog('used'));
    const N = z.object({ n: z.number() });
    const loop: Saga<typeof N, undefined> = saga(
      { name: 'loop', version: '1', input: N },
      function* ({ n }) {
        yield* elicit('more', { message: `${n}`, schema: Ok });
        if (n > 0) yield* continueAs(loop, { n: n - 1 });
        return 'end';
      },
    );
    const host = hostOf({ sagas: [loop], store: memoryStore() });
    const one = waiting(await host.start('loop', { n: 2 }));
    const two = waiting(await host.resume(one.token, [{ stepId: 'more', result: accept }]));
    const news = [{ stepId: 'more@1', result: accept }];
    const three = waiting(await host.resume(two.token, news));
    expect(await host.resume(two.token, [{ stepId: 'more', result: accept }, ...news])).toEqual(
      three,
    );
    await expect(
      host.resume(two.token, [{ stepId: 'more@1', result: { action: 'decline' } }]),
    ).rejects.toThrow(TokenRefused);
  });

  it('[T13] runs nothing if the guard does not answer', async () => {
    const { ledger, order } = shop();
    const store = storeWithGuard(() => ({
      begin: () => Promise.reject(new Error('redis is gone')),
    }));
    const host = hostOf({ sagas: [order], store });
    const one = waiting(await host.start('order', {}));
    await expect(
      host.resume(one.token, [{ stepId: 'ship', result: accept }]),
    ).rejects.toMatchObject({
      code: 'guard_down',
    });
    expect(ledger).toHaveLength(1);
  });

  it('[T13] runs again after the lease has expired, and rejects the late result of the first run', async () => {
    let time = 1_000_000;
    const clock = () => time;
    const ran: number[] = [];
    const begun = deferred<() => void>();
    const slow = saga({ name: 'slow', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      yield* step('work', async () => {
        ran.push(time);
        if (ran.length === 1) await new Promise<void>((resolve) => begun.resolve(resolve));
      });
      return 'done';
    });
    const host = hostOf({ sagas: [slow], store: memoryStore({ clock }), testing: { clock } });
    const one = waiting(await host.start('slow', {}));
    const answers = [{ stepId: 'go', result: accept }];
    const late = host.resume(one.token, answers);
    const hang = await begun.promise;
    time += 60_000;
    expect(await host.resume(one.token, answers)).toMatchObject({
      status: 'completed',
      result: 'done',
    });
    hang();
    await expect(late).rejects.toMatchObject({ code: 'busy' });
    expect(ran).toHaveLength(2);
  });

  it('[T13] claims a `once` step, whose outcome is unknown if it was claimed before', async () => {
    expectLogs(/More steps may have run in turn 2/, /failed in turn 3.*outcome_unknown/);
    const ran: string[] = [];
    let crash = true;
    const once = saga({ name: 'once', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      yield* step('fire', () => void ran.push('fire'), {
        once: true,
        compensate: () => void ran.push('look'),
        unknown: 'compensate',
      });
      return 'fired';
    });
    const store = storeWithGuard((guard) => ({
      finish: (fence, sealed) =>
        crash ? Promise.reject(new Error('crash')) : guard.finish(fence, sealed),
      begin: (claim) => guard.begin({ ...claim, leaseMs: 0 }),
    }));
    const host = hostOf({ sagas: [once], store });
    const one = waiting(await host.start('once', {}));
    await expect(host.resume(one.token, [{ stepId: 'go', result: accept }])).rejects.toMatchObject({
      code: 'guard_down',
    });
    crash = false;
    expect(await host.resume(one.token, [{ stepId: 'go', result: accept }])).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'fire' }],
    });
    expect(ran).toEqual(['fire', 'look']);
  });
});

describe('cancel', () => {
  it('[E6] undoes the steps once, and older tokens run nothing', async () => {
    expectLogs(rejectionLog('used'));
    const { ledger, order } = shop();
    const host = hostOf({ sagas: [order], store: memoryStore() });
    const one = waiting(await host.start('order', {}));
    const two = waiting(await host.resume(one.token, [{ stepId: 'ship', result: accept }]));
    await expect(host.cancel(one.token)).rejects.toThrow(TokenRefused);
    expect(ledger).not.toContain('refund');
    const cancelled = await host.cancel(two.token, { reason: 'changed my mind' });
    expect(cancelled).toMatchObject({ status: 'failed', compensated: [{ stepId: 'charge' }] });
    // The guard has kept the public message; the reason it was given is in it.
    expect(await host.cancel(two.token)).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'charge' }],
    });
    await expect(host.resume(two.token, [{ stepId: 'review', result: accept }])).rejects.toThrow(
      TokenRefused,
    );
    expect(ledger.filter((line) => line === 'refund')).toHaveLength(1);
  });

  it('[E7] changes nothing for any token of a finished saga', async () => {
    expectLogs(rejectionLog('used'));
    const { ledger, order } = shop();
    const host = hostOf({ sagas: [order], store: memoryStore() });
    const one = waiting(await host.start('order', {}));
    const two = waiting(await host.resume(one.token, [{ stepId: 'ship', result: accept }]));
    expect(await host.resume(two.token, [{ stepId: 'review', result: accept }])).toMatchObject({
      status: 'completed',
    });
    await expect(host.cancel(one.token)).rejects.toThrow(TokenRefused);
    await expect(host.cancel(two.token)).rejects.toThrow(TokenRefused);
    expect(ledger.slice(1)).toEqual(['shipped']);
  });

  it('[E7] is not offered for a saga without undos on a host without a store', async () => {
    const plain = saga({ name: 'plain', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      return '';
    });
    const host = hostOf({ sagas: [plain] });
    const one = waiting(await host.start('plain', {}));
    await expect(host.cancel(one.token)).rejects.toMatchObject({ code: 'cancel_not_offered' });
    const guarded = hostOf({ sagas: [plain], store: memoryStore() });
    const other = waiting(await guarded.start('plain', {}));
    expect(await guarded.cancel(other.token)).toMatchObject({ status: 'failed' });
  });
});

describe('a queue', () => {
  it('[E8] undoes the one of ten sagas that its client has left, and the other nine finish', async () => {
    expectLogs(rejectionLog('undecryptable'));
    let time = 1_000_000;
    const clock = () => time;
    const { ledger, order } = shop();
    // The latest message of each saga.
    const stored = new Map<string, Sent>();
    const host = hostOf({
      sagas: [order],
      store: memoryStore({ clock }),
      testing: { clock },
      queue: {
        send: (message, at) => void stored.set(message.sagaId, { message, at }),
        remove: (sagaId) => void stored.delete(sagaId),
      },
    });
    for (let index = 0; index < 10; index += 1) {
      const one = waiting(await host.start('order', {}));
      const two = waiting(await host.resume(one.token, [{ stepId: 'ship', result: accept }]));
      if (index !== 4) await host.resume(two.token, [{ stepId: 'review', result: accept }]);
    }
    expect(stored.size).toBe(1);
    const [{ message, at }] = [...stored.values()] as [Sent];
    const { sagaId } = message;
    // A message that comes too early undoes nothing, and comes again.
    expect(await host.deliver(message)).toEqual({ status: 'waiting', sagaId, at });
    expect(ledger).not.toContain('refund');
    const again = stored.get(sagaId) as Sent;
    expect(again.at).toBe(at);
    time = at;
    expect(await host.deliver(again.message)).toEqual({ status: 'ended', sagaId });
    expect(stored.size).toBe(0);
    expect(ledger.filter((line) => line === 'refund')).toHaveLength(1);
    await expect(host.resume(message.token, [])).rejects.toThrow(TokenRefused);
  });
});

describe('versions', () => {
  const make = (version: string, label: string, more: object = {}) =>
    saga({ name: 'deploy', version, reuse: 'ok', ...more }, function* () {
      yield* step(`charge-${label}`, () => 7, {
        compensate: refund.for(({ result }) => ({ amount: result })),
      });
      yield* elicit('go', { message: 'Go?', schema: Ok });
      return label;
    });
  const refunds: number[] = [];
  const refund = compensator(
    'refund',
    z.object({ amount: z.number() }),
    ({ args }) => void refunds.push(args.amount),
  );

  it('[R5] old and new code run side by side, because a token names its version', async () => {
    const old = make('1', 'old');
    const one = waiting(await hostOf({ sagas: [old] }).start('deploy', {}));
    const host = hostOf({ sagas: [make('2', 'new', { previous: [{ saga: old }] })] });
    expect(await host.resume(one.token, [{ stepId: 'go', result: accept }])).toMatchObject({
      result: 'old',
    });
    const two = waiting(await host.start('deploy', {}));
    expect(await host.resume(two.token, [{ stepId: 'go', result: accept }])).toMatchObject({
      result: 'new',
    });
    const late = hostOf({
      sagas: [make('2', 'new', { previous: [{ saga: old, until: new Date(0) }] })],
    });
    const resumed = late.resume(one.token, [{ stepId: 'go', result: accept }]);
    await expect(resumed).rejects.toMatchObject({ code: 'version_gone' });
  });

  it("[R3] named compensations run if the version is gone and onMismatch is 'compensate'", async () => {
    expectLogs('version_gone');
    const one = waiting(await hostOf({ sagas: [make('1', 'old')] }).start('deploy', {}));
    const host = hostOf({
      sagas: [make('2', 'new', { onMismatch: 'compensate' })],
      compensators: [refund],
    });
    refunds.length = 0;
    expect(await host.resume(one.token, [])).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'charge-old' }],
      uncompensated: [],
    });
    expect(refunds).toEqual([7]);
  });

  it('[T11] a token over its size limit fails the saga before the user is asked, and undoes its steps', async () => {
    expectLogs('token_too_large');
    const done: string[] = [];
    const big = saga({ name: 'big', version: '1', reuse: 'ok' }, function* () {
      yield* step('charge', () => 'x'.repeat(70_000), {
        compensate: () => void done.push('refund'),
      });
      yield* elicit('go', { message: 'Go?', schema: Ok });
      return '';
    });
    const turn = await hostOf({ sagas: [big] }).start('big', {});
    expect(turn).toMatchObject({
      status: 'failed',
      compensated: [{ stepId: 'charge' }],
      error: { code: 'token_too_large' },
    });
    expect(done).toEqual(['refund']);
  });

  it('a token has a bounded size over a loop of 10,000 turns', async () => {
    const Left = z.object({ left: z.number() });
    const loop: Saga<typeof Left, undefined> = saga(
      { name: 'loop', version: '1', input: Left },
      function* ({ left }) {
        yield* elicit('more', { message: `${left} left`, schema: Ok });
        if (left > 0) yield* continueAs(loop, { left: left - 1 });
        return 'end';
      },
    );
    const host = hostOf({ sagas: [loop] });
    let turn = await host.start('loop', { left: 9_999 });
    let longest = 0;
    for (let count = 0; turn.status === 'suspended'; count += 1) {
      longest = Math.max(longest, turn.token.length);
      const [asked] = turn.steps;
      expect(asked?.stepId).toBe(count === 0 ? 'more' : `more@${count}`);
      turn = await host.resume(turn.token, [{ stepId: asked?.stepId ?? '', result: accept }]);
    }
    expect(turn).toMatchObject({ status: 'completed', result: 'end' });
    expect(longest).toBeLessThan(1_000);
  });

  it('[W6] [T6] a token of a saga that sleeps is valid for an hour longer than the sleep', async () => {
    let time = 1_000_000;
    const lazy = saga({ name: 'lazy', version: '1' }, function* () {
      yield* sleep(10 * 60 * 60 * 1000);
      return 'rested';
    });
    const host = hostOf({ sagas: [lazy], testing: { clock: () => time } });
    const one = waiting(await host.start('lazy', {}));
    expect(one).toMatchObject({
      steps: [],
      retryAfterMs: 36_000_000,
      expiresAt: time + 11 * 60 * 60 * 1000,
    });
    time += 36_000_000;
    expect(await host.resume(one.token, [])).toMatchObject({ result: 'rested' });
  });
});
