import {
  compensator,
  continueAs,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  sleep,
  step,
  TokenRefused,
  type Saga,
  type SagaHost,
} from '@mcp-saga/server';
import type { SagaGuard } from '@mcp-saga/server/internal';
import { describe, expect, it, test } from 'vitest';
import { z } from 'zod';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { suspended } from '../fixtures/host.ts';
import { recordingQueue, type Sent } from '../queue/queued.ts';
import { answer, gone, Ok } from './guarded-hosts.ts';
import { coreOf } from '../../src/saga-host.ts';
import { expectLogs } from '../../../../test/support/logs.ts';
import { restartLog } from '../../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

expectLogs(restartLog);

interface Deployed {
  /** A host of the version that calls begin with; with a guard that may fail. */
  readonly old: (change?: Partial<SagaGuard>) => SagaHost;
  /** A host to which that version is gone. */
  readonly next: SagaHost;
  /** Another such host, which dies while it undoes. */
  readonly dyingNext: SagaHost;
  readonly clock: TestClock;
  readonly did: string[];
  /** The idempotency keys of the undo of `reserve`. */
  readonly undoKeys: string[];
  /** The messages of the queue. */
  readonly sent: Sent[];
  readonly settled: unknown[];
}

function deployed(onMismatch: 'fail' | 'compensate'): Deployed {
  const clock = testClock();
  const store = memoryStore({ clock });
  const did: string[] = [];
  const queue = recordingQueue();
  const settled: unknown[] = [];
  const undoKeys: string[] = [];
  const release = compensator('release', z.object({}), ({ idempotencyKey }) => {
    did.push('release');
    undoKeys.push(idempotencyKey);
  });
  const order = (version: string): Saga<undefined, undefined> =>
    saga({ name: 'order', version, onMismatch }, function* () {
      yield* step('reserve', () => void did.push('reserve'), {
        compensate: release.for(() => ({})),
      });
      yield* elicit('sure', { message: 'Sure?', schema: Ok });
      yield* step('charge', () => void did.push('charge'), {
        compensate: () => void did.push('refund'),
      });
      yield* elicit('more', { message: 'More?', schema: Ok });
      return 'charged';
    });
  const keys = generateKey();
  const hostOf = (
    version: string,
    change: (guard: SagaGuard) => Partial<SagaGuard> = () => ({}),
  ): SagaHost =>
    createSagaHost({
      sagas: [order(version)],
      keys,
      name: 'shop',
      testing: { environment: 'production', clock },
      store: storeWithGuard(change, store),
      queue,
      compensators: [release],
      hooks: {
        onTurn: () => undefined,
        onError: () => undefined,
        onReject: () => undefined,
        onSettled: ({ uncompensated }) => void settled.push(uncompensated),
      },
    });
  const dyingNext = hostOf('2', (guard) => ({
    // Turn 3 is the commit before the undo. Turn 1 is the commit before the step 'reserve', for the
    // queue, and turn 2 asks.
    finish: (fence, sealed) => (fence.turn === 3 ? gone() : guard.finish(fence, sealed)),
  }));
  return {
    old: (change) => hostOf('1', () => change ?? {}),
    next: hostOf('2'),
    dyingNext,
    clock,
    did,
    undoKeys,
    sent: queue.sent,
    settled,
  };
}

/** The last message of the queue. */
const newest = (sent: readonly Sent[]): Sent => sent.at(-1) as Sent;

/** Answers the first question at a host of the old version, which dies behind the charge. */
async function interrupted(old: Deployed['old'], token: string): Promise<void> {
  const dying = old({ finish: gone, release: gone, forget: gone });
  await expect(dying.resume(token, answer('sure'))).rejects.toMatchObject({ code: 'guard_down' });
}

describe.each(['fail', 'compensate'] as const)(
  'a saga whose version is gone, onMismatch: %s',
  (onMismatch) => {
    it('[T13] [R5] returns the stored response to a repeated request', async () => {
      const { old, next, did } = deployed(onMismatch);
      const { token } = suspended(await old().start('order', {}));
      const { token: more } = suspended(await old().resume(token, answer('sure')));
      expect(await next.resume(token, answer('sure'))).toMatchObject({
        status: 'suspended',
        token: more,
      });
      expect(await old().resume(more, answer('more'))).toMatchObject({ result: 'charged' });
      expect(await next.resume(more, answer('more'))).toMatchObject({ result: 'charged' });
      // A request with another answer is still refused.
      await expect(next.resume(more, answer('more', false))).rejects.toBeInstanceOf(TokenRefused);
      expect(did).toEqual(['reserve', 'charge']);
    });

    it('[E8] [R3] reports the interrupted turn, and undoes the earlier steps', async () => {
      const { old, next, clock, did, sent, settled } = deployed(onMismatch);
      const { token, sagaId, turn } = suspended(await old().start('order', {}));
      const abandoned = newest(sent);
      await interrupted(old, token);
      expect(did).toEqual(['reserve', 'charge']);
      // A queue that stores all messages still has the one of the question.
      clock.now = abandoned.at;
      expect(await next.deliver(abandoned.message)).toEqual({ status: 'ended', sagaId });
      expect(did).toEqual(['reserve', 'charge', 'release']);
      expect(settled).toEqual([[{ stepId: `turn ${turn + 1}` }]]);
    });
  },
);

test('[E8] [R3] the message of an interrupted turn undoes the earlier steps where its version is gone', async () => {
  const { old, next, clock, did, sent, settled } = deployed('compensate');
  const { token, sagaId, turn } = suspended(await old().start('order', {}));
  await interrupted(old, token);
  const { message, at } = newest(sent);
  expect(message.turn).toBe(turn);
  clock.now = at;
  expect(await next.deliver(message)).toEqual({ status: 'ended', sagaId });
  expect(did).toEqual(['reserve', 'charge', 'release']);
  expect(settled).toEqual([[{ stepId: `turn ${turn + 1}` }]]);
});

test('[E8] [E10] [R3] the message of an interrupted turn waits for a rollback where its version is gone', async () => {
  const { old, next, clock, did, sent, settled } = deployed('fail');
  const { token, sagaId } = suspended(await old().start('order', {}));
  await interrupted(old, token);
  const { message, at } = newest(sent);
  clock.now = at;
  await expect(next.deliver(message)).rejects.toMatchObject({ code: 'version_gone' });
  expect(did).toEqual(['reserve', 'charge']);
  expect(settled).toEqual([]);
  expect(await old().deliver(message)).toMatchObject({ status: 'waiting', sagaId });
  expect(did).toEqual(['reserve', 'charge', 'charge']);
  expect(suspended(await old().resume(token, answer('sure'))).steps).toMatchObject([
    { stepId: 'more' },
  ]);
});

test('[E8] [R3] a saga that sleeps is undone where its version is gone, once its tokens have expired', async () => {
  const clock = testClock();
  const store = memoryStore({ clock });
  const queue = recordingQueue();
  const did: string[] = [];
  const release = compensator('release', z.object({}), () => void did.push('release'));
  const keys = generateKey();
  const hostOf = (version: string): SagaHost =>
    createSagaHost({
      sagas: [
        saga({ name: 'order', version }, function* () {
          yield* step('reserve', () => void did.push('reserve'), {
            compensate: release.for(() => ({})),
          });
          yield* sleep('10m');
          return 'ordered';
        }),
      ],
      keys,
      name: 'shop',
      testing: { environment: 'production', clock },
      store,
      queue,
      limits: { maxHold: 0 },
      compensators: [release],
      hooks: { onTurn: () => undefined, onError: () => undefined, onReject: () => undefined },
    });
  const { sagaId, expiresAt } = suspended(await hostOf('1').start('order', {}));
  const { message, at } = newest(queue.sent);
  const next = hostOf('2');
  clock.now = at;
  // A rollback may still continue it.
  await expect(next.deliver(message)).rejects.toMatchObject({ code: 'version_gone' });
  expect(did).toEqual(['reserve']);
  clock.now = expiresAt + 60_000;
  expect(await next.deliver(message)).toEqual({ status: 'ended', sagaId });
  expect(did).toEqual(['reserve', 'release']);
});

test('[E10] [R3] [R5] a token whose version is gone stays valid for a rollback', async () => {
  const { old, next, clock, did, settled } = deployed('fail');
  const { token } = suspended(await old().start('order', {}));
  const goneNow = { code: 'version_gone' };
  await expect(next.resume(token, answer('sure', false))).rejects.toMatchObject(goneNow);
  // The old version began the turn, and never finished it.
  await interrupted(old, token);
  clock.now += 61_000;
  await expect(next.resume(token, answer('sure'))).rejects.toMatchObject(goneNow);
  await expect(next.resume(token, answer('sure', false))).rejects.toBeInstanceOf(TokenRefused);
  expect(settled).toEqual([]);
  expect(suspended(await old().resume(token, answer('sure'))).steps).toMatchObject([
    { stepId: 'more' },
  ]);
  expect(did).toEqual(['reserve', 'charge', 'charge']);
});

test('[E9] [R3] a process without the version leaves an interrupted turn to no other answer', async () => {
  const { old, next, clock, did } = deployed('fail');
  const { token } = suspended(await old().start('order', {}));
  await interrupted(old, token);
  clock.now += 61_000;
  const refusal = answer('sure', false);
  await expect(next.resume(token, refusal)).rejects.toBeInstanceOf(TokenRefused);
  // The refusal would end the saga, and nothing would refund the charge of the interrupted turn.
  await expect(old().resume(token, refusal)).rejects.toBeInstanceOf(TokenRefused);
  expect(did).toEqual(['reserve', 'charge', 'charge']);
  expect(suspended(await old().resume(token, answer('sure'))).steps).toMatchObject([
    { stepId: 'more' },
  ]);
});

test('[R3] a request after an interrupted turn of a gone version reports the turn as uncompensated', async () => {
  const { old, next, clock, did } = deployed('compensate');
  const { token, turn: asked } = suspended(await old().start('order', {}));
  await interrupted(old, token);
  clock.now += 61_000;
  const turn = await coreOf(next).resume(token, [], {}, { follows: true });
  expect(turn).toMatchObject({
    status: 'failed',
    error: { code: 'version_gone' },
    compensated: [{ stepId: 'reserve' }],
    uncompensated: [{ stepId: `turn ${asked + 1}` }],
  });
  expect(did).toEqual(['reserve', 'charge', 'release']);
});

test.each([
  ['its own message', true],
  ['the message of the turn before', false],
])(
  '[R3] [E8] an interrupted undo is repeated with its key by %s, and not reported as uncompensated',
  async (_, isOwn) => {
    const { old, next, dyingNext, clock, did, undoKeys, sent, settled } = deployed('compensate');
    const { token, sagaId, turn } = suspended(await old().start('order', {}));
    await expect(dyingNext.resume(token, answer('sure'))).rejects.toMatchObject({
      code: 'guard_down',
    });
    expect(did).toEqual(['reserve', 'release']);
    const [before, own] = sent.slice(-2) as [Sent, Sent];
    expect([before.message.turn, own.message.turn]).toEqual([turn, turn + 1]);
    const { message, at } = isOwn ? own : before;
    clock.now = at;
    expect(await next.deliver(message)).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['reserve', 'release', 'release']);
    expect(undoKeys).toEqual([undoKeys[0], undoKeys[0]]);
    expect(settled).toEqual([[]]);
  },
);

describe('a saga that this process does not serve', () => {
  const clock = testClock();
  const store = memoryStore({ clock });
  const keys = generateKey();
  const hooks = { onError: () => undefined, onTurn: () => undefined, onReject: () => undefined };
  const options = {
    keys,
    name: 'shop',
    testing: { environment: 'production', clock },
    store,
    hooks,
  } as const;
  const tickets = saga({ name: 'tickets', version: '1' }, function* () {
    yield* elicit('seat', { message: 'Window?', schema: Ok });
    return 'seated';
  });
  const tour = saga({ name: 'tour', version: '1' }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Ok });
    return yield* continueAs(tickets, undefined);
  });
  const newer = createSagaHost({ ...options, sagas: [tour, tickets] });
  const older = createSagaHost({ ...options, sagas: [tour] });

  test.each(['resume', 'cancel'] as const)(
    '[R3] stays valid for %s, and continues in a process that serves it',
    async (how) => {
      const { token } = suspended(await newer.start('tour', {}));
      const { token: next, steps } = suspended(await newer.resume(token, answer('sure')));
      const refused = how === 'resume' ? older.resume(next, answer('seat')) : older.cancel(next);
      await expect(refused).rejects.toMatchObject({ code: 'version_gone' });
      expect(await newer.resume(next, answer(steps[0]?.stepId ?? ''))).toMatchObject({
        status: 'completed',
      });
    },
  );

  test('[T5] [T6] is refused if the caller may not use it', async () => {
    const { token } = suspended(await newer.start('tour', {}));
    const { token: next } = suspended(await newer.resume(token, answer('sure')));
    const asked: unknown[] = [];
    const authorize = (_: unknown, of: unknown): boolean => (asked.push(of), false);
    const forbidding = createSagaHost({ ...options, sagas: [tour], auth: { authorize } });
    const refused = forbidding.resume(next, answer('seat'), { caller: 'anonymous' });
    await expect(refused).rejects.toThrow(TokenRefused);
    expect(asked).toEqual([{ name: 'tickets', version: '1' }]);
  });
});
