/* oxlint-disable unicorn/consistent-function-scoping, require-yield, typescript/no-unnecessary-type-assertion, unicorn/no-array-for-each, typescript/no-floating-promises, typescript/no-misused-promises, typescript/await-thenable -- mistakes, as they are written */
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  abort,
  approval,
  all,
  allSettled,
  call,
  checkpoint,
  compensator,
  continueAs,
  each,
  elicit,
  elicitUrl,
  info,
  listRoots,
  log,
  now,
  patched,
  pivot,
  poll,
  progress,
  promptSaga,
  race,
  random,
  resourceSaga,
  saga,
  sample,
  scope,
  sleep,
  step,
} from '../src/index.ts';
import type { Steps } from '../src/model/command.ts';
import type { Program } from '../src/model/program.ts';
import { isAuthoringError } from '../src/program-parts.ts';
import { start } from './support/drive.ts';
import { World, type TurnSettings } from './support/world.ts';

// As JavaScript sees it: no type refuses anything.
type Any = never;
type Body = (input: Any) => unknown;

const Sure = z.object({ sure: z.boolean() });
const question = { message: 'Sure?', schema: Sure };
const one = (): number => 1;
const reuse = { reuse: 'ok' };
// As on a host without a store.
const withoutStore = { replace: { claim: undefined } };

/** A saga with this body. */
const of =
  (body: Body, options: object = {}) =>
  (): Program =>
    saga({ name: 'order', version: '1', ...options } as Any, body as Any);

/** A saga that yields what this makes. */
const yields = (make: () => unknown, options?: object): (() => Program) =>
  of(function* () {
    return yield* make() as Steps<unknown>;
  }, options);

class Order {
  total(): number {
    return 1;
  }
}
const customer: Record<string, unknown> = { name: 'Ada' };
customer['orders'] = [{ customer }];
const refund = compensator('refund', z.object({ id: z.string() }), one);
const child = saga({ name: 'child', version: '1' }, function* () {
  yield* checkpoint();
  return 'x';
});

type Mistake = readonly [title: string, make: () => unknown, says: string, settings?: TurnSettings];

type Linked = readonly [
  title: string,
  anchor: string,
  make: () => unknown,
  settings?: TurnSettings,
];

/** Typical mistakes: the code, and the error at the definition or in the first turn. */
const mistakes: readonly Mistake[] = [
  // The definition
  [
    'saga() without arguments',
    () => (saga as Any as Body)(undefined as Any),
    'saga() needs a body, its second argument',
  ],
  [
    'a name in place of options',
    () => saga('order' as Any, one as Any),
    'saga() takes its options as an object',
  ],
  ['no name', of(function* () {}, { name: undefined }), 'A saga needs a name'],
  ['an empty name', of(function* () {}, { name: '' }), 'A saga needs a name'],
  ['no version', of(function* () {}, { version: undefined }), 'needs a version'],
  ['a version that is a number', of(function* () {}, { version: 1 }), 'needs a version'],
  ['no body', of(undefined as Any), 'needs a body'],
  [
    'a body among the options',
    of(undefined as Any, { body: one }),
    'needs a body, its second argument',
  ],
  ['a handler among the options', of(function* () {}, { handler: one }), "has no option 'handler'"],
  ['an async body', of(async () => 'x'), 'is async'],
  ['an async generator', of(async function* () {}), 'is async'],
  ['a plain function', of(() => 'x'), 'is not a generator function'],
  ['inputSchema', of(function* () {}, { inputSchema: Sure }), "Did you mean 'input'?"],
  ['parameters', of(function* () {}, { parameters: Sure }), "has no option 'parameters'"],
  [
    'fields in place of a schema',
    of(function* () {}, { input: { sure: z.boolean() } }),
    'Wrap the fields in z.object',
  ],
  [
    'JSON Schema in place of a schema',
    of(function* () {}, { input: { type: 'object' } }),
    'expected a schema',
  ],
  ['another word for reuse', of(function* () {}, { reuse: 'allow' }), "must be 'ok'"],
  [
    'needs that are a text',
    of(function* () {}, { needs: 'elicitation' }),
    'must be a list of elicitation',
  ],
  [
    'commitEach of tokens that are used again',
    of(function* () {}, { commitEach: true, reuse: 'ok' }),
    'Remove one of the two',
  ],
  [
    'annotations that are no object',
    of(function* () {}, { annotations: 'destructive' }),
    'must be an object',
  ],
  [
    'previous that is a saga',
    of(function* () {}, { previous: child }),
    'must be a list of older versions',
  ],
  [
    'output of a prompt',
    () => promptSaga({ name: 'p', version: '1', output: Sure } as Any, one as Any),
    "has no option 'output'",
  ],
  [
    'a resource without a template',
    () => resourceSaga({ name: 'r', version: '1' } as Any, one as Any),
    'A URI template starts with a scheme',
  ],

  // Missing yield*
  [
    'a step without yield*',
    of(function* () {
      step('charge', one);
      return 'x';
    }),
    "Write: yield* step('charge')",
  ],
  [
    'a question without yield*',
    of(function* () {
      elicit('sure', question);
      return 'x';
    }),
    "Write: yield* elicit('sure')",
  ],
  [
    'a wait without yield*',
    of(function* () {
      sleep(1000);
      return 'x';
    }),
    'Write: yield* sleep(…)',
  ],
  [
    'an abort without yield*',
    of(function* () {
      abort('no');
      return 'x';
    }),
    'Write: yield* abort(…)',
  ],
  [
    'a step that is returned',
    of(function* () {
      return step('charge', one);
    }),
    'returned a command. Write: return yield* ',
  ],
  [
    'a generator that is returned',
    of(function* () {
      return (function* () {})();
    }),
    'returned a generator',
  ],
  [
    'a promise that is returned',
    of(function* () {
      return Promise.resolve('x');
    }),
    'returned a promise',
  ],
  [
    'a promise that is yielded',
    of(function* () {
      yield Promise.resolve(1);
    }),
    'yielded a promise',
  ],
  [
    'a helper that is yielded',
    of(function* () {
      yield (function* () {})();
    }),
    'write yield* before the helper',
  ],
  [
    'a number that is yielded',
    of(function* () {
      yield 5;
    }),
    'yielded a value of type number',
  ],
  [
    'a function that is yielded',
    of(function* () {
      yield one;
    }),
    'yielded a function',
  ],
  [
    'yield* of a promise',
    yields(() => Promise.resolve(1)),
    'such as a promise. Yield a command, such as',
  ],
  [
    'yield* of a promise in a variable',
    of(function* () {
      const order = Promise.resolve(1) as Any as Steps<unknown>;
      return yield* order;
    }),
    'such as a promise. Yield a command, such as',
  ],
  [
    'yield* of an async generator',
    yields(() => (async function* () {})()),
    'The saga yielded a value that is no command',
  ],
  [
    'yield* of a helper that is not called',
    of(function* () {
      const helper = function* () {} as Any as Steps<unknown>;
      return yield* helper;
    }),
    'The saga yielded a value that is no command',
  ],
  [
    'yield* of a promise in a branch',
    yields(() =>
      all({
        a: (function* () {
          return yield* Promise.resolve(1) as Any as Steps<unknown>;
        })(),
      }),
    ),
    'such as a promise. Yield a command, such as',
  ],
  [
    'forEach over steps',
    of(function* () {
      [1, 2].forEach((id) => step('charge', one, { key: String(id) }));
      return 'x';
    }),
    "Write: yield* step('charge')",
  ],

  // Steps
  ['a step without an ID', yields(() => step(one as Any, one as Any)), 'is of type function'],
  [
    'a step with a space in its ID',
    yields(() => step('charge card', one)),
    "'charge card' cannot name a step",
  ],
  ['a step with a value in its ID', yields(() => step('charge/7', one)), 'cannot name a step'],
  [
    'a step without a function',
    yields(() => step('charge', undefined as Any)),
    'needs a function to run',
  ],
  [
    'a step that awaits another step',
    yields(() =>
      step('charge', async () => {
        await (step('refund', one) as Any);
      }),
    ),
    'A command was awaited',
  ],
  [
    'a step that returns another step',
    yields(() => step('charge', async () => step('refund', one) as Any)),
    'A command was awaited',
  ],
  [
    'a step with a promise',
    yields(() => step('charge', Promise.resolve(1) as Any)),
    "Pass the function: step('charge', () => …)",
  ],
  [
    'a step with a generator',
    yields(() => step('charge', function* () {} as Any)),
    'is a generator',
  ],
  [
    'compesate',
    yields(() => step('charge', one, { compesate: one } as Any), reuse),
    "Did you mean 'compensate'?",
  ],
  [
    'options that are a number',
    yields(() => step('charge', one, 3 as Any)),
    'takes its options as an object',
  ],
  ['retry of 0', yields(() => step('charge', one, { retry: 0 })), 'must be a whole number from 1'],
  [
    'retry that is true',
    yields(() => step('charge', one, { retry: true as Any })),
    'retry of step',
  ],
  [
    'retry without attempts',
    yields(() => step('charge', one, { retry: {} as Any })),
    'retry.attempts',
  ],
  [
    'a timeout that is a text',
    yields(() => step('charge', one, { timeout: '5 sec' as Any })),
    "timeout of 'charge'",
  ],
  [
    'a key that is a number',
    yields(() => step('charge', one, { key: 7 as Any })),
    'The key of step',
  ],
  [
    'input that is a function',
    yields(() => step('charge', one, { input: one as Any })),
    "input of step 'charge'",
  ],
  [
    'input that is a Date',
    yields(() => step('charge', one, { input: new Date(0) as Any })),
    "input of step 'charge'",
  ],
  [
    'input with a cycle',
    yields(() => step('charge', one, { input: customer as Any })),
    'contains itself',
  ],
  [
    'a result that is an instance',
    yields(() => step('charge', () => new Order() as Any)),
    'is an instance of Order',
  ],
  ['a result that is a function', yields(() => step('charge', () => one as Any)), 'is a function'],
  ['a result with a cycle', yields(() => step('charge', () => customer as Any)), 'contains itself'],
  [
    'a result that is a list of promises',
    yields(() => step('charge', () => [Promise.resolve(1)] as Any)),
    'is a promise: await it first',
  ],
  [
    'a result that is a command',
    yields(() => step('charge', () => step('inner', one) as Any)),
    'A command was awaited, or returned',
  ],
  [
    'a result that is a called helper',
    yields(() => step('charge', () => (function* () {})() as Any)),
    'is a generator',
  ],
  [
    'an undo that is a text',
    yields(() => step('charge', one, { compensate: 'refund' as Any }), reuse),
    'compensate of step',
  ],
  [
    'an undo that is a command',
    yields(() => step('charge', one, { compensate: step('refund', one) as Any }), reuse),
    'compensate of step',
  ],
  [
    'an undo that is a compensator',
    yields(() => step('charge', one, { compensate: refund as Any }), reuse),
    'refund.for(',
  ],
  [
    'an undo that is an async generator',
    yields(() => step('charge', one, { compensate: async function* () {} as Any }), reuse),
    'must not be an async generator',
  ],

  // Without a store
  [
    'an undo without a store',
    yields(() => step('charge', one, { compensate: one })),
    'Set `store` of the host',
    withoutStore,
  ],
  [
    'once without a store',
    yields(() => step('charge', one, { once: true })),
    'Set `store` of the host',
    withoutStore,
  ],
  ['a pivot without a store', yields(() => pivot('sent')), 'Set `store` of the host', withoutStore],

  // Questions
  [
    'elicit() without options',
    yields(() => elicit('sure', undefined as Any)),
    'takes its options as an object',
  ],
  [
    'elicit() with a text',
    yields(() => elicit('sure', 'Sure?' as Any)),
    'takes its options as an object',
  ],
  [
    'elicit() without an ID',
    yields(() => elicit(question as Any, undefined as Any)),
    'is of type object',
  ],
  [
    'elicit() without a message',
    yields(() => elicit('sure', { schema: Sure } as Any)),
    'needs a message',
  ],
  [
    'elicit() without a schema',
    yields(() => elicit('sure', { message: 'm' } as Any)),
    'needs a schema',
  ],
  [
    'elicit() with requestedSchema',
    yields(() => elicit('sure', { message: 'm', requestedSchema: Sure } as Any)),
    "Did you mean 'schema'?",
  ],
  [
    'elicit() with a nested object',
    yields(() => elicit('a', { message: 'm', schema: z.object({ b: Sure }) as Any })),
    'is an object inside the form',
  ],
  [
    'elicit() with a date',
    yields(() => elicit('a', { message: 'm', schema: z.object({ b: z.date() }) as Any })),
    'z.iso.date()',
  ],
  [
    'elicit() with a list of objects',
    yields(() => elicit('a', { message: 'm', schema: z.object({ b: z.array(Sure) }) as Any })),
    'is not one of several texts',
  ],
  [
    'elicit() with a text as a schema',
    yields(() => elicit('a', { message: 'm', schema: z.string() as Any })),
    'wrap it in z.object',
  ],
  [
    'a ttl that is a text',
    yields(() => elicit('a', { ...question, timeout: '5min' as Any })),
    "timeout of 'a'",
  ],
  [
    'an answerer that is unknown',
    yields(() => elicit('a', { ...question, answeredBy: ['user'] as Any })),
    "a list of 'client', 'model', and 'fallback'",
  ],
  [
    'a model that answers before the user',
    yields(() => elicit('a', { ...question, answeredBy: ['model', 'client'] })),
    "Write ['client', 'model']",
  ],
  [
    'elicitUrl() with a path',
    yields(() => elicitUrl('a', { message: 'm', url: '/pay' })),
    'needs an absolute URL',
  ],
  [
    'elicitUrl() without a message',
    yields(() => elicitUrl('a', { url: 'https://a.example' } as Any)),
    'needs a message',
  ],
  [
    'sample() with a text',
    yields(() => sample('a', 'Summarize' as Any)),
    'takes its options as an object',
  ],
  [
    'sample() without messages',
    yields(() => sample('a', { maxTokens: 5 } as Any)),
    'needs messages',
  ],
  [
    'sample() with max_tokens',
    yields(() => sample('a', { messages: [], max_tokens: 5 } as Any)),
    "Did you mean 'maxTokens'?",
  ],
  [
    'listRoots() without an ID',
    yields(() => (listRoots as Any as Body)(undefined as Any)),
    'is of type undefined',
  ],

  // Groups
  [
    'all() without branches',
    yields(() => (all as Any as Body)(undefined as Any)),
    'all() needs branches',
  ],
  [
    'all() of a function',
    yields(() => all({ a: one as Any })),
    'neither a command nor a helper that was called',
  ],
  [
    'all() of a promise',
    yields(() => all({ a: Promise.resolve(1) as Any })),
    'neither a command nor a helper',
  ],
  [
    'all() of commands as arguments',
    yields(() => (all as Any as Body)(step('a', one) as Any)),
    'all() needs branches',
  ],
  [
    'allSettled() of a helper twice',
    yields(() => {
      const helper = (function* () {})();
      return allSettled([helper, helper] as Any);
    }),
    'two branches share a helper',
  ],
  ['race() of nothing', yields(() => race({})), 'it needs a branch'],
  [
    'scope() of a function',
    yields(() => scope('a', function* () {} as Any)),
    'neither a command nor a helper',
  ],

  // Waits
  ['sleep() of a text', yields(() => sleep('5 sec' as Any)), 'sleep() is not a duration'],
  ['sleep() of NaN', yields(() => sleep(Number.NaN)), 'sleep() is NaN'],
  ['sleep() below 0', yields(() => sleep(-1)), '0 or more'],
  ['sleep() of an invalid date', yields(() => sleep(new Date('x'))), 'date of sleep() is invalid'],
  [
    'poll() without a function',
    yields(() => poll('a', undefined as Any, { every: 1, timeout: 2 })),
    'needs a function to ask',
  ],
  [
    'poll() without options',
    yields(() => poll('a', one, undefined as Any)),
    'takes its options as an object',
  ],
  [
    'poll() without a timeout',
    yields(() => poll('a', one, { every: 1 } as Any)),
    'timeout` of poll',
  ],
  [
    'poll() with interval',
    yields(() => poll('a', one, { interval: 1, timeout: 2 } as Any)),
    "has no option 'interval'",
  ],

  // Others
  ['call() of a name', yields(() => call('child' as Any, {} as Any)), 'call() needs a saga'],
  [
    'call() of a body',
    yields(() => call(function* () {} as Any, {} as Any)),
    'call() needs a saga',
  ],
  [
    'continueAs() of a name',
    yields(() => continueAs('child' as Any, {} as Any)),
    'continueAs() needs a saga',
  ],
  [
    'abort() without a reason',
    yields(() => (abort as Any as Body)(undefined as Any)),
    'needs a reason',
  ],
  ['progress() of a text', yields(() => progress('half' as Any)), 'needs a finite number'],
  ['log() of a function', yields(() => log('info', one as Any)), 'data of log()'],
  ['log() without a level', yields(() => log('Hello' as Any, {})), 'log() has no level'],
  [
    'patched() with a condition',
    yields(() => patched('a', true as Any)),
    'takes its options as an object',
  ],
  ['checkpoint() of an object', yields(() => checkpoint({} as Any)), 'takes a string'],
  [
    'a compensator that is a generator',
    () => compensator('a', Sure, function* () {} as Any),
    'must not be a generator',
  ],
  [
    'now() as a number',
    of(function* () {
      return String((now() as Any as number) + 1);
    }),
    'Write: yield* now()',
  ],
  [
    'random() in a condition',
    of(function* () {
      return random() ? 'a' : 'b';
    }),
    'Write: yield* random()',
  ],
  [
    'info() without yield*',
    of(function* () {
      return String((info() as Any as { turn: number }).turn);
    }),
    'Write: yield* info()',
  ],
];

const ask = (schema: unknown): unknown => elicit('q', { message: 'Sure?', schema: schema as Any });

/** Returns the error at the definition of a saga or in its first turn. */
async function told(make: () => unknown, settings?: TurnSettings): Promise<string> {
  let program: Program;
  try {
    program = make() as Program;
  } catch (error) {
    expect(isAuthoringError(error), `${String(error)} is no error of the library`).toBe(true);
    return (error as Error).message;
  }
  const world = new World();
  const outcome = await start(program, {}, world, settings);
  if (outcome.status !== 'failed') return world.warnings.join('\n');
  return [(outcome.error as Error).message, ...world.warnings].join('\n');
}

describe('a mistake in a saga is reported at its definition or in its first turn', () => {
  it.for(mistakes)('%s', async ([, make, says, settings]) => {
    const message = await told(make, settings);
    expect(message).toContain(says);
    // What clients read has no link.
    expect((message.match(/\bSee docs\//g) ?? []).length).toBeLessThanOrEqual(1);
  });

  it.for<Linked>([
    ['an ID that is no ID', 'step-ids', yields(() => step('my step', one))],
    ['an ID that is forgotten', 'step-ids', yields(() => elicit(question as Any, {} as Any))],
    ['a nested form', 'forms', yields(() => ask(z.object({ a: z.object({}) })))],
    ['a form of one text', 'forms', yields(() => ask(z.string()))],
    ['a form with a date', 'forms', yields(() => ask(z.object({ day: z.date() })))],
    ['the fields of a form', 'forms', yields(() => ask({ sure: z.boolean() }))],
    ['the fields of an input', 'forms', of(function* () {}, { input: { n: z.number() } })],
    ['an unknown option', 'unknown_option', yields(() => step('a', one, { timeoutMs: 5 } as Any))],
    ['an unknown option of a saga', 'unknown_option', of(function* () {}, { desc: 'x' })],
    ['an async body', 'bodies', of(async () => 'x')],
    ['a body that is no generator', 'bodies', of(() => 'x')],
    ['no body', 'bodies', of(undefined as Any)],
    ['a branch that is not called', 'bodies', yields(() => all([one] as Any))],
    [
      'an undo without a store',
      'missing-store',
      yields(() => step('a', one, { compensate: one })),
      withoutStore,
    ],
    [
      'commitEach of tokens that are used again',
      'missing-store',
      of(function* () {}, { commitEach: true, reuse: 'ok' }),
    ],
    [
      'a compensator without arguments',
      'undos',
      yields(() => step('a', one, { compensate: refund as Any }), reuse),
    ],
    [
      'a loop without a key',
      'steps-in-a-loop',
      of(function* () {
        for (const item of [1, 2]) yield* step('item', () => item);
        return 'x';
      }),
    ],
    ['a list without keys', 'keys-of-each', yields(() => each([{}], () => sleep(1), {} as Any))],
    ['a duration', 'durations', yields(() => sleep(Number.NaN))],
    ['a promise in place of a step', 'steps', yields(() => step('a', Promise.resolve(1) as Any))],
    ['no message', 'questions', yields(() => elicit('a', { schema: Sure } as Any))],
    ['no version', 'names-and-versions', () => saga({ name: 'order' } as Any, one as Any)],
    ['no deliver', 'approvals-and-webhooks', yields(() => approval('a', { message: 'm' } as Any))],
    ['no reason', 'arguments-of-commands', yields(() => (abort as Any as Body)(undefined as Any))],
    [
      'an undo as an option of the undo',
      'undos',
      yields(() => step('a', one, { compensate: one, undo: one as Any }), reuse),
    ],
    ['another value', 'authoring_error', of(function* () {}, { task: 'always' })],
  ])('with a link to the heading about %s', async ([, anchor, make, settings]) => {
    const message = await told(make, { replace: { isStrict: true, ...settings?.replace } });
    const links = [...message.matchAll(/\bSee docs\/reference\/errors\.md#(\S+)/g)];
    expect(links.map(([, linked]) => linked)).toEqual([anchor]);
  });

  it.for<readonly [string, () => unknown]>([
    ['a set of an object', () => new Set({} as Any)],
    [
      'a loop over an object',
      () => {
        for (const item of {} as Any as readonly unknown[]) return item;
        return 'x';
      },
    ],
    [
      'an error that the code throws',
      () => {
        throw new TypeError('order is not iterable');
      },
    ],
  ])('and leaves what the language says of other values as it is: %s', async ([, make]) => {
    const program = of(function* () {
      return String(make());
    })();
    const outcome = await start(program);
    expect(outcome).toMatchObject({ status: 'failed', error: { name: 'TypeError' } });
  });

  it('and has what the language says of yield* as its cause', async () => {
    const outcome = await start(yields(() => Promise.resolve(1))());
    expect(outcome).toMatchObject({ status: 'failed', error: { cause: { name: 'TypeError' } } });
  });

  it('and leaves a thrown value that cannot be read as it is', async () => {
    const unreadable: unknown = new Proxy(new Error('hidden'), {
      get: () => {
        throw new Error('not for you');
      },
    });
    const outcome = await start(
      of(function* () {
        throw unreadable;
      })(),
    );
    expect(outcome.status === 'failed' && outcome.error === unreadable).toBe(true);
  });

  it('in at least a hundred cases', () => {
    expect(mistakes.length).toBeGreaterThanOrEqual(100);
  });
});
