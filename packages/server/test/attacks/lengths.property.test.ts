import {
  call,
  checkpoint,
  compensator,
  continueAs,
  elicit,
  now,
  poll,
  sample,
  saga,
  scope,
  sleep,
  step,
  type Program,
  type SagaTurn,
  type Steps,
} from '@mcp-saga/server';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { bulk, echo, noise } from '../fixtures/lengths.ts';
import { hostOf } from '../fixtures/host.ts';
import { coreOf } from '../../src/saga-host.ts';

/** A text of the client, and a text of the server, sometimes equal. */
interface Texts {
  readonly echoed: string;
  readonly secret: string;
}

const Secret = z.object({ secret: z.string() });
const Input = z.object({ keys: z.string(), echoed: z.string() });
const sub = saga({ name: 'sub', version: '1', input: Secret }, function* ({ secret }) {
  return yield* step('inner', () => secret, { key: secret });
});
const refund = compensator('refund', Secret, () => undefined);
const nothing = (): undefined => undefined;
const later = { retry: { attempts: 2, delay: 86_400_000 } };
const unpaid = (): never => {
  throw new Error('not now');
};

/** Parts of sagas, each with one use of the secret or of the client's text. */
const uses: { readonly [name: string]: (texts: Texts) => Steps<unknown> } = {
  *result({ secret }) {
    return yield* step('result', () => ({ secret }));
  },
  *error({ secret }) {
    try {
      return yield* step('error', () => Promise.reject(new Error(secret)));
    } catch {
      return undefined;
    }
  },
  *input({ secret }) {
    return yield* step('item', nothing, { input: { secret } });
  },
  *key({ secret }) {
    return yield* step('item', nothing, { key: secret });
  },
  *keyAndInput({ secret }) {
    return yield* step('item', nothing, { key: `of ${secret}`, input: secret });
  },
  *scoped({ secret, echoed }) {
    yield* scope('part', step('item', nothing, { key: echoed }));
    return yield* scope('part', step('item', nothing, { key: secret }));
  },
  *polled({ secret }) {
    return yield* poll('poll', () => secret, { every: 1, timeout: 1 });
  },
  *called({ secret }) {
    return yield* call(sub, { secret });
  },
  *slept({ secret }) {
    return yield* sleep(new Date(Number(secret)));
  },
  *fallback({ secret }) {
    return yield* elicit('ask', {
      message: `Is it ${secret}?`,
      schema: Secret,
      fallback: { secret },
    });
  },
  *sampled({ secret }) {
    const messages = [{ role: 'user', content: { type: 'text', text: secret } }] as const;
    return yield* sample('guess', { messages, maxTokens: 9 });
  },
  *named({ secret }) {
    return yield* step('named', () => 1, {
      key: secret,
      compensate: refund.for(() => ({ secret })),
    });
  },
  *undone({ secret }) {
    return yield* step('undone', () => secret, { key: secret, undo: later, compensate: unpaid });
  },
  *undoneInSteps({ secret }) {
    return yield* step('inSteps', () => secret, {
      key: secret,
      compensate: function* () {
        yield* step('refund', nothing, { input: secret });
        yield* step('later', unpaid, { key: secret, retry: later.retry });
      },
    });
  },
  *time() {
    return yield* now();
  },
  *echoedKey({ echoed }) {
    return yield* step('item', nothing, { key: echoed });
  },
  *echoedUndo({ echoed }) {
    yield* step('undone', nothing, { key: echoed });
    return yield* step('inSteps', nothing, { key: echoed });
  },
  *echoedInput({ echoed }) {
    return yield* step('item', nothing, { input: { secret: echoed } });
  },
  *echoedResult({ echoed }) {
    return yield* step('result', () => ({ secret: echoed }));
  },
  *token() {
    return yield* checkpoint();
  },
};

interface Plan {
  readonly first: readonly string[];
  /** Uses behind `continueAs`; undefined: it does not continue as another saga. */
  readonly second: readonly string[] | undefined;
  readonly fails: boolean;
  /** Size of a filler: with some sizes one byte more makes a longer padded token. */
  readonly size: number;
}

function* use(names: readonly string[], texts: Texts, fails: boolean): Steps<string> {
  for (const name of names) yield* uses[name]?.(texts) ?? [];
  yield* checkpoint();
  if (fails) throw new Error('It has failed.');
  return 'done';
}

function sagasOf({ first, second, fails }: Plan, secret: string): readonly Program[] {
  const Both = z.object({ echoed: z.string(), secret: z.string() });
  const other = saga({ name: 'other', version: '1', reuse: 'ok', input: Both }, (texts) =>
    use(second ?? [], texts, fails),
  );
  const one = saga(
    { name: 'one', version: '1', reuse: 'ok', input: Input },
    function* ({ keys, echoed }) {
      yield* echo(keys);
      const result = yield* use(first, { echoed, secret }, second === undefined && fails);
      if (second === undefined) return result;
      return yield* continueAs(other, { echoed, secret });
    },
  );
  return [one, other];
}

/** Lengths of all tokens that a saga gives its client. */
async function lengthsOf(plan: Plan, echoed: string, secret: string): Promise<readonly number[]> {
  const { host } = hostOf(sagasOf(plan, secret), {
    compensators: [refund],
    answerers: {
      sampling: async () => ({
        role: 'assistant',
        model: 'm',
        content: { type: 'text', text: `It is ${secret}` },
      }),
    },
  });
  const caller = { capabilities: {} };
  const args = { keys: [...bulk, echoed, noise(plan.size)].join(' '), echoed };
  const lengths: number[] = [];
  let turn: SagaTurn = await coreOf(host).start('one', args, caller, { method: 'tools/call' });
  while (turn.status === 'suspended' && lengths.length < 30) {
    lengths.push(turn.token.length);
    if ((turn.retryAfterMs ?? 0) > 0) break;
    turn = await host.resume(turn.token, [], { caller });
  }
  expect(turn.status === 'failed' ? turn.error : undefined).toSatisfy(isMeant);
  return lengths;
}

function isMeant(error: unknown): boolean {
  return error === undefined || (error instanceof Error && error.message === 'It has failed.');
}

const undoable = new Set(['named', 'undone', 'undoneInSteps']);
const someOf = (names: readonly string[]): fc.Arbitrary<string[]> =>
  fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 8 });
const anyUses = someOf(Object.keys(uses));
// continueAs() refuses to lose an undo.
const undoneUses = someOf(Object.keys(uses).filter((name) => !undoable.has(name)));
const rest = { fails: fc.boolean(), size: fc.integer({ min: 1, max: 64 }) };
const plan: fc.Arbitrary<Plan> = fc.oneof(
  fc.record({ first: anyUses, second: fc.constant(undefined), ...rest }),
  fc.record({ first: undoneUses, second: anyUses, ...rest }),
);
const digits = fc.stringMatching(/^[1-9]\d{7}$/);

test('[T15] tokens have the same length for every secret of one length', async () => {
  await fc.assert(
    fc.asyncProperty(plan, digits, digits, async (of, echoed, other) => {
      expect(await lengthsOf(of, echoed, other)).toEqual(await lengthsOf(of, echoed, echoed));
    }),
    { numRuns: 200 },
  );
});

test('[T15] the length of a token does not reveal the key of an undo that is retried later', async () => {
  const second = ['keyAndInput', 'echoedUndo', 'undoneInSteps', 'result'];
  const of: Plan = { first: ['result'], second, fails: true, size: 1 };
  expect(await lengthsOf(of, '10000000', '10000003')).toEqual(
    await lengthsOf(of, '10000000', '10000000'),
  );
});
