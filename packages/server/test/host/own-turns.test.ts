import {
  checkpoint,
  continueAs,
  elicit,
  memoryStore,
  pivot,
  saga,
  step,
  type Steps,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { start, testClock } from '../fixtures/clock.ts';
import { accept, hostOf, suspended } from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';
import { recordingQueue } from '../queue/queued.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const minute = 60_000;
const hour = 60 * minute;
const skew = 30_000;

/** Charges when its user is sure, and then does whatever a test wants of it. */
function order(
  then: (late: (ms: number) => void) => Steps<string>,
  { reuse, ...changes }: HostChanges & { readonly reuse?: 'ok' | undefined } = {},
) {
  const did: string[] = [];
  const clock = testClock();
  const program = saga({ name: 'order', version: '1', reuse }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* step('charge', () => void did.push('charge'), {
      compensate: () => void did.push('refund'),
    });
    return yield* then((ms) => void (clock.now += ms));
  });
  const guard: HostChanges = reuse === undefined ? { store: memoryStore({ clock }) } : {};
  return { did, ...hostOf(program, { ...changed<HostChanges>(guard, changes), clock }) };
}

/** Fails, and takes a while for it. */
const failsAfter = (ms: number) =>
  function* (late: (ms: number) => void): Steps<string> {
    yield* checkpoint();
    yield* step('ship', () => {
      late(ms);
      throw new Error('no parcels');
    });
    return 'shipped';
  };

describe('a turn that the host runs without the client', () => {
  test('[E1] [E3] [T6] undoes the steps of a turn that outlasts its token', async () => {
    const { did, host, clock } = order(failsAfter(minute));
    const first = suspended(await host.start('order', {}));
    const charged = suspended(await host.resume(first.token, [accept('sure', {})]));
    clock.now = charged.expiresAt - 10_000;
    const end = { status: 'failed', compensated: [{ stepId: 'charge' }], uncompensated: [] };
    expect(await host.resume(charged.token)).toMatchObject(end);
    expect(did).toEqual(['charge', 'refund']);
  });

  test('[E5] [T6] continues past a pivot in the same request, even if its token expired', async () => {
    const { did, host, clock } = order(function* (late) {
      yield* checkpoint();
      yield* step('pack', () => late(10_000));
      yield* pivot('packed');
      yield* step('ship', () => void did.push('ship'));
      return 'shipped';
    });
    const first = suspended(await host.start('order', {}));
    const charged = suspended(await host.resume(first.token, [accept('sure', {})]));
    clock.now = charged.expiresAt + skew - 5_000;
    expect(await host.resume(charged.token)).toMatchObject({
      status: 'completed',
      result: 'shipped',
    });
    expect(did).toEqual(['charge', 'ship']);
  });

  test('[T13] is stored by the guard, like the turn before, long after their token expired', async () => {
    const { did, host, clock } = order(
      function* (late) {
        yield* checkpoint();
        yield* step('pack', () => late(hour));
        yield* pivot('packed');
        yield* step('ship', () => void did.push('ship'));
        return 'shipped';
      },
      { limits: { turnBudget: 2 * hour, lease: 2 * hour } },
    );
    const first = suspended(await host.start('order', {}));
    const charged = suspended(await host.resume(first.token, [accept('sure', {})]));
    clock.now = charged.expiresAt - 1;
    expect(await host.resume(charged.token)).toMatchObject({
      status: 'completed',
      result: 'shipped',
    });
    expect(did).toEqual(['charge', 'ship']);
  });

  test('[T11] needs no second check of rateLimit', async () => {
    const asked: string[] = [];
    const { did, host } = order(failsAfter(0), {
      auth: {
        rateLimit: ({ turn }) => asked.push(`admit ${turn}`) > 0,
        authorize: (_, { name }) => asked.push(`authorize ${name}`) > 0,
      },
    });
    const anonymous = { caller: 'anonymous' } as const;
    const first = suspended(await host.start('order', {}, anonymous));
    const charged = suspended(await host.resume(first.token, [accept('sure', {})], anonymous));
    asked.length = 0;
    expect(await host.resume(charged.token, [], anonymous)).toMatchObject({
      compensated: [{ stepId: 'charge' }],
    });
    expect(did).toEqual(['charge', 'refund']);
    expect(asked).toEqual(['authorize order', 'admit 3']);
  });
});

describe('a token that can only continue an undo', () => {
  /** Fails late, and is not undone in its first attempt. */
  function fails(wait: number) {
    let tries = 0;
    const undo = (): void => {
      tries += 1;
      if (tries === 1) throw new Error('away');
    };
    const retry = { attempts: 2, delay: wait, maxDelay: wait, jitter: false };
    return function* (late: (ms: number) => void): Steps<string> {
      yield* step('hold', () => undefined, { compensate: undo, undo: { retry } });
      return yield* failsAfter(30_000)(late);
    };
  }

  test.each([undefined, 'ok'] as const)(
    '[E3] [T6] is valid for an hour when the lifetime of its saga ends: reuse: %s',
    async (reuse) => {
      const { did, host, clock } = order(fails(minute), {
        reuse,
        limits: { tokenTtl: hour, maxLifetime: hour },
      });
      const first = suspended(await host.start('order', {}));
      const charged = suspended(await host.resume(first.token, [accept('sure', {})]));
      expect(charged.expiresAt).toBe(start + hour);
      clock.now = charged.expiresAt - 1;
      let turn = suspended(await host.resume(charged.token));
      expect(turn).toMatchObject({
        steps: [],
        expiresAt: clock.now + hour + (turn.retryAfterMs ?? 0),
      });
      // The client returns as late as possible each time.
      for (let index = 0; index < 2; index += 1) {
        clock.now = turn.expiresAt;
        const next = await host.resume(turn.token);
        if (next.status !== 'suspended') break;
        turn = next;
      }
      expect(did).toEqual(['charge', 'refund']);
    },
  );

  test('[E3] [T6] is valid until an hour after the next attempt', async () => {
    const { did, host, clock } = order(fails(5 * hour), {
      limits: { tokenTtl: hour, maxLifetime: hour },
    });
    const first = suspended(await host.start('order', {}));
    const charged = suspended(await host.resume(first.token, [accept('sure', {})]));
    clock.now = charged.expiresAt - 1;
    const waits = suspended(await host.resume(charged.token));
    expect(waits).toMatchObject({ retryAfterMs: 5 * hour, expiresAt: clock.now + 6 * hour });
    clock.now += 6 * hour;
    const end = { status: 'failed', compensated: [{ stepId: 'hold' }, { stepId: 'charge' }] };
    expect(await host.resume(waits.token)).toMatchObject(end);
    expect(did).toEqual(['charge', 'refund']);
  });

  test.each<[string, HostChanges, number]>([
    ['its own expiry', {}, 0],
    ['the last delivery of its message', { queue: recordingQueue() }, 30 * 24 * hour],
  ])('[T13] extends the claim of a `once` step to %s', async (_name, changes, later) => {
    const claims: number[] = [];
    const store = storeWithGuard(
      () => ({ claim: (_, expiresAt) => claims.push(expiresAt) > 0 }),
      memoryStore({ clock: testClock() }),
    );
    const { host, clock } = order(
      function* (late) {
        yield* step('hold', () => undefined, {
          *compensate() {
            yield* step('call', () => undefined, { once: true });
          },
        });
        return yield* failsAfter(10_000)(late);
      },
      { ...changes, store, limits: { tokenTtl: hour, maxLifetime: hour } },
    );
    const first = suspended(await host.start('order', {}));
    const charged = suspended(await host.resume(first.token, [accept('sure', {})]));
    clock.now = charged.expiresAt - 1;
    await host.resume(charged.token);
    expect(claims).toEqual([clock.now + hour + later + 5 * minute]);
  });

  test('[T6] limits the lifetime of a saga across continueAs', async () => {
    const other = saga({ name: 'other', version: '1' }, function* () {
      yield* [];
      return 'other';
    });
    const { host, clock } = order(
      function* (late) {
        yield* pivot('charged');
        yield* checkpoint();
        yield* step('pack', () => late(30_000));
        try {
          return yield* continueAs(other, {});
        } finally {
          yield* step('tell', () => undefined);
        }
      },
      { limits: { tokenTtl: hour, maxLifetime: hour } },
    );
    const first = suspended(await host.start('order', {}));
    const charged = suspended(await host.resume(first.token, [accept('sure', {})]));
    clock.now += minute;
    expect(suspended(await host.resume(charged.token)).expiresAt).toBe(start + hour);
  });
});
