import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  compensator,
  createSagaHost,
  memoryGuard,
  memoryTaskStore,
  saga,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import * as z from 'zod';
import { nothingTold, hooksInto, oldKey } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';
import { start } from '../fixtures/clock.ts';

const base = { sagas: [asking()], audience: 'deployer', keys: oldKey, environment: 'production' };
const make = (options: object) => createSagaHost({ ...base, ...options });
const undo = compensator('undo', z.object({}), () => undefined);
const seconds = start / 1000;

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a host is not made, and says what to write, with', () => {
  test.each<[string, object, string]>([
    ['a guard that was not called', { guard: memoryGuard }, 'Call it: memoryGuard(…).'],
    ['a guard without methods', { guard: {} }, 'guard: expected what memoryGuard() returns'],
    ['no guard', { guard: null }, 'guard: expected what memoryGuard() returns'],
    [
      'a part of a guard',
      { guard: { ...memoryGuard(), claim: undefined } },
      'guard: expected what memoryGuard()',
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
      "There is no option of tasks 'tll'. There are: store, ttl,",
    ],
    ['another bearer', { tasks: { bearer: 'accepted' } }, "tasks.bearer: expected 'accept'."],
    ['tasks that are none', { tasks: true }, 'tasks: expected an object of store, ttl,'],
    [
      'a misspelt limit',
      { limits: { maxTokenSize: 1 } },
      "There is no limit 'maxTokenSize'. There are: maxTokenBytes,",
    ],
    ['limits that are none', { limits: 5 }, 'limits: expected an object of maxTokenBytes,'],
    [
      'a misspelt hook',
      { hooks: { onSuspend: () => 1 } },
      "There is no hook 'onSuspend'. There are: onReject,",
    ],
    [
      'a hook of undefined under a misspelt name',
      { hooks: { onRejected: undefined } },
      "There is no hook 'onRejected'",
    ],
    ['hooks that are none', { hooks: 1 }, 'hooks: expected an object of onReject,'],
    ['a hook that is no function', { hooks: { onTurn: 'log' } }, 'hooks.onTurn: expected a function.'],
    ['another principal', { principal: 'client_only' }, "or 'client-only'."],
    ['an authorize that is no function', { authorize: true }, 'authorize: expected a function.'],
    ['an admit that is no function', { admit: 10 }, 'admit: expected a function.'],
    ['a sampling that is no function', { sampling: {} }, 'sampling: expected a function.'],
    ['a sleep that is no function', { sleep: 5 }, 'sleep: expected a function.'],
    [
      'a clock that is no function',
      { clock: { now: 1 } },
      'clock: expected a function that gives milliseconds',
    ],
    ['another sealing', { sealing: 'quick' }, "sealing: expected 'auto' or 'fast' or 'portable'."],
    ['a ladder of one rung', { ladder: { sampling: 'host' } }, 'ladder.sampling: expected a list'],
    ['two compensators of one name', { compensators: [undo, undo] }, "Two compensators are named 'undo'."],
    [
      'compensators that are none',
      { compensators: [() => 1] },
      'compensators: expected a list of what compensator(',
    ],
    ['a compensator by itself', { compensators: undo }, 'compensators: expected a list of what compensator('],
    ['a time in seconds', { rejectIssuedBefore: seconds }, 'rejectIssuedBefore: expected milliseconds'],
    [
      'a time in microseconds',
      { rejectIssuedBefore: start * 10_000 },
      'rejectIssuedBefore: expected milliseconds',
    ],
    ['a time that is none', { rejectIssuedBefore: Number.NaN }, 'rejectIssuedBefore: expected milliseconds'],
    [
      'a time that is a text',
      { rejectIssuedBefore: '2026-01-01' },
      'rejectIssuedBefore: expected milliseconds',
    ],
    [
      'a time that is a date',
      { rejectIssuedBefore: new Date(start) },
      'rejectIssuedBefore: expected milliseconds',
    ],
    [
      'tokens without an end',
      { tokenTtl: Number.MAX_SAFE_INTEGER },
      'tokenTtl must be 100 years at the most',
    ],
    [
      'sagas without an end',
      { maxLifetime: Number.MAX_SAFE_INTEGER },
      'maxLifetime must be 100 years at the most',
    ],
    ['a lease without an end', { guardLease: Number.POSITIVE_INFINITY }, 'guardLease must be a whole number'],
    ['a negative lease', { guardLease: -0.5 }, 'guardLease must be a number of milliseconds'],
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
    ['a guard of a class', { guard: new Store() }],
    ['a time in milliseconds', { rejectIssuedBefore: start }],
    ['no time at all', { rejectIssuedBefore: 0 }],
    [
      'options that are undefined',
      { hooks: undefined, guard: undefined, tasks: undefined, limits: undefined, clock: undefined },
    ],
    ['tokens for a hundred years', { tokenTtl: 3_153_600_000_000, maxLifetime: 3_153_600_000_000 }],
  ])('%s', (_, options) => {
    expect(make(options).sagas).toHaveLength(1);
  });
});

test('tokens for a hundred years can be sealed', async () => {
  const host = make({ tokenTtl: 3_153_600_000_000, maxLifetime: 3_153_600_000_000 });
  expect(await host.start('asking', {})).toMatchObject({ status: 'suspended' });
});

describe('a host warns', () => {
  const warningsOf = (options: Partial<SagaHostOptions>): readonly string[] => {
    const told = nothingTold();
    const { onWarning } = hooksInto(told);
    make({ ...options, hooks: { ...options.hooks, onWarning } });
    return told.warnings;
  };

  test('[T13] of a lease that is over while its request may still run', () => {
    const guard = memoryGuard();
    expect(warningsOf({ guard, guardLease: 25_000 })).toEqual([]);
    expect(warningsOf({ guardLease: 1 })).toEqual([]);
    const said = [expect.stringContaining('Make guardLease the longer one.')];
    expect(warningsOf({ guard, guardLease: 24_999 })).toEqual(said);
    expect(warningsOf({ guard, turnBudget: 60_001 })).toEqual(said);
  });

  test('[E8] in development of a queue that no saga would be told to', () => {
    const sagas = (forks: 'refuse' | 'accept') => [
      asking(),
      saga({ name: 'other', version: '1', forks }, function* () {
        yield* [];
        return '';
      }),
    ];
    const queue = { hooks: { onSuspended: () => undefined }, guard: memoryGuard() };
    const said = [
      expect.stringContaining('hooks.onSuspended is never called: no saga of this host declares forks'),
    ];
    expect(warningsOf({ ...queue, sagas: sagas('accept'), environment: 'development' })).toEqual(said);
    expect(warningsOf({ ...queue, sagas: sagas('refuse'), environment: 'development' })).toEqual([]);
    expect(warningsOf({ ...queue, sagas: sagas('accept') })).toEqual([]);
    // What has ended is told of every saga.
    const settled = { hooks: { onSettled: () => undefined }, environment: 'development' };
    expect(warningsOf({ ...settled, sagas: sagas('accept') })).toEqual([]);
  });
});

test.each([{ now: 1 }, 5, null])('a guard and a store in memory are not made by the clock %o', (clock) => {
  expect(() => memoryGuard(clock as never)).toThrow(
    'memoryGuard: expected a function that gives milliseconds',
  );
  expect(() => memoryTaskStore(clock as never)).toThrow('memoryTaskStore: expected a function that gives');
});

test.each<[object, string]>([
  [{ path: 'mcp' }, "path: expected the path of a URL, which begins with a slash: '/mcp'."],
  [{ path: '/mcp?a=1' }, 'path: expected the path of a URL'],
  [{ path: 5 }, 'path: expected the path of a URL'],
  [{ name: '' }, 'serveSagas needs a name and a version'],
  [{ version: 1 }, 'serveSagas needs a name and a version'],
])('no server is made with %o', (options, said) => {
  const whole = { name: 'deployer', version: '1', sagas: [asking()], keys: oldKey, ...options };
  expect(() => serveSagas(whole as never)).toThrow(said);
});
