/**
 * Sagas of the golden tokens. From the first release on, do not change them: released tokens must
 * open and finish with them. For a new feature, add a new saga and a new file of tokens.
 */
import {
  all,
  compensator,
  elicit,
  now,
  pivot,
  random,
  sample,
  saga,
  scope,
  sleep,
  step,
  type Program,
  type StepAnswer,
} from '@mcp-saga/server';
import { z } from 'zod';

const Name = z.object({ name: z.string(), size: z.number().default(3) });

/** Effects of the sagas below, each with the start of its idempotency key. */
export const effects: string[] = [];

const effect =
  (what: string) =>
  ({ idempotencyKey }: { readonly idempotencyKey: string }): string => {
    effects.push(`${what} ${idempotencyKey.slice(0, 8)}`);
    return what;
  };

/** A named compensator: a token refers to it by name. */
export const refund = compensator(
  'refund',
  z.object({ amount: z.number() }),
  ({ args, idempotencyKey }) => {
    effects.push(`refund ${args.amount} ${idempotencyKey.slice(0, 8)}`);
  },
);

const survey = saga(
  { name: 'survey', version: '1', input: z.object({ topic: z.string() }) },
  function* ({ topic }) {
    const at = yield* now();
    const dice = yield* random();
    const { name, size } = yield* elicit('name', {
      message: `Who says so of ${topic}?`,
      schema: Name,
    });
    const both = yield* all({
      model: sample('model', {
        messages: [{ role: 'user', content: { type: 'text', text: `Is ${name} right?` } }],
        maxTokens: 9,
      }),
      made: scope(
        'work',
        step('make', () => ({ when: new Date(at), map: new Map([['n', 1n]]) })),
      ),
    });
    const { text } = both.model.content as { readonly text: string };
    const written = yield* step('write', effect('written'), { key: name });
    return JSON.stringify([
      topic,
      at,
      dice < 1,
      name,
      size,
      both.made.when.toISOString(),
      both.made.map.size,
      text,
      written,
    ]);
  },
);

const order = saga({ name: 'order', version: '1', reuse: 'ok' }, function* () {
  yield* step('reserve', effect('reserved'), { compensate: effect('released') });
  yield* step('charge', () => 7, { compensate: refund.for(({ result }) => ({ amount: result })) });
  const { name } = yield* elicit('name', { message: 'To whom?', schema: Name });
  yield* step('ship', () => {
    throw new Error(`no way to ${name}`);
  });
  yield* pivot('shipped');
  return 'shipped';
});

const rest = saga({ name: 'rest', version: '1' }, function* () {
  yield* sleep(60_000);
  return yield* step('wake', effect('awake'));
});

const keyed = saga({ name: 'keyed', version: '1', reuse: 'ok' }, function* () {
  for (const key of ['a', 'b(c)', 'a']) {
    yield* step('charge', effect(`charged ${key}`), {
      key,
      input: { key },
      compensate: function* () {
        yield* step('refund', effect(`refunded ${key}`), { key });
      },
    });
  }
  const { name } = yield* elicit('name', { message: 'To whom?', schema: Name });
  return yield* step('ship', () => {
    throw new Error(`no way to ${name}`);
  });
});

/** A saga in a golden file: its arguments, its answers, and the pause before it continues. */
export interface GoldenStory {
  readonly saga: Program;
  readonly args: object;
  /** Answers before the token is stored. */
  readonly before: readonly (readonly StepAnswer[])[];
  /** Answers from the stored token to the end. */
  readonly after: readonly (readonly StepAnswer[])[];
  /** Time before the saga continues, in milliseconds. */
  readonly pause: number;
}

const named = { stepId: 'name', result: { action: 'accept', content: { name: 'Ada' } } };
const said = {
  stepId: 'model',
  result: { role: 'assistant', model: 'm', content: { type: 'text', text: 'She is.' } },
};

/** Stories by name. */
export const stories: Readonly<Record<string, GoldenStory>> = {
  'asked first': {
    saga: survey,
    args: { topic: 'engines' },
    before: [],
    after: [[named], [said]],
    pause: 1_000,
  },
  'answered once': {
    saga: survey,
    args: { topic: 'engines' },
    before: [[named]],
    after: [[said]],
    pause: 1_000,
  },
  'to be undone': { saga: order, args: {}, before: [], after: [[named]], pause: 1_000 },
  'steps with keys': { saga: keyed, args: {}, before: [], after: [[named]], pause: 1_000 },
  asleep: { saga: rest, args: {}, before: [], after: [[]], pause: 60_000 },
};
