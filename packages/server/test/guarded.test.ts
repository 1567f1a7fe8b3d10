import { engineOf } from '@mcp-saga/server/internal';
import { describe, expect, test as it } from 'vitest';
import { z } from 'zod';
import {
  compensator,
  continueAs,
  createSagaHost,
  elicit,
  generateKey,
  memoryStore,
  saga,
  step,
  TokenRefused,
  TurnAborted,
  type Program,
  type Saga,
  type SagaTurn,
  type SuspendedTurn,
} from '../src/index.ts';
import { storeGuard } from '../src/internal.ts';
import { deferred } from './fixtures/deferred.ts';
import { changed, type HostChanges } from './fixtures/host-changes.ts';
import { recordingQueue, type Sent } from './queue/queued.ts';
import { expectLogs } from '../../../test/support/logs.ts';
import { restartLog } from '../../../test/support/known-logs.ts';

expectLogs(restartLog);

const Ok = z.object({ ok: z.boolean() });
const answer = (ok: boolean, stepId = 'go') => [
  { stepId, result: { action: 'accept', content: { ok } } },
];
const keys = generateKey();
const hooks = { onError: () => undefined, onTurn: () => undefined, onReject: () => undefined };
const hostOf = (changes: HostChanges) =>
  createSagaHost(
    changed({ keys, name: 'shop', testing: { environment: 'production' }, hooks }, changes),
  );

function waiting(turn: SagaTurn): SuspendedTurn {
  if (turn.status !== 'suspended') throw new Error(`not suspended but ${turn.status}`);
  return turn;
}

describe('a guard', () => {
  it('[T13] accepts a used token of an aborted request only from the same request', async () => {
    const did: string[] = [];
    const abort = new AbortController();
    const ship = saga({ name: 'ship', version: '1' }, function* () {
      const { ok } = yield* elicit('go', { message: 'Go?', schema: Ok });
      yield* step('ship', () => {
        did.push(String(ok));
        abort.abort();
      });
      return 'shipped';
    });
    const host = hostOf({ sagas: [ship], store: memoryStore() });
    const { token } = waiting(await host.start('ship', {}));
    await expect(host.resume(token, answer(true), { signal: abort.signal })).rejects.toThrow(
      TurnAborted,
    );
    await expect(host.resume(token, answer(false))).rejects.toThrow(TokenRefused);
    await expect(host.cancel(token)).rejects.toThrow(TokenRefused);
    expect(await host.resume(token, answer(true))).toMatchObject({ result: 'shipped' });
    expect(did).toEqual(['true', 'true']);
  });

  it('[T13] stores a response up to the maximum size of a token or result', async () => {
    let ran = 0;
    const big = saga({ name: 'big', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      yield* step('pay', () => void (ran += 1));
      return 'x'.repeat(500_000);
    });
    const host = hostOf({ sagas: [big], store: memoryStore() });
    const { token } = waiting(await host.start('big', {}));
    const first = await host.resume(token, answer(true));
    expect(await host.resume(token, answer(true))).toEqual(first);
    expect(ran).toBe(1);
  });

  it('[T13] stores a result up to the maximum depth', async () => {
    const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) });
    const did: string[] = [];
    const echo = saga(
      { name: 'echo', version: '1', output: z.object({ v: z.any() }) },
      function* () {
        const { ok } = yield* elicit('go', { message: 'Go?', schema: Ok });
        yield* step('pay', () => void did.push('pay'), {
          compensate: () => void did.push('refund'),
        });
        return { v: deep(ok ? 63 : 64) };
      },
    );
    const host = hostOf({ sagas: [echo], store: memoryStore() });
    const { token } = waiting(await host.start('echo', {}));
    const first = await host.resume(token, answer(true));
    expect(first).toMatchObject({ status: 'completed', result: { v: deep(63) } });
    expect(await host.resume(token, answer(true))).toEqual(first);
    expect(did).toEqual(['pay']);
    const other = waiting(await host.start('echo', {}));
    const deeper = await host.resume(other.token, answer(false));
    expect(deeper).toMatchObject({ status: 'failed', compensated: [{ stepId: 'pay' }] });
    expect(did).toEqual(['pay', 'pay', 'refund']);
  });

  /** Pays, and then returns, or asks, as much as a test wants. */
  const paying = (of: 'result' | 'question', message: string) => {
    const did: string[] = [];
    const big = saga({ name: 'big', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      yield* step('pay', () => void did.push('pay'), { compensate: () => void did.push('refund') });
      if (of === 'question') yield* elicit('more', { message, schema: Ok });
      return message;
    });
    return { did, host: hostOf({ sagas: [big], store: memoryStore() }) };
  };
  const kept = 32 * 1024 * 1024;

  it('[T13] stores a result of 32 MiB', async () => {
    const { did, host } = paying('result', 'x'.repeat(kept - 2));
    const { token } = waiting(await host.start('big', {}));
    expect((await host.resume(token, answer(true))).status).toBe('completed');
    expect((await host.resume(token, answer(true))).status).toBe('completed');
    expect(did).toEqual(['pay']);
  });

  it.each(['result', 'question'] as const)(
    '[T13] [E3] undoes the steps before a %s that it cannot store',
    async (of) => {
      const { did, host } = paying(of, 'x'.repeat(kept - 1));
      const { token } = waiting(await host.start('big', {}));
      const undone = { status: 'failed', compensated: [{ stepId: 'pay' }] };
      expect(await host.resume(token, answer(true))).toMatchObject(undone);
      expect(await host.resume(token, answer(true))).toMatchObject(undone);
      expect(did).toEqual(['pay', 'refund']);
    },
  );

  it('[T13] accepts the same request again at once if its response cannot be sealed', async () => {
    const did: string[] = [];
    const odd = saga({ name: 'odd', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      yield* step('pay', () => void did.push('pay'));
      return 'paid';
    });
    // A program of another kind, with unchecked results.
    let result: unknown = 1n;
    const program: Program = {
      ...odd,
      engine: {
        ...engineOf(odd),
        advance: async (...turn) => {
          const outcome = await engineOf(odd).advance(...turn);
          return outcome.status === 'completed' ? { ...outcome, result } : outcome;
        },
      },
    };
    const host = hostOf({ sagas: [program], store: memoryStore() });
    const { token } = waiting(await host.start('odd', {}));
    await expect(host.resume(token, answer(true))).rejects.toThrow(TypeError);
    result = 'paid';
    expect(await host.resume(token, answer(true))).toMatchObject({ result: 'paid' });
  });

  it('[E8] [T13] stores a finished saga for as long as a message can end it', async () => {
    let time = 1_000_000;
    const did: string[] = [];
    const queue = recordingQueue();
    const book = saga({ name: 'book', version: '1' }, function* () {
      yield* step('book', () => void did.push('book'), {
        compensate: () => void did.push('release'),
      });
      yield* elicit('go', { message: 'Go?', schema: Ok });
      return 'booked';
    });
    const host = hostOf({
      sagas: [book],
      testing: { clock: () => time },
      store: memoryStore({ clock: () => time }),
      limits: { maxLifetime: 60_000 },
      queue,
    });
    const { token, sagaId } = waiting(await host.start('book', {}));
    const { message: ending, at } = queue.sent.at(-1) as Sent;
    await host.resume(token, answer(true));
    for (const late of [0, 29 * 24 * 3_600_000]) {
      time = at + late;
      expect(await host.deliver(ending)).toEqual({ status: 'outdated', sagaId });
      for (const { message } of queue.sent)
        expect((await host.deliver(message)).status).not.toBe('waiting');
    }
    expect(did).toEqual(['book']);
  });

  it('[T13] removes a used token and its response when the token has expired', async () => {
    let time = 1_000_000;
    const store = memoryStore({ clock: () => time });
    const ask = saga({ name: 'ask', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      return 'asked';
    });
    const host = hostOf({
      sagas: [ask],
      testing: { clock: () => time },
      store,
      limits: { tokenTtl: 60_000 },
    });
    const one = waiting(await host.start('ask', {}));
    await host.resume(one.token, answer(true));
    time = one.expiresAt + 29_000;
    expect(await host.resume(one.token, answer(true))).toMatchObject({ result: 'asked' });
    await expect(host.resume(one.token, answer(false))).rejects.toThrow(TokenRefused);
    time = one.expiresAt + 5 * 60_000;
    await host.resume(waiting(await host.start('ask', {})).token, answer(true));
    expect(store.size).toBe(1);
    await expect(host.resume(one.token, answer(false))).rejects.toThrow(TokenRefused);
  });

  it.each([
    ['an ended', false],
    ['a suspended', true],
  ])('[E8] tells the queue of %s saga only if its turn counts', async (_, asks) => {
    let time = 1_000_000;
    const told: string[] = [];
    const begun = deferred<() => void>();
    let runs = 0;
    const slow = saga({ name: 'slow', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Ok });
      yield* step('work', async () => {
        runs += 1;
        if (runs === 1) await new Promise<void>((resolve) => begun.resolve(resolve));
      });
      if (asks) yield* elicit('sure', { message: 'Sure?', schema: Ok });
      return 'done';
    });
    const host = hostOf({
      sagas: [slow],
      testing: { clock: () => time },
      store: memoryStore({ clock: () => time }),
      queue: {
        send: ({ turn }) => void told.push(`message of turn ${turn}`),
        remove: () => void told.push('no message'),
      },
      hooks: { ...hooks, onSettled: () => void told.push('settled') },
    });
    const { token } = waiting(await host.start('slow', {}));
    const late = host.resume(token, answer(true));
    const release = await begun.promise;
    time += 60_000;
    const { status } = await host.resume(token, answer(true));
    expect(status).toBe(asks ? 'suspended' : 'completed');
    // A message of the turn that waits for its client, and one of each request that begins the next.
    const begins = Array<string>(3).fill('message of turn 1');
    const counted = asks ? ['message of turn 2'] : ['settled', 'no message'];
    expect(told).toEqual([...begins, ...counted]);
    release();
    await expect(late).rejects.toMatchObject({ code: 'busy' });
    expect(told).toEqual([...begins, ...counted]);
  });

  it('[R3] guards a saga whose version is gone, whatever the newer version declares', async () => {
    const refunds: number[] = [];
    const refund = compensator(
      'refund',
      z.object({ n: z.number() }),
      ({ args }) => void refunds.push(args.n),
    );
    const make = (version: string, reuse?: 'ok') =>
      saga({ name: 'buy', version, reuse, onMismatch: 'compensate' }, function* () {
        yield* step('pay', () => 7, { compensate: refund.for(({ result }) => ({ n: result })) });
        yield* elicit('go', { message: 'Go?', schema: Ok });
        return 'paid';
      });
    const store = memoryStore();
    const old = hostOf({ sagas: [make('1')], store });
    const { token } = waiting(await old.start('buy', {}));
    expect(await old.resume(token, answer(true))).toMatchObject({ result: 'paid' });
    const next = hostOf({ sagas: [make('2', 'ok')], store, compensators: [refund] });
    await expect(next.cancel(token)).rejects.toThrow(TokenRefused);
    await expect(next.resume(token, answer(false))).rejects.toThrow(TokenRefused);
    expect(refunds).toEqual([]);
  });

  it('[E10] [R3] releases a turn that only changed code rejected, so that a rollback can continue', async () => {
    const make = (message: string) =>
      saga({ name: 'buy', version: '1' }, function* () {
        yield* elicit('go', { message, schema: Ok });
        yield* elicit('sure', { message: 'Sure?', schema: Ok });
        return 'bought';
      });
    const store = memoryStore();
    const good = hostOf({ sagas: [make('Go?')], store });
    const one = waiting(await good.start('buy', {}));
    const two = waiting(await good.resume(one.token, answer(true)));
    const bad = hostOf({ sagas: [make('Go on?')], store });
    const answered = bad.resume(two.token, answer(true, 'sure'));
    await expect(answered).rejects.toMatchObject({ code: 'replay_mismatch' });
    expect(await good.resume(two.token, answer(true, 'sure'))).toMatchObject({ result: 'bought' });
  });
});

describe('a guard on a store in memory', () => {
  it('[T13] distinguishes two tokens of one turn', async () => {
    const guard = storeGuard(memoryStore({ clock: () => 1 }));
    const claim = {
      sagaId: 's',
      turn: 1,
      action: 'resume',
      digest: 'd',
      leaseMs: 10,
      expiresAt: 100,
    } as const;
    const one = await guard.begin({ ...claim, jti: 'one' });
    if (typeof one !== 'object' || !('run' in one)) throw new Error('not run');
    await guard.finish(one.run, 'sealed');
    expect(await guard.begin({ ...claim, jti: 'one' })).toEqual({
      response: 'sealed',
      wentOn: false,
    });
    expect(await guard.begin({ ...claim, jti: 'two' })).toBe('conflict');
  });
});

describe('versions', () => {
  it('[R5] rejects an older version with an invalid `until`', () => {
    const make = (version: string, previous: object[] = []) =>
      saga({ name: 'buy', version, previous: previous as never }, function* () {
        yield* elicit('go', { message: 'Go?', schema: Ok });
        return 'bought';
      });
    const older = { saga: make('1'), until: new Date('2031-13-45') };
    expect(() => hostOf({ sagas: [make('2', [older])] })).toThrow('is not a valid date');
  });
});

describe('continueAs', () => {
  it('authorizes the caller for the saga of continueAs', async () => {
    const did: string[] = [];
    const admin = saga({ name: 'admin', version: '1' }, function* () {
      yield* step('rule', () => void did.push('ruled'));
      return 'ruled';
    });
    const user = saga({ name: 'user', version: '1' }, function* () {
      return yield* continueAs(admin, {});
    });
    const host = hostOf({
      sagas: [user, admin],
      auth: { authorize: (_, { name }) => name !== 'admin' },
    });
    expect(await host.start('user', {}, { caller: 'anonymous' })).toMatchObject({
      status: 'failed',
      error: { code: 'forbidden' },
    });
    expect(did).toEqual([]);
  });

  it('[T6] extends the lifetime of a saga while its client answers', async () => {
    let time = 1_000_000;
    const N = z.object({ n: z.number() });
    const loop: Saga<typeof N, undefined> = saga(
      { name: 'loop', version: '1', input: N },
      function* ({ n }) {
        yield* elicit('go', { message: `${n}`, schema: Ok });
        if (n > 0) yield* continueAs(loop, { n: n - 1 });
        return 'end';
      },
    );
    const host = hostOf({ sagas: [loop], testing: { clock: () => time } });
    let turn = await host.start('loop', { n: 20 });
    while (turn.status === 'suspended') {
      time += 10 * 60_000;
      turn = await host.resume(turn.token, answer(true, turn.steps[0]?.stepId));
    }
    expect(turn).toMatchObject({ status: 'completed', result: 'end' });
  });
});
