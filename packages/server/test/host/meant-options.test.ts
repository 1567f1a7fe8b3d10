import { afterEach, describe, expect, test, vi } from 'vitest';
import { compensator, createSagaHost, memoryGuard, memoryTaskStore, saga } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import * as z from 'zod';
import { nothingTold, hooksInto, oldKey } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';
import { start } from '../fixtures/clock.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';

const base = {
  sagas: [asking()],
  audience: 'deployer',
  keys: oldKey,
  testing: { environment: 'production' },
};
const make = (options: object) => createSagaHost(changed(base, options));
const undo = compensator('undo', z.object({}), () => undefined);
const seconds = start / 1000;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a host is not made, and says what to write, with', () => {
  test.each<[string, object, string]>([
    ['a guard that was not called', { guard: { store: memoryGuard } }, 'Call it: memoryGuard(…).'],
    ['a guard without methods', { guard: { store: {} } }, 'guard.store: expected what memoryGuard() returns'],
    ['no guard', { guard: { leaseMs: 60_000 } }, 'guard.store: expected what memoryGuard() returns'],
    [
      'a part of a guard',
      { guard: { store: { ...memoryGuard(), claim: undefined } } },
      'guard.store: expected what memoryGuard()',
    ],
    ['a store that was not called', { tasks: { store: memoryTaskStore } }, 'Call it: memoryTaskStore(…).'],
    [
      'a store without methods',
      { tasks: { store: {} } },
      'tasks.store: expected what memoryTaskStore() returns',
    ],
    [
      'a misspelt option of tasks',
      { tasks: { tll: 5 } },
      "There is no option 'tasks.tll'. Did you mean 'tasks.ttlMs'? There are: store, ttlMs,",
    ],
    ['another bearer', { tasks: { bearer: 'accepted' } }, "tasks.bearer: expected 'accept'."],
    ['tasks that are none', { tasks: true }, 'tasks: expected an object of store, ttlMs,'],
    [
      'a misspelt limit',
      { limits: { maxTokenSize: 1 } },
      "There is no option 'limits.maxTokenSize'. Did you mean 'limits.maxTokenBytes'? There are: maxTokenBytes,",
    ],
    ['limits that are none', { limits: 5 }, 'limits: expected an object of maxTokenBytes,'],
    [
      'a misspelt hook',
      { hooks: { onSuspend: () => 1 } },
      "There is no option 'hooks.onSuspend'. Did you mean 'hooks.onSuspended'? There are: onReject,",
    ],
    [
      'a hook of undefined under a misspelt name',
      { hooks: { onRejected: undefined } },
      "There is no option 'hooks.onRejected'. Did you mean 'hooks.onReject'?",
    ],
    ['hooks that are none', { hooks: 1 }, 'hooks: expected an object of onReject,'],
    ['a hook that is no function', { hooks: { onTurn: 'log' } }, 'hooks.onTurn: expected a function.'],
    ['another principal', { auth: { principal: 'client_only' } }, "or 'client-only'."],
    [
      'an authorize that is no function',
      { auth: { authorize: true } },
      'auth.authorize: expected a function.',
    ],
    ['a rateLimit that is no function', { auth: { rateLimit: 10 } }, 'auth.rateLimit: expected a function.'],
    [
      'a sampling that is no function',
      { answers: { sampling: {} } },
      'answers.sampling: expected a function.',
    ],
    ['a sleep that is no function', { testing: { sleep: 5 } }, 'testing.sleep: expected a function.'],
    [
      'a clock that is no function',
      { testing: { clock: { now: 1 } } },
      'testing.clock: expected a function that gives milliseconds',
    ],
    [
      'another sealing',
      { testing: { sealing: 'quick' } },
      "testing.sealing: expected 'auto' or 'fast' or 'portable'.",
    ],
    [
      'an order of no list',
      { answers: { order: { sampling: 'host' } } },
      'answers.order.sampling: expected a list',
    ],
    ['two compensators of one name', { compensators: [undo, undo] }, "Two compensators are named 'undo'."],
    [
      'compensators that are none',
      { compensators: [() => 1] },
      'compensators: expected a list of what compensator(',
    ],
    ['a compensator by itself', { compensators: undo }, 'compensators: expected a list of what compensator('],
    [
      'a time in seconds',
      { auth: { rejectIssuedBefore: seconds } },
      'auth.rejectIssuedBefore: expected milliseconds',
    ],
    [
      'a time in microseconds',
      { auth: { rejectIssuedBefore: start * 10_000 } },
      'auth.rejectIssuedBefore: expected milliseconds',
    ],
    [
      'a time that is none',
      { auth: { rejectIssuedBefore: Number.NaN } },
      'auth.rejectIssuedBefore: expected milliseconds',
    ],
    [
      'a time that is a text',
      { auth: { rejectIssuedBefore: '2026-01-01' } },
      'auth.rejectIssuedBefore: expected milliseconds',
    ],
    [
      'a time that is a date',
      { auth: { rejectIssuedBefore: new Date(start) } },
      'auth.rejectIssuedBefore: expected milliseconds',
    ],
    [
      'tokens without an end',
      { limits: { tokenTtlMs: Number.MAX_SAFE_INTEGER } },
      'limits.tokenTtlMs must be 100 years at the most',
    ],
    [
      'sagas without an end',
      { limits: { maxLifetimeMs: Number.MAX_SAFE_INTEGER } },
      'limits.maxLifetimeMs must be 100 years at the most',
    ],
    [
      'a lease without an end',
      { guard: { store: memoryGuard(), leaseMs: Number.POSITIVE_INFINITY } },
      'guard.leaseMs must be a whole number',
    ],
    [
      'a negative lease',
      { guard: { store: memoryGuard(), leaseMs: -0.5 } },
      'guard.leaseMs must be a number of milliseconds',
    ],
  ])('%s', (_, options, said) => {
    expect(() => make(options)).toThrow(said);
    expect(() => make(options)).toThrow(/^[^\n]*\.$/);
  });
});

describe('a host is made with', () => {
  class Log {
    readonly lines: unknown[] = [];
    readonly onCall = 5;
    onTurn(turn: unknown): void {
      this.lines.push(turn);
    }
  }
  class Store {
    begin(): 'busy' {
      return 'busy';
    }
    claim(): boolean {
      return true;
    }
    finish(): boolean {
      return true;
    }
    release(): void {}
    forget(): void {}
  }

  test.each<[string, object]>([
    ['hooks of a class that has more', { hooks: new Log() }],
    [
      'hooks of an object without a prototype',
      { hooks: Object.assign(Object.create(null) as object, { onTurn: () => 1 }) },
    ],
    ['a guard of a class', { guard: { store: new Store() } }],
    ['a time in milliseconds', { auth: { rejectIssuedBefore: start } }],
    ['no time at all', { auth: { rejectIssuedBefore: 0 } }],
    [
      'options that are undefined',
      { hooks: undefined, guard: undefined, tasks: undefined, limits: undefined, auth: undefined },
    ],
    [
      'tokens for a hundred years',
      { limits: { tokenTtlMs: 3_153_600_000_000, maxLifetimeMs: 3_153_600_000_000 } },
    ],
  ])('%s', (_, options) => {
    expect(make(options).sagas).toHaveLength(1);
  });
});

test('tokens for a hundred years can be sealed', async () => {
  const host = make({ limits: { tokenTtlMs: 3_153_600_000_000, maxLifetimeMs: 3_153_600_000_000 } });
  expect(await host.start('asking', {})).toMatchObject({ status: 'suspended' });
});

describe('a host warns', () => {
  const warningsOf = (options: HostChanges): readonly string[] => {
    const told = nothingTold();
    const { onWarning } = hooksInto(told);
    make({ ...options, hooks: { ...options.hooks, onWarning } });
    return told.warnings;
  };

  test('[T13] of a lease that is over while its request may still run', () => {
    const guard = memoryGuard({ olderTokens: 'accept' });
    expect(warningsOf({ guard: { store: guard, leaseMs: 25_000 } })).toEqual([]);
    const said = [expect.stringContaining('Raise guard.leaseMs.')];
    expect(warningsOf({ guard: { store: guard, leaseMs: 24_999 } })).toEqual(said);
    expect(warningsOf({ guard: { store: guard }, limits: { turnBudgetMs: 60_001 } })).toEqual(said);
  });

  test('[E8] in development of a queue that no saga would be told to', () => {
    const sagas = (forks: 'refuse' | 'accept') => [
      asking(),
      saga({ name: 'other', version: '1', forks }, function* () {
        yield* [];
        return '';
      }),
    ];
    const queue = {
      hooks: { onSuspended: () => undefined },
      guard: { store: memoryGuard({ olderTokens: 'accept' }) },
    };
    const said = [
      expect.stringContaining('hooks.onSuspended is never called: no saga of this host declares forks'),
    ];
    expect(warningsOf({ ...queue, sagas: sagas('accept'), testing: { environment: 'development' } })).toEqual(
      said,
    );
    expect(warningsOf({ ...queue, sagas: sagas('refuse'), testing: { environment: 'development' } })).toEqual(
      [],
    );
    expect(warningsOf({ ...queue, sagas: sagas('accept') })).toEqual([]);
    // What has ended is told of every saga.
    const settled = { hooks: { onSettled: () => undefined }, testing: { environment: 'development' } };
    expect(warningsOf({ ...settled, sagas: sagas('accept') })).toEqual([]);
  });
});

test.each([{ now: 1 }, 5, null])('a guard and a store in memory are not made by the clock %o', (clock) => {
  expect(() => memoryGuard({ clock: clock as never })).toThrow(
    'memoryGuard.clock: expected a function that gives milliseconds',
  );
  expect(() => memoryTaskStore(clock as never)).toThrow('memoryTaskStore: expected a function that gives');
});

test.each<[object, string]>([
  [{ http: { path: 'mcp' } }, "http.path: expected the path of a URL, which begins with a slash: '/mcp'."],
  [{ http: { path: '/mcp?a=1' } }, 'http.path: expected the path of a URL'],
  [{ http: { path: 5 } }, 'http.path: expected the path of a URL'],
  [{ name: '' }, 'serveSagas needs a name and a version'],
  [{ version: 1 }, 'serveSagas needs a name and a version'],
])('no server is made with %o', (options, said) => {
  const whole = { name: 'deployer', version: '1', sagas: [asking()], keys: oldKey, ...options };
  expect(() => serveSagas(whole as never)).toThrow(said);
});

test.each<[object, string]>([
  [{ clock: Date.now }, "There is no option 'clock'. Did you mean 'testing.clock'? There are: sagas, keys,"],
  [{ admit: () => true }, "There is no option 'admit'. There are: sagas, keys,"],
  [{ autorize: () => true }, "There is no option 'autorize'. Did you mean 'auth.authorize'?"],
  [{ telemetri: {} }, "There is no option 'telemetri'. Did you mean 'telemetry'?"],
  [{ guard: memoryGuard() }, "There is no option 'guard.size'."],
  [
    { auth: { ratelimit: () => true } },
    "There is no option 'auth.ratelimit'. Did you mean 'auth.rateLimit'?",
  ],
  [
    { answers: { order: { elicit: [] } } },
    "'answers.order.elicit'. Did you mean 'answers.order.elicitation'?",
  ],
])('a host is not made of an unknown option: %o', (options, said) => {
  expect(() => make(options)).toThrow(said);
});

test.each<[object, string]>([
  [{ authenticate: () => undefined }, "There is no option 'authenticate'. Did you mean 'auth.authenticate'?"],
  [{ corse: true }, "There is no option 'corse'. Did you mean 'http.cors'?"],
  [{ http: { alowedHosts: [] } }, "There is no option 'http.alowedHosts'. Did you mean 'http.allowedHosts'?"],
  [{ extends: () => undefined }, "There is no option 'extends'. Did you mean 'extend'? There are: "],
  [{ auth: { oauht: {} } }, "There is no option 'auth.oauht'. Did you mean 'auth.oauth'?"],
])('no server is made of an unknown option: %o', (options, said) => {
  const whole = { name: 'deployer', version: '1', sagas: [asking()], keys: oldKey, ...options };
  expect(() => serveSagas(whole as never)).toThrow(said);
  expect(() => serveSagas(whole as never)).toThrow(/ (name, version|principal|path), /);
});
