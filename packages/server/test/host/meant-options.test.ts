import { afterEach, describe, expect, test, vi } from 'vitest';
import { compensator, createSagaHost, memoryStore } from '@mcp-saga/server';
import type { Appended, StoredList, Written } from '@mcp-saga/server/stores';
import { serveSagas } from '@mcp-saga/server/serve';
import * as z from 'zod';
import { nothingTold, hooksInto, oldKey } from '../fixtures/host.ts';
import { asking } from '../fixtures/sagas.ts';
import { start } from '../fixtures/clock.ts';
import { changed, type HostChanges } from '../fixtures/host-changes.ts';

const base = {
  sagas: [asking()],
  name: 'deployer',
  keys: oldKey,
  testing: { environment: 'production' },
};
const make = (options: object) => createSagaHost(changed(base, options));
const undo = compensator('undo', z.object({}), () => undefined);
const seconds = start / 1000;

function errorOf(call: () => unknown): Error {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  throw new Error('Nothing was thrown.');
}

afterEach(() => {
  vi.restoreAllMocks();
});

describe('a host rejects at its creation', () => {
  // What the message names, and a code other than `invalid_option`.
  test.each<[string, object, string, string?]>([
    ['a part of a store', { store: { ...memoryStore(), append: undefined } }, 'store: expected'],
    ['a store that was not called', { store: memoryStore }, 'Call it: memoryStore(…).'],
    ['a store without methods', { store: {} }, 'store: expected'],
    [
      'a misspelled option of starts',
      { starts: { kee: 5 } },
      "There is no option 'starts.kee'. Did you mean 'starts.key'? Options: unkeyed, key.",
      'unknown_option',
    ],
    [
      'a context for steps',
      { context: {} },
      "There is no option 'context'. Pass what belongs to the process as `services`",
      'unknown_option',
    ],
    [
      'a context in a group of options',
      { starts: { context: {} } },
      "There is no option 'starts.context'. Options: unkeyed, key.",
      'unknown_option',
    ],
    ['another consent', { anonymous: { tasks: 'accepted' } }, "anonymous.tasks: expected 'accept'"],
    ['a boolean as starts', { starts: true }, 'starts: expected an object of unkeyed, key'],
    [
      'a misspelled limit',
      { limits: { maxTokenSize: 1 } },
      "'limits.maxTokenBytes'",
      'unknown_option',
    ],
    ['a number as limits', { limits: 5 }, 'limits'],
    ['a misspelled hook', { hooks: { onSettle: () => 1 } }, "'hooks.onSettled'", 'unknown_option'],
    [
      'a misspelled hook that is undefined',
      { hooks: { onRejected: undefined } },
      "'hooks.onReject'",
      'unknown_option',
    ],
    ['a number as hooks', { hooks: 1 }, 'hooks'],
    [
      'a hook that is not a function',
      { hooks: { onTurn: 'log' } },
      'hooks.onTurn: expected a function.',
    ],
    ['another principal', { auth: { principal: 'client_only' } }, "or 'client-only'."],
    ['an authorize that is not a function', { auth: { authorize: true } }, 'auth.authorize'],
    ['a rateLimit that is not a function', { auth: { rateLimit: 10 } }, 'auth.rateLimit'],
    ['a sampling that is not a function', { answerers: { sampling: {} } }, 'answerers.sampling'],
    ['a sleep that is not a function', { testing: { sleep: 5 } }, 'testing.sleep'],
    ['a clock that is not a function', { testing: { clock: { now: 1 } } }, 'testing.clock'],
    ['another sealing', { testing: { sealing: 'quick' } }, "'auto' or 'fast' or 'portable'"],
    [
      'two compensators with one name',
      { compensators: [undo, undo] },
      "Two compensators are named 'undo'.",
    ],
    ['a function as a compensator', { compensators: [() => 1] }, 'compensator('],
    ['a compensator outside of a list', { compensators: undo }, 'compensators'],
    ['a time in seconds', { auth: { rejectIssuedBefore: seconds } }, 'auth.rejectIssuedBefore'],
    [
      'a time in microseconds',
      { auth: { rejectIssuedBefore: start * 10_000 } },
      'auth.rejectIssuedBefore',
    ],
    ['NaN as a time', { auth: { rejectIssuedBefore: Number.NaN } }, 'auth.rejectIssuedBefore'],
    ['text as a time', { auth: { rejectIssuedBefore: '2026-01-01' } }, 'auth.rejectIssuedBefore'],
    ['a date as a time', { auth: { rejectIssuedBefore: new Date(start) } }, 'Date.parse'],
    ['tokens without an end', { limits: { tokenTtl: Number.MAX_SAFE_INTEGER } }, 'limits.tokenTtl'],
    [
      'sagas without an end',
      { limits: { maxLifetime: Number.MAX_SAFE_INTEGER } },
      'at most 100 years',
    ],
    [
      'a lease without an end',
      { store: memoryStore(), limits: { lease: Number.POSITIVE_INFINITY } },
      'limits.lease must be finite',
    ],
    [
      'a negative lease',
      { store: memoryStore(), limits: { lease: -0.5 } },
      'limits.lease must be more than 0',
    ],
    ['a negative hold', { limits: { maxHold: -1 } }, 'limits.maxHold must be 0 or more'],
    [
      'a hold that is no time',
      { limits: { maxHold: '1 min' } },
      'limits.maxHold must be 0 or more',
    ],
  ])('%s', (_, options, named, code = 'invalid_option') => {
    const error = errorOf(() => make(options));
    expect(error).toMatchObject({ code });
    expect(error.message).toContain(named);
    expect(error.message).toMatch(
      new RegExp(`^[^\\n]*\\.\\nSee docs/reference/errors\\.md#${code}$`),
    );
  });
});

describe('a host accepts at its creation', () => {
  class Log {
    readonly lines: unknown[] = [];
    readonly onCall = 5;
    onTurn(turn: unknown): void {
      this.lines.push(turn);
    }
  }
  class Store {
    write(): Written {
      return { status: 'other', entry: undefined, nowMs: 0 };
    }
    remove(): boolean {
      return true;
    }
    read(): undefined {
      return undefined;
    }
    append(): Appended {
      return 'closed';
    }
    list(): StoredList {
      return { values: [], isClosed: true };
    }
    discard(): void {}
    close(): void {}
  }

  test.each([0, '0s'])('a hold of %j, which is over at once', (maxHold) => {
    expect(make({ limits: { maxHold } })).toBeDefined();
  });

  test.each<[string, object]>([
    ['hooks of a class that has more', { hooks: new Log() }],
    [
      'hooks of an object without a prototype',
      { hooks: Object.assign(Object.create(null) as object, { onTurn: () => 1 }) },
    ],
    ['a store of a class', { store: new Store() }],
    ['a time in milliseconds', { auth: { rejectIssuedBefore: start } }],
    ['no time at all', { auth: { rejectIssuedBefore: 0 } }],
    [
      'options that are undefined',
      { hooks: undefined, starts: undefined, page: undefined, limits: undefined, auth: undefined },
    ],
    [
      'tokens for a hundred years',
      { limits: { tokenTtl: 3_153_600_000_000, maxLifetime: 3_153_600_000_000 } },
    ],
  ])('%s', (_, options) => {
    expect(make(options).sagas).toHaveLength(1);
  });
});

test('tokens for a hundred years can be sealed', async () => {
  const host = make({
    limits: { tokenTtl: 3_153_600_000_000, maxLifetime: 3_153_600_000_000 },
  });
  expect(await host.start('asking', {})).toMatchObject({ status: 'suspended' });
});

describe('a host warns', () => {
  const warningsOf = (options: HostChanges): readonly string[] => {
    const told = nothingTold();
    const { onWarning } = hooksInto(told);
    make({ ...options, hooks: { ...options.hooks, onWarning } });
    return told.warnings;
  };

  test.each([
    ['tokenTtl', 604_800],
    ['maxLifetime', 3_600],
  ])('in development of limits.%s as a number that is most likely seconds', (name, value) => {
    const testing = { environment: 'development' };
    expect(warningsOf({ testing, limits: { [name]: value } })).toEqual([
      `limits.${name} is ${value} milliseconds. Write '${value}s' for seconds, or '${value}ms'.`,
    ]);
    expect(warningsOf({ testing, limits: { [name]: '10m' } })).toEqual([]);
    expect(warningsOf({ testing, limits: { [name]: 900_000 } })).toEqual([]);
  });

  test('in development of a duration below a second without a unit', () => {
    const testing = { environment: 'development' };
    const limits = { tokenTtl: 30, maxHold: 0, turnBudget: '500ms', hookTimeout: 1_000 } as const;
    expect(warningsOf({ testing, limits })).toEqual([
      "limits.tokenTtl is 30 milliseconds. Write '30s' for seconds, or '30ms'.",
    ]);
    expect(warningsOf({ testing: { environment: 'production' }, limits })).toEqual([]);
  });
});

test.each([{ now: 1 }, 5, null])('a store in memory refuses the clock %o', (clock) => {
  expect(() => memoryStore({ clock: clock as never })).toThrow(
    expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
  );
  expect(() => memoryStore({ clock: clock as never })).toThrow(
    'memoryStore.clock: expected a function',
  );
});

test.each<[unknown, string, RegExp]>([
  [{ clok: Date.now }, 'unknown_option', /memoryStore.* Did you mean '(?:memoryStore\.)?clock'\?/],
  [Date.now, 'invalid_option', /^memoryStore: expected an object/],
])('a store in memory refuses %o as options', (options, code, message) => {
  expect(() => memoryStore(options as never)).toThrow(expect.objectContaining({ code }));
  expect(() => memoryStore(options as never)).toThrow(message);
});

test.each<[object, string]>([
  [
    { http: { path: 'mcp' } },
    "http.path: expected the path of a URL, which begins with a slash: '/mcp'.",
  ],
  [{ http: { path: '/mcp?a=1' } }, 'http.path: expected the path of a URL'],
  [{ http: { path: 5 } }, 'http.path: expected the path of a URL'],
  [{ name: '' }, 'serveSagas needs a name and a version'],
  [{ version: 1 }, 'serveSagas needs a name and a version'],
])('serveSagas refuses %o', (options, said) => {
  const whole = { name: 'deployer', version: '1', sagas: [asking()], keys: oldKey, ...options };
  expect(() => serveSagas(whole as never)).toThrow(said);
});

test.each<[object, string]>([
  [
    { clock: Date.now },
    "There is no option 'clock'. Did you mean 'testing.clock'? Options: sagas, keys,",
  ],
  [{ admit: () => true }, "There is no option 'admit'. Options: sagas, keys,"],
  [{ autorize: () => true }, "There is no option 'autorize'. Did you mean 'auth.authorize'?"],
  [{ telemetri: {} }, "There is no option 'telemetri'. Did you mean 'telemetry'?"],
  [
    { auth: { ratelimit: () => true } },
    "There is no option 'auth.ratelimit'. Did you mean 'auth.rateLimit'?",
  ],
  [{ answers: { model: 'accept' } }, "There is no option 'answers'. Did you mean 'answerers'?"],
  // Never a consent: it would let anyone with the ID of a task control it.
  [{ tasks: { ttl: '1h' } }, "There is no option 'tasks'. Options: "],
  [{ calls: 'accept' }, "There is no option 'calls'. Options: "],
])('a host refuses an unknown option: %o', (options, said) => {
  expect(() => make(options)).toThrow(said);
});

test.each<[object, string]>([
  [
    { authenticate: () => undefined },
    "There is no option 'authenticate'. Did you mean 'auth.authenticate'?",
  ],
  [{ handlr: {} }, "There is no option 'handlr'. Did you mean 'http.handler'?"],
  [
    { http: { alowedHosts: [] } },
    "There is no option 'http.alowedHosts'. Did you mean 'http.allowedHosts'?",
  ],
  [{ extends: () => undefined }, "There is no option 'extends'. Did you mean 'extend'? Options: "],
  [{ auth: { oauht: {} } }, "There is no option 'auth.oauht'. Did you mean 'auth.oauth'?"],
])('serveSagas refuses an unknown option: %o', (options, said) => {
  const whole = { name: 'deployer', version: '1', sagas: [asking()], keys: oldKey, ...options };
  expect(() => serveSagas(whole as never)).toThrow(said);
  expect(() => serveSagas(whole as never)).toThrow(/ (version|principal|path), /);
});
