import { abort, elicit, now, pivot, saga, SagaError, step, type Program } from '@mcp-saga/server';
import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
  testSaga,
  upgradeEverywhere,
} from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { messageOf } from './support/error-of.ts';

// A caller in JavaScript, whose options no compiler checks.
const misspelled = JSON.parse('{ "retries": 3 }') as { readonly retry?: number };
const output = z.object({ text: z.string() });
const misfit = (): { text: string } => JSON.parse('{ "text": 7 }') as { text: string };

const broken: readonly (readonly [string, Program, RegExp])[] = [
  [
    'an unknown option',
    saga({ name: 'option', version: '1' }, function* () {
      yield* step('save', () => 1, misspelled);
      return 'saved';
    }),
    /AuthoringError: step\('save'\) has no option 'retries'/,
  ],
  [
    'a result outside its schema',
    saga({ name: 'output', version: '1', output }, function* () {
      yield* step('save', () => 1);
      return misfit();
    }),
    /the result does not match the output schema: text: /,
  ],
  [
    'a step result that the journal cannot keep',
    saga({ name: 'unencodable', version: '1' }, function* () {
      yield* step('save', () => Symbol('saved') as unknown as string);
      return 'saved';
    }),
    /Step 'save' returned a value that cannot be recorded/,
  ],
];

const explorers: readonly ((saga: Program) => Promise<unknown>)[] = [
  (each) => assertDeterministic(testSaga(each)),
  (each) => crashEverywhere(testSaga(each)),
  (each) => crashEverywhere(testSaga(each), { afterCrash: 'fail' }),
  (each) => failEverywhere(testSaga(each)),
  (each) => forkEverywhere(testSaga(each)),
  (each) => refuseEverywhere(testSaga(each)),
  (each) => upgradeEverywhere(testSaga(each), each),
];

const outgrown: readonly (readonly [string, Program, RegExp])[] = [
  [
    'a state that does not fit a token',
    saga({ name: 'large', version: '1' }, function* () {
      // Random digits, as a token is compressed.
      yield* step('read', () => Array.from({ length: 6_000 }, () => Math.random()).join(''));
      yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
      return 'never';
    }),
    /does not fit a token/,
  ],
  [
    'too many entries of its journal',
    saga({ name: 'endless', version: '1' }, function* () {
      let time = 0;
      while (time >= 0) time = yield* now();
      return 'never';
    }),
    /The journal has reached its limit/,
  ],
];

describe('a saga that always fails', () => {
  it.each([...broken, ...outgrown])(
    '[W4] is a violation in each explorer if the cause is %s',
    async (_, each, text) => {
      for (const explore of explorers) {
        const message = await messageOf(explore(each));
        expect(message).toMatch(
          /^In the undisturbed run: it fails because of a mistake in its code: /,
        );
        expect(message).toMatch(text);
      }
    },
  );

  it.each([
    ['its author aborts', abort('sold out')],
    ['a step reports an error with a code of the library', step('pay', refuse)],
  ])('[W4] is no violation if %s', async (_, command) => {
    const each = saga({ name: 'intended', version: '1' }, function* () {
      yield* command;
      return 'never';
    });
    for (const explore of explorers) await explore(each);
  });
});

describe('a case that ends in a mistake', () => {
  const Go = z.object({ go: z.boolean() });

  it('[E3] is a violation after a pivot, where nothing can be undone', async () => {
    const each = saga(
      { name: 'late', version: '1', output, forks: 'accept', commitFirst: true },
      function* () {
        yield* step('pay', ({ idempotencyKey }) => idempotencyKey);
        yield* pivot('paid');
        try {
          yield* step('receipt', ({ idempotencyKey }) => idempotencyKey);
        } catch {
          return misfit();
        }
        return { text: 'paid' };
      },
    );
    const message = await messageOf(failEverywhere(testSaga(each), { harmless: ['*'] }));
    expect(message).toMatch(
      /^When 'receipt' fails: it fails because of a mistake in its code: .*the output schema/,
    );
  });

  it('[E7] is a violation in a fork', async () => {
    const each = saga({ name: 'forked', version: '1', output }, function* () {
      const { go } = yield* elicit('go', { message: 'On?', schema: Go });
      return go ? { text: 'done' } : misfit();
    });
    const message = await messageOf(forkEverywhere(testSaga(each).on.elicit('go', { go: true })));
    expect(message).toMatch(/it fails because of a mistake in its code: .*the output schema/);
  });
});

function refuse(): never {
  throw new SagaError('The bank sent a bad result.', { code: 'invalid_result' });
}

describe('the place of a mistake', () => {
  const placeIn = async (...frames: readonly string[]): Promise<string | undefined> => {
    const slips = saga({ name: 'slips', version: '1' }, function* () {
      yield* step('save', () => 1);
      const error = new TypeError('oops');
      error.stack = ['TypeError: oops', ...frames.map((frame) => `    at ${frame}`)].join('\n');
      throw error;
    });
    const message = await messageOf(refuseEverywhere(testSaga(slips)));
    return /a TypeError: oops \((.*)\), a mistake/.exec(message)?.[1];
  };
  const bundle = 'Zn.next (http://127.0.0.1:46057/assets/worker-x.js:1:64787)';

  it.each([
    ['without a folder', 'Object.next (refund.ts:12:7)', 'refund.ts:12:7'],
    ['without a function', 'refund.ts:12:7', 'refund.ts:12:7'],
    ['in a folder', 'async pay (/my sagas/(shop)/pay.ts:3:1)', '/my sagas/(shop)/pay.ts:3:1'],
    ['as a URL of a file', 'pay (file:///sagas/pay.js:3:1)', 'file:///sagas/pay.js:3:1'],
    ['on another disk', String.raw`pay (C:\sagas\pay.ts:3:1)`, String.raw`C:\sagas\pay.ts:3:1`],
  ])('[W4] is that of the first frame of the author: %s', async (_, frame, place) => {
    const foreign = [
      'JSON.parse (<anonymous>)',
      'node:internal/url:7:1',
      'parse (/app/node_modules/zod/index.js:1:2)',
    ];
    expect(await placeIn(...foreign, bundle, frame, 'other.ts:1:1', bundle)).toBe(place);
  });

  it('[W4] is not named if no frame is of the author', async () => {
    const evaluated = 'eval (eval at load (https://a.test/x.js:1:2), <anonymous>:3:5)';
    expect(await placeIn(bundle, evaluated, 'https://a.test/x.js:1:2')).toBeUndefined();
  });
});
