import {
  abort,
  elicit,
  now,
  pivot,
  saga,
  SagaError,
  step,
  type Program,
  type Steps,
} from '@mcp-saga/server';
import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  forkEverywhere,
  refuseEverywhere,
  testSaga,
  upgradeEverywhere,
  type TestSaga,
} from '@mcp-saga/testing';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { errorOf, messageOf } from './support/error-of.ts';

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

const explorers: readonly ((script: TestSaga) => Promise<unknown>)[] = [
  (script) => assertDeterministic(script),
  (script) => crashEverywhere(script),
  (script) => crashEverywhere(script, { afterCrash: 'fail' }),
  (script) => failEverywhere(script),
  (script) => forkEverywhere(script),
  (script) => refuseEverywhere(script),
  (script) => upgradeEverywhere(script, script.saga),
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
        const message = await messageOf(explore(testSaga(each)));
        expect(message).toMatch(
          /^In the undisturbed run: it fails because of a mistake in its code: /,
        );
        expect(message).toMatch(text);
      }
    },
  );

  const failing = (ends: () => Steps<unknown>): Program =>
    saga({ name: 'intended', version: '1' }, function* () {
      yield* elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) });
      yield* step('reserve', ({ idempotencyKey }) => idempotencyKey, {
        compensate: ({ stepKey, idempotencyKey }) => [stepKey, idempotencyKey],
        unknown: 'compensate',
      });
      yield* ends();
      return 'never';
    });
  const declared = [
    [
      'its author aborts',
      failing(function* () {
        yield* abort('sold out');
      }),
      'sold out',
    ],
    [
      'a step reports an error with a code of the library',
      failing(function* () {
        yield* step('pay', refuse);
      }),
      'invalid_result',
    ],
    [
      'a step has a mistake',
      failing(function* () {
        yield* step('pay', slip);
      }),
      'reading',
    ],
  ] as const;

  it.each(declared)('[W4] is a violation in each explorer if %s', async (_, each) => {
    for (const explore of explorers) {
      const { code, message } = await errorOf(explore(testSaga(each)));
      expect(code).toBe('violated');
      expect(message).toMatch(/^In the undisturbed run: the saga fails: /);
      expect(message).toContain('.expectFailure(');
    }
  });

  it.each(declared)(
    'passes each explorer whose script expects the failure: %s',
    async (_, each, reason) => {
      for (const explore of explorers) await explore(testSaga(each).expectFailure(reason));
    },
  );

  it('is refused by each explorer whose script expects another failure', async () => {
    const [[, each]] = declared;
    for (const explore of explorers) {
      const { code, message } = await errorOf(explore(testSaga(each).expectFailure('no truck')));
      expect(code).toBe('script');
      expect(message).toContain("code 'saga_aborted'");
    }
  });

  it('is a violation in each explorer if the host refuses its client', async () => {
    const each = saga({ name: 'needy', version: '1', needs: ['sampling'] }, function* () {
      yield* step('save', () => 1);
      return 'saved';
    });
    const { code } = await errorOf(crashEverywhere(testSaga(each).deny.client('sampling')));
    expect(code).toBe('violated');
  });
});

describe('an expected failure', () => {
  const Sure = z.object({ sure: z.boolean() });
  const asks = saga({ name: 'asks', version: '1' }, function* () {
    const { sure } = yield* elicit('sure', { message: 'Sure?', schema: Sure });
    return String(sure);
  });
  const answered = testSaga(asks).on.elicit('sure', { sure: true });
  const saves = saga({ name: 'saves', version: '1' }, function* () {
    yield* step('save', ({ idempotencyKey }) => idempotencyKey);
    throw new Error('not saved');
  });

  it.each(['elicitation_refused', 'declined'])(
    'is named by the code of the error, or by a part of its message: %s',
    async (reason) => {
      const run = await answered.refuse.elicit('sure').expectFailure(reason).run();
      expect(run.status).toBe('failed');
    },
  );

  it('that does not happen fails the run, and each explorer', async () => {
    const expects = answered.expectFailure('declined');
    for (const check of [() => expects.run(), () => crashEverywhere(expects)]) {
      const { code, message } = await errorOf(check());
      expect(code).toBe('script');
      expect(message).toContain(".expectFailure('declined')   (the run completed");
    }
  });

  it('holds whatever words of the script follow it', async () => {
    const declined = answered.refuse.elicit('sure').expectFailure('declined');
    const late = declined.late.elicit('sure', 9);
    expect((await late.run()).status).toBe('failed');
    await crashEverywhere(late);

    const agreed = declined.on.elicit('sure', { sure: false });
    for (const check of [() => agreed.run(), () => crashEverywhere(agreed)]) {
      const { code, message } = await errorOf(check());
      expect(code).toBe('script');
      expect(message).toContain(".expectFailure('declined')   (the run completed");
    }
  });

  it('is replaced by another one', async () => {
    const wrong = answered.expectFailure('no truck');
    const run = await wrong.expectFailure('declined').refuse.elicit('sure').run();
    expect(run.status).toBe('failed');
  });

  it('is not expected of the cases of an explorer, which add faults', async () => {
    const declined = answered.refuse.elicit('sure').expectFailure('declined');
    await refuseEverywhere(declined);
    await failEverywhere(testSaga(saves).expectFailure('not saved'), { harmless: ['save'] });
  });

  it('stays in the pasted script of a saga that is not deterministic', async () => {
    const localized = saga({ name: 'localized', version: '1' }, function* () {
      yield* elicit('sure', { message: `Pay ${(1234.5).toLocaleString()}?`, schema: Sure });
      throw new Error('not paid');
    });
    const script = testSaga(localized).expectFailure('not paid');
    const { code, message } = await errorOf(assertDeterministic(script));
    expect(code).toBe('not_deterministic');
    expect(message).toMatch(/await assertDeterministic\([^]*\.expectFailure\('not paid'\)/);
  });

  it.each([[''], [undefined], [7]])('without a reason is refused: %j', (reason) => {
    expect(() => answered.expectFailure(reason as string)).toThrow(
      expect.objectContaining({ code: 'script' }),
    );
  });
});

describe('a case that ends in a mistake', () => {
  const Go = z.object({ go: z.boolean() });

  it('[E3] is a violation after a pivot, where nothing can be undone', async () => {
    const each = saga({ name: 'late', version: '1', output, reuse: 'ok' }, function* () {
      yield* step('pay', ({ idempotencyKey }) => idempotencyKey);
      yield* pivot('paid');
      try {
        yield* step('receipt', ({ idempotencyKey }) => idempotencyKey);
      } catch {
        return misfit();
      }
      return { text: 'paid' };
    });
    const message = await messageOf(failEverywhere(testSaga(each), { harmless: ['*'] }));
    expect(message).toMatch(
      /^When 'receipt' fails: it fails because of a mistake in its code: .*the output schema/,
    );
  });

  it('[E7] is a violation in a fork', async () => {
    const each = saga({ name: 'forked', version: '1', output, reuse: 'ok' }, function* () {
      const { go } = yield* elicit('go', { message: 'On?', schema: Go });
      return go ? { text: 'done' } : misfit();
    });
    const message = await messageOf(forkEverywhere(testSaga(each).on.elicit('go', { go: true })));
    expect(message).toMatch(/it fails because of a mistake in its code: .*the output schema/);
  });
});

function slip(): number {
  const missing: readonly number[][] = [];
  return (missing[0] as readonly number[]).length;
}

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
