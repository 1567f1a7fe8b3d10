import {
  call,
  checkpoint,
  continueAs,
  elicit,
  sample,
  saga,
  sleep,
  step,
  type Program,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { agreementDigest, fingerprint } from '../../../core/src/values/fingerprint.ts';
import { answered, bulk, echo, Keys, lengthOf, noise } from '../fixtures/lengths.ts';
import { hostOf } from '../fixtures/host.ts';
import { coreOf } from '../../src/saga-host.ts';

const Secret = z.object({ secret: z.string() });
const secret = 'session=52806197';

/** A way of a server's value into a token. */
interface Channel {
  /** Text to be read: the secret, or a number made of the secret. */
  readonly text: string;
  /** Number of characters known to the attacker. */
  readonly known: number;
  /** Length of a token with the text and with keys of the client. */
  readonly measure: (keys: string) => Promise<number>;
}

/** Starts a saga with keys of the client. */
async function called(
  program: Program,
  keys: string,
  options: Partial<Omit<SagaHostOptions, 'sagas' | 'clock'>> = {},
): Promise<number> {
  const { host } = hostOf(program, options);
  return lengthOf(
    await coreOf(host).start(
      program.name,
      { keys },
      { capabilities: {} },
      { method: 'tools/call' },
    ),
  );
}

const sub = saga({ name: 'sub', version: '1', input: Secret }, function* () {
  yield* [];
  return 'done';
});

const asked = saga({ name: 'asked', version: '1', input: Secret }, function* () {
  yield* elicit('keys', { message: 'Which?', schema: Keys });
  yield* checkpoint();
  return 'done';
});

const loud = `The secret is ${secret}`;
const messages = [{ role: 'user', content: { type: 'text', text: loud } }] as const;
const content = { secret };
const model = { role: 'assistant', model: 'm', content: { type: 'text', text: 'No.' } } as const;
const number = (value: number): string => `,${value}`;

const channels: { readonly [name: string]: Channel } = {
  'arguments of continueAs': {
    text: secret,
    known: 8,
    measure: async (keys) => {
      const first = saga({ name: 'first', version: '1' }, function* () {
        return yield* continueAs(asked, { secret });
      });
      const server = hostOf([first, asked]);
      return await answered(
        server,
        await coreOf(server.host).start('first', {}, {}, { method: 'tools/call' }),
        keys,
      );
    },
  },
  'arguments of host.start': {
    text: secret,
    known: 8,
    measure: async (keys) => {
      const server = hostOf(asked);
      return await answered(server, await server.host.start('asked', { secret }), keys);
    },
  },
  'the key of a step': {
    text: secret,
    known: 8,
    measure: (keys) =>
      called(
        saga({ name: 'key', version: '1', input: Keys }, function* (input) {
          yield* step('charge', () => undefined, { key: secret });
          yield* echo(input.keys);
          return 'done';
        }),
        keys,
      ),
  },
  'the input of a step': {
    text: number(fingerprint('step', { secret })),
    known: 3,
    measure: (keys) =>
      called(
        saga({ name: 'input', version: '1', input: Keys }, function* (input) {
          yield* step('charge', () => undefined, { input: { secret } });
          yield* echo(input.keys);
          return 'done';
        }),
        keys,
      ),
  },
  'the arguments of call': {
    text: number(fingerprint('call', { secret })),
    known: 3,
    measure: (keys) =>
      called(
        saga({ name: 'call', version: '1', input: Keys }, function* (input) {
          yield* call(sub, { secret });
          yield* echo(input.keys);
          return 'done';
        }),
        keys,
      ),
  },
  'the time of a sleep': {
    text: number(fingerprint('sleep', 0, 52_806_197)),
    known: 3,
    measure: (keys) =>
      called(
        saga({ name: 'sleep', version: '1', input: Keys }, function* (input) {
          yield* sleep(new Date(52_806_197));
          yield* echo(input.keys);
          return 'done';
        }),
        keys,
      ),
  },
  'a question that a fallback answers': {
    text: number(fingerprint('elicit', loud)),
    known: 3,
    measure: (keys) => called(withFallback, keys),
  },
  'a fallback': {
    text: number(agreementDigest({ result: { action: 'accept', content } })),
    known: 3,
    measure: (keys) => called(withFallback, keys),
  },
  'a question that the model of the host answers': {
    text: number(fingerprint('sample', { messages, maxTokens: 9 })),
    known: 3,
    measure: (keys) => called(withModel, keys, { answerers: { sampling: async () => model } }),
  },
};

const withFallback = saga({ name: 'fallback', version: '1', input: Keys }, function* (input) {
  yield* elicit('ask', { message: loud, schema: Secret, fallback: content });
  yield* echo(input.keys);
  return 'done';
});

const withModel = saga({ name: 'model', version: '1', input: Keys }, function* (input) {
  yield* sample('ask', { messages, maxTokens: 9 });
  yield* echo(input.keys);
  return 'done';
});

/**
 * Reads a text by the lengths of tokens: the guess with the right digit makes the shortest ones.
 *
 * @returns the number of digits read, of four
 */
async function digitsRead({ text, known, measure }: Channel): Promise<number> {
  const lengthWith = (guess: string, size: number): Promise<number> =>
    measure([...bulk, guess, noise(size)].join(' '));
  let read = 0;
  for (let at = known; at < known + 4; at += 1) {
    // All guesses consist of the same characters: only a match with the text shortens a token.
    const guesses = digits.map(
      (digit) => text.slice(0, at) + digit + digits.join('').replace(digit, ''),
    );
    const edge = await edgeOf((size) => lengthWith(guesses[0] ?? '', size));
    const sums = digits.map(() => 0);
    for (let size = edge - 3; size <= edge + 3; size += 1) {
      for (const [digit, guess] of guesses.entries())
        sums[digit] = (sums[digit] ?? 0) + (await lengthWith(guess, size));
    }
    const least = Math.min(...sums);
    if (
      sums.filter((sum) => sum === least).length === 1 &&
      sums.indexOf(least) === Number(text[at])
    )
      read += 1;
  }
  return read;
}

const digits = '0123456789'.split('');

/** Size of a filler at the edge of the padding: one byte more makes a longer token. */
async function edgeOf(lengthAt: (size: number) => Promise<number>): Promise<number> {
  let [low, high] = [10, 130];
  const shortest = await lengthAt(low);
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((await lengthAt(middle)) > shortest) high = middle;
    else low = middle;
  }
  return high;
}

describe('the length of a token', () => {
  test.each(Object.entries(channels))('[T15] reveals no digit of %s', async (_, channel) => {
    expect(await digitsRead(channel)).toBe(0);
  });
});
