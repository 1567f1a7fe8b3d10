import {
  all,
  checkpoint,
  elicit,
  memoryStore,
  pivot,
  saga,
  step,
  type Program,
  type Steps,
} from '@mcp-saga/server';
import { elicit as elicitInMachine, machineSaga, step as stepInMachine } from '@mcp-saga/xstate';
import { describe, expect, test } from 'vitest';
import { setup } from 'xstate';
import { start as startTime, testClock, tickingClock, type TestClock } from './fixtures/clock.ts';
import { accept, hostOf, suspended, type TestHost } from './fixtures/host.ts';
import { Empty } from './fixtures/sagas.ts';
import { recordingQueue, type Sent } from './queue/queued.ts';
import { coreOf } from '../src/saga-host.ts';
import { expectLogs } from '../../../test/support/logs.ts';
import { restartLog } from '../../../test/support/known-logs.ts';
import { storeWithGuard } from '../../../test/support/store-with-guard.ts';

const sure = accept('sure', {});
const hour = 3_600_000;
/** All clients get a token before the first step. */
const starts = { unkeyed: 'handshake' } as const;

interface Mortal {
  readonly host: TestHost['host'];
  readonly told: TestHost['told'];
  readonly clock: TestClock;
  /** A fresh process takes over, when the leases of the dead one are out. */
  readonly revive: () => void;
}

/** A host whose process dies when it has run the turn `last`, and before that is kept. */
function mortal(program: Program, last: number): Mortal {
  const clock = testClock();
  let isDead = false;
  const dies = (): never => {
    throw new Error('dead');
  };
  const dying = storeWithGuard(
    (guard) => ({
      begin: (claim) => (isDead ? dies() : guard.begin(claim)),
      finish: (fence, response) => {
        if (fence.turn === last) isDead = true;
        return isDead ? dies() : guard.finish(fence, response);
      },
      release: (fence) => (isDead ? dies() : guard.release(fence)),
    }),
    memoryStore({ clock }),
  );
  const { host, told } = hostOf(program, { store: dying, starts, clock });
  return {
    host,
    told,
    clock,
    revive: () => {
      isDead = false;
      last = Number.POSITIVE_INFINITY;
      clock.now += 120_000;
    },
  };
}

/** Charges, ships, and thanks. Only the first charge succeeds. */
function order(did: string[], options: { readonly commitEach?: boolean } = {}): Program {
  return saga({ name: 'order', version: '1', ...options }, function* () {
    yield* elicit('sure', { message: 'Sure?', schema: Empty });
    yield* charge(did);
    yield* step('ship', ({ idempotencyKey }) => void did.push(`ship ${idempotencyKey.length}`));
    yield* step('thank', () => void did.push('thank'));
    return 'shipped';
  });
}

function* charge(did: string[]): Steps<void> {
  yield* step(
    'charge',
    () => {
      if (did.includes('charge')) throw new Error('no funds');
      did.push('charge');
    },
    { compensate: () => void did.push('refund') },
  );
}

describe('a saga with commitEach', () => {
  test('[E1] [E3] continues after its committed steps if its process died', async () => {
    const did: string[] = [];
    const { host, told, revive } = mortal(order(did, { commitEach: true }), 3);
    const { token } = suspended(await host.start('order', {}));
    await expect(host.resume(token, [sure])).rejects.toMatchObject({ code: 'guard_down' });
    expect(did).toEqual(['charge', 'ship 43', 'thank']);
    revive();
    expect(await host.resume(token, [sure])).toMatchObject({
      status: 'completed',
      result: 'shipped',
    });
    // The interrupted last turn runs again, and earlier turns do not.
    expect(did).toEqual(['charge', 'ship 43', 'thank', 'thank']);
    expect(told.turns.map(({ turn, status }) => [turn, status])).toEqual([
      [1, 'suspended'],
      [2, 'suspended'],
      [3, 'suspended'],
      [4, 'completed'],
      // The repeated request got the stored responses.
      [4, 'completed'],
    ]);
  });

  test('[E1] may take another branch without commitEach', async () => {
    const did: string[] = [];
    const { host, revive } = mortal(order(did), 1);
    const { token } = suspended(await host.start('order', {}));
    await expect(host.resume(token, [sure])).rejects.toMatchObject({ code: 'guard_down' });
    revive();
    expect(await host.resume(token, [sure])).toMatchObject({ status: 'failed', compensated: [] });
    expect(did).toEqual(['charge', 'ship 43', 'thank']);
  });

  test('[E1] returns a token before its first step', async () => {
    const did: string[] = [];
    const eager = saga({ name: 'eager', version: '1', commitEach: true }, function* () {
      yield* charge(did);
      return 'done';
    });
    const clock = testClock();
    const { host } = hostOf(eager, { store: memoryStore({ clock }), starts, clock });
    const { token } = suspended(await host.start('eager', {}));
    expect(did).toEqual([]);
    expect(await host.resume(token)).toMatchObject({ result: 'done' });
  });

  test('[E1] [U4] returns a token when the time of the request is over', async () => {
    const did: string[] = [];
    const clock = testClock();
    const slow = saga({ name: 'slow', version: '1', commitEach: true }, function* () {
      for (const what of ['a', 'b', 'c']) {
        yield* step(what, () => {
          did.push(what);
          clock.now += 600;
        });
      }
      return 'done';
    });
    const { host } = hostOf(slow, {
      store: memoryStore({ clock }),
      starts,
      clock,
      limits: { turnBudget: 1_000 },
    });
    const { token } = suspended(await host.start('slow', {}));
    const later = suspended(await host.resume(token));
    expect(later).toMatchObject({ steps: [], retryAfterMs: 0, turn: 3, ownTurns: 1 });
    expect(did).toEqual(['a', 'b']);
    expect(await host.resume(later.token)).toMatchObject({ result: 'done' });
    expect(did).toEqual(['a', 'b', 'c']);
  });

  test('[E1] [U3] continues beside a question, and shows the text of a checkpoint', async () => {
    const did: string[] = [];
    const both = saga({ name: 'both', version: '1', commitEach: true }, function* () {
      yield* all({
        asks: elicit('sure', { message: 'Sure?', schema: Empty }),
        does: (function* (): Steps<void> {
          yield* step('a', () => void did.push('a'));
          yield* step('b', () => void did.push('b'));
          yield* checkpoint('half');
          yield* step('c', () => void did.push('c'));
          yield* step('d', () => void did.push('d'));
        })(),
      });
      return 'done';
    });
    const clock = testClock();
    const { host } = hostOf(both, { store: memoryStore({ clock }), starts, clock });
    const { token } = suspended(await host.start('both', {}));
    const half = suspended(await host.resume(token));
    expect(half).toMatchObject({ steps: [{ stepId: 'sure' }], content: ['half'] });
    expect(did).toEqual(['a', 'b']);
    const asked = suspended(await host.resume(half.token));
    expect(asked.steps).toMatchObject([{ stepId: 'sure' }]);
    expect(did).toEqual(['a', 'b', 'c', 'd']);
    expect(await host.resume(asked.token, [sure])).toMatchObject({ result: 'done' });
  });

  test('[E1] shows the text of a checkpoint before a parallel branch continues', async () => {
    const did: string[] = [];
    const paged = saga({ name: 'paged', version: '1', commitEach: true }, function* () {
      yield* all({
        shows: checkpoint('a page'),
        does: (function* (): Steps<void> {
          yield* step('a', () => void did.push('a'));
          yield* step('b', () => void did.push('b'));
        })(),
      });
      return 'done';
    });
    const clock = testClock();
    const { host } = hostOf(paged, { store: memoryStore({ clock }), starts, clock });
    const { token, content } = suspended(await host.start('paged', {}));
    expect(content).toEqual(['a page']);
    expect(await host.resume(token)).toMatchObject({ result: 'done' });
    expect(did).toEqual(['a', 'b']);

    const later = saga({ name: 'later', version: '1', commitEach: true }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* all({
        shows: checkpoint('a page'),
        does: (function* (): Steps<void> {
          yield* step('c', () => void did.push('c'));
          yield* step('d', () => void did.push('d'));
        })(),
      });
      return 'done';
    });
    const other = hostOf(later, { store: memoryStore({ clock }), starts, clock }).host;
    const shown = suspended(
      await other.resume(suspended(await other.start('later', {})).token, [sure]),
    );
    expect(shown.content).toEqual(['a page']);
    expect(did).toEqual(['a', 'b', 'c']);
    expect(await other.resume(shown.token)).toMatchObject({ result: 'done' });
  });

  test('[U4] returns after one step if a task holds the saga', async () => {
    const did: string[] = [];
    const clock = testClock();
    const { host } = hostOf(order(did, { commitEach: true }), {
      store: memoryStore({ clock }),
      starts,
      clock,
    });
    const { token } = suspended(await host.start('order', {}));
    const holder = { kind: 'store' } as const;
    expect(await coreOf(host).resume(token, [sure], {}, { holder })).toMatchObject({
      steps: [],
      retryAfterMs: 0,
    });
    expect(did).toEqual(['charge']);
  });

  test('[W7] runs nothing in a turn that only reads', async () => {
    const did: string[] = [];
    const clock = testClock();
    const { host } = hostOf(order(did, { commitEach: true }), {
      store: memoryStore({ clock }),
      starts,
      clock,
    });
    const { token } = suspended(await host.start('order', {}));
    suspended(await coreOf(host).resume(token, [sure], {}, { dialect: { effects: 'later' } }));
    expect(did).toEqual([]);
    const passes = saga({ name: 'passes', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* pivot('sure');
      yield* step('ship', () => void did.push('ship'));
      return 'done';
    });
    const looked = hostOf(passes, { store: memoryStore({ clock }), starts, clock }).host;
    const asked = suspended(await looked.start('passes', {}));
    const looks = { dialect: { effects: 'later' } } as const;
    expect(suspended(await coreOf(looked).resume(asked.token, [sure], {}, looks)).turn).toBe(2);
    expect(did).toEqual([]);
  });

  test('[E8] is continued from its last commit by a queue, and undone if its client does not return', async () => {
    expectLogs(restartLog);
    const did: string[] = [];
    const shipKeys = new Set<string>();
    const queue = recordingQueue();
    const clock = testClock();
    const store = memoryStore({ clock });
    const aborting = new AbortController();
    const leaves = saga({ name: 'order', version: '1', commitEach: true }, function* () {
      yield* charge(did);
      yield* step(
        'ship',
        ({ idempotencyKey }) => {
          did.push('ship');
          shipKeys.add(idempotencyKey);
          aborting.abort();
        },
        { compensate: () => void did.push('recall') },
      );
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      return 'done';
    });
    const hooks = { onTurn: () => undefined };
    const { host } = hostOf(leaves, { store, starts, clock, hooks, queue });
    const { token, sagaId } = suspended(await host.start('order', {}));
    await expect(host.resume(token, [], { signal: aborting.signal })).rejects.toThrow('aborted');
    // Of the first turn, of its request, and of the commit.
    expect(queue.sent.map(({ message }) => message.turn)).toEqual([1, 1, 2]);
    const next = async () => {
      const { message, at } = queue.sent.at(-1) as Sent;
      clock.now = at;
      return await host.deliver(message);
    };
    // The turn in which it shipped was never kept: it runs to its end, with the same keys.
    expect(await next()).toMatchObject({ status: 'waiting', sagaId });
    expect(did).toEqual(['charge', 'ship', 'ship']);
    expect(shipKeys.size).toBe(1);
    expect(await next()).toEqual({ status: 'ended', sagaId });
    expect(did).toEqual(['charge', 'ship', 'ship', 'recall', 'refund']);
  });

  test("[E1] is rejected with reuse: 'ok', and by a host without a store", () => {
    const options = { name: 'order', version: '1', commitEach: true };
    const body = function* () {
      yield* step('a', () => 1);
      return '';
    };
    expect(() => saga({ ...options, reuse: 'ok' }, body)).toThrow(
      expect.objectContaining({ code: 'authoring_error' }),
    );
    expect(() => hostOf(saga(options, body))).toThrow(
      expect.objectContaining({ code: 'missing_option' }),
    );
  });
});

describe('a machine with commitEach', () => {
  function machine(did: string[]): Program {
    const does = (what: string) => stepInMachine(() => void did.push(what));
    const chart = setup({
      types: { output: {} as string },
      actors: {
        sure: elicitInMachine({ message: 'Sure?', schema: Empty }),
        charge: does('charge'),
        ship: does('ship'),
        thank: does('thank'),
      },
    }).createMachine({
      initial: 'asking',
      states: {
        asking: { invoke: { id: 'sure', src: 'sure', onDone: 'charging' } },
        charging: { invoke: { id: 'charge', src: 'charge', onDone: 'shipping' } },
        shipping: { invoke: { id: 'ship', src: 'ship', onDone: 'thanking' } },
        thanking: { invoke: { id: 'thank', src: 'thank', onDone: 'done' } },
        done: { type: 'final' },
      },
      output: 'shipped',
    });
    return machineSaga({ name: 'order', version: '1', commitEach: true }, chart);
  }

  test('[E1] continues after its commit when its process died', async () => {
    const did: string[] = [];
    const { host, told, revive } = mortal(machine(did), 3);
    const { token } = suspended(await host.start('order', {}));
    await expect(host.resume(token, [sure])).rejects.toMatchObject({ code: 'guard_down' });
    revive();
    expect(await host.resume(token, [sure])).toMatchObject({
      status: 'completed',
      result: 'shipped',
    });
    expect(did).toEqual(['charge', 'ship', 'thank', 'thank']);
    expect(told.turns.map(({ turn }) => turn)).toEqual([1, 2, 3, 4, 4]);
  });
});

describe('a guarded turn that passes a pivot', () => {
  /** Charges, which goes well once, and passes the point of no return. */
  function parcel(did: string[], reuse?: 'ok'): Program {
    return saga({ name: 'parcel', version: '1', reuse }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* charge(did);
      yield* pivot('charged');
      yield* step('ship', () => void did.push('ship'));
      yield* step('thank', () => void did.push('thank'));
      return 'shipped';
    });
  }

  test('[E1] [E5] ends the turn, so that a repeated request cannot undo it', async () => {
    const did: string[] = [];
    const { host, told, revive } = mortal(parcel(did), 2);
    const { token } = suspended(await host.start('parcel', {}));
    await expect(host.resume(token, [sure])).rejects.toMatchObject({ code: 'guard_down' });
    expect(did).toEqual(['charge', 'ship', 'thank']);
    revive();
    expect(await host.resume(token, [sure])).toMatchObject({ status: 'completed' });
    expect(did).toEqual(['charge', 'ship', 'thank', 'ship', 'thank']);
    expect(told.turns.map(({ turn }) => turn)).toEqual([1, 2, 3, 3]);
  });

  test('[E5] does not end the turn without a guard, or at the end of the saga', async () => {
    const did: string[] = [];
    const { host, told } = hostOf(parcel(did, 'ok'));
    const { token } = suspended(await host.start('parcel', {}));
    expect(await host.resume(token, [sure])).toMatchObject({ status: 'completed', turn: 2 });
    expect(told.turns).toHaveLength(2);

    const clock = testClock();
    const last = saga({ name: 'last', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      yield* pivot('sure');
      yield* elicit('good', { message: 'Good?', schema: Empty });
      return 'done';
    });
    const guarded = hostOf(last, { store: memoryStore({ clock }), starts, clock });
    const asked = suspended(await guarded.host.start('last', {}));
    const good = suspended(await guarded.host.resume(asked.token, [sure]));
    expect(good).toMatchObject({ turn: 2, steps: [{ stepId: 'good' }] });
    expect(good).not.toHaveProperty('goesOn');
    expect(await guarded.host.resume(good.token, [accept('good', {})])).toMatchObject({ turn: 3 });
  });

  test('[W6] gives maxWait the number of client requests, not of host turns', async () => {
    const clock = tickingClock(startTime);
    const waits: number[] = [];
    const did: string[] = [];
    const { host } = hostOf(parcel(did), { store: memoryStore({ clock }), starts, clock });
    const { token } = suspended(await host.start('parcel', {}));
    const dialect = {
      maxWait: (turn: number) => {
        waits.push(turn);
        return hour;
      },
    };
    await coreOf(host).resume(token, [sure], {}, { dialect });
    // For the request, and for the stored response of each of its turns.
    expect(waits).toEqual([2, 2, 2]);
  });
});

describe('a stored response', () => {
  /** Asks, and runs three steps in parallel, of which two fit into the budget of a turn. */
  function slow() {
    const did: string[] = [];
    const clock = testClock();
    const both = saga({ name: 'both', version: '1', commitEach: true }, function* () {
      yield* all({
        asks: elicit('sure', { message: 'Sure?', schema: Empty }),
        does: (function* (): Steps<void> {
          for (const what of ['a', 'b', 'c']) {
            yield* step(what, () => {
              did.push(what);
              clock.now += 600;
            });
          }
        })(),
      });
      return 'done';
    });
    const { host } = hostOf(both, {
      store: memoryStore({ clock }),
      starts,
      clock,
      limits: { turnBudget: 1_000 },
    });
    return { did, host };
  }

  test('[E1] [T13] returns the same token to a repeated request', async () => {
    const { did, host } = slow();
    const first = suspended(await host.start('both', {}));
    const given = suspended(await host.resume(first.token));
    expect(given.steps).toMatchObject([{ stepId: 'sure' }]);
    expect(did).toEqual(['a', 'b']);
    // A repeated request gets the same token.
    expect(await host.resume(first.token)).toEqual(given);
    expect(did).toEqual(['a', 'b']);
    expect(await host.resume(given.token, [sure])).toMatchObject({ result: 'done' });
    expect(did).toEqual(['a', 'b', 'c']);
  });
});
