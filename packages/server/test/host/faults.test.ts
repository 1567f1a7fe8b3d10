import { describe, expect, test } from 'vitest';
import {
  all,
  elicit,
  memoryStore,
  publicMessageOf,
  saga,
  SagaError,
  step,
  type Saga,
  type Steps,
} from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import * as z from 'zod';
import {
  accept,
  completed,
  failed,
  hooksInto,
  hostOf,
  nothingTold,
  oldKey,
  suspended,
  type Told,
} from '../fixtures/host.ts';
import { Empty } from '../fixtures/sagas.ts';
import { ask, type RawAnswer } from '../fixtures/raw.ts';

const mark = 'kq-918273-kq';

/** A saga with a body that the types would not let through. */
function faulty(
  body: () => Generator<unknown, unknown, unknown>,
  output?: z.ZodType,
): Saga<undefined, undefined> {
  const options = { name: 'faulty', version: '1', ...(output === undefined ? {} : { output }) };
  return saga(options as never, body as never) as never;
}

async function served(
  program: Saga<undefined, undefined>,
): Promise<{ answer: RawAnswer; told: Told }> {
  const told = nothingTold();
  const server = serveSagas({
    name: 'deployer',
    version: '1',
    sagas: [program],
    keys: oldKey,
    testing: { environment: 'production' },
    hooks: hooksInto(told),
  });
  return { answer: await ask(server, 'modern', 'tools/callSaga', { name: 'faulty' }), told };
}

const ends = (value: unknown) =>
  function* (): Generator<unknown, unknown, unknown> {
    yield step('x', () => 1);
    return value;
  };

describe('a saga that fails', () => {
  test.each<[string, () => Generator<unknown, unknown, unknown>, string]>([
    [
      'throws',
      function* () {
        yield step('x', () => 1);
        throw new Error(mark);
      },
      "'faulty' failed.",
    ],
    [
      'throws before anything',
      // oxlint-disable-next-line require-yield -- that is the case
      function* () {
        throw new Error(mark);
      },
      "'faulty' failed.",
    ],
    [
      'throws a value that is not an error',
      // oxlint-disable-next-line require-yield -- that is the case
      function* () {
        throw mark; // oxlint-disable-line no-throw-literal -- that is the case
      },
      "'faulty' failed.",
    ],
    [
      'throws nothing at all',
      // oxlint-disable-next-line require-yield -- that is the case
      function* () {
        throw undefined; // oxlint-disable-line no-throw-literal -- that is the case
      },
      "'faulty' failed.",
    ],
    [
      'has a step that throws',
      function* () {
        yield* step('charge', () => {
          throw Object.assign(new Error(mark), { code: mark, data: mark });
        });
      },
      "'faulty' failed at step 'charge'.",
    ],
    [
      'has a step that rejects with a value that is not an error',
      function* () {
        yield* step('charge', () => Promise.reject(mark)); // oxlint-disable-line prefer-promise-reject-errors -- that is the case
      },
      "'faulty' failed at step 'charge'.",
    ],
    [
      'tells the client why',
      // oxlint-disable-next-line require-yield -- that is the case
      function* () {
        throw new SagaError('Your quota is used up.', { cause: new Error(mark) });
      },
      'Your quota is used up.',
    ],
    [
      'has a step that tells the client why',
      function* () {
        yield* step('charge', () => {
          throw new SagaError('Your card was refused.');
        });
      },
      'Your card was refused.',
    ],
    [
      'has a step whose result cannot be kept',
      function* () {
        yield* step('open', (): unknown => ({ socket: { close: () => mark } }));
      },
      "'faulty' failed at step 'open'.",
    ],
    [
      'has a step whose result contains itself',
      function* () {
        yield* step('open', () => {
          const self: Record<string, unknown> = { mark };
          self['self'] = self;
          return self;
        });
      },
      "'faulty' failed at step 'open'.",
    ],
    [
      'yields a promise',
      function* () {
        yield Promise.resolve(mark);
      },
      "'faulty' failed.",
    ],
    [
      'yields a value',
      function* () {
        yield mark;
      },
      "'faulty' failed.",
    ],
    [
      'asks with a form that MCP cannot express',
      function* () {
        yield* elicit('who', {
          message: 'Who?',
          schema: z.object({ user: z.object({ name: z.string().default(mark) }) }) as never,
        });
      },
      "'faulty' failed.",
    ],
  ])('is a tool error without private data if it %s', async (_, body, text) => {
    const { answer, told } = await served(faulty(body));
    expect(answer.last.result).toMatchObject({ isError: true, content: [{ type: 'text', text }] });
    expect(answer.text).not.toContain(mark);
    // The operator gets the error.
    expect(told.turns).toMatchObject([{ status: 'failed', turn: 1 }]);
    expect(told.turns[0]).toHaveProperty('error');
  });

  test('names the path of an unsupported form field to the operator', async () => {
    const nested = faulty(function* () {
      yield* elicit('who', {
        message: 'Who?',
        schema: z.object({ user: z.object({ name: z.string() }) }) as never,
      });
    });
    const turn = failed(await hostOf(nested).host.start('faulty', {}));
    expect(String(turn.error)).toMatch(
      /elicit\('who'\): the form field 'user' is an object inside the form/,
    );
  });

  test.each<[string, () => unknown]>([
    ['an ordinary function', () => 'text'],
    ['a function that returns a promise', () => Promise.resolve('text')],
    ['a function that returns an async generator', () => (async function* () {})()],
    ['a function that returns nothing', () => undefined],
  ])('reports a body that is %s to the author', async (_, body) => {
    const { answer, told } = await served(faulty(body as never));
    expect(answer.last.result).toMatchObject({ isError: true });
    expect(String(told.turns[0]?.error)).toContain('is not a generator function');
  });

  test('aborts other branches and reports the first error', async () => {
    const parallel = faulty(function* () {
      yield* all({
        bad: step('bad', () => {
          throw new Error(mark);
        }),
        asked: elicit('asked', { message: 'Asked?', schema: Empty }),
      });
    });
    const { answer } = await served(parallel);
    expect(answer.last.result).toMatchObject({
      content: [{ text: "'faulty' failed at step 'bad'." }],
    });
  });

  test('[R3] [E10] that differs on replay is rejected, and gives no result to another step', async () => {
    let name = 'one';
    const seen: unknown[] = [];
    const varying = faulty(function* () {
      seen.push(yield* step(name, () => name));
      yield* elicit('go', { message: 'Go?', schema: Empty });
      return 'done';
    });
    const { host, told } = hostOf(varying);
    const { token } = suspended(await host.start('faulty', {}));
    name = 'two';
    const mismatch = { code: 'replay_mismatch', recorded: { path: 'one' } };
    await expect(host.resume(token, [accept('go', {})])).rejects.toMatchObject(mismatch);
    expect(told.errors).toMatchObject([
      { code: 'replay_mismatch', public: false, cause: mismatch },
    ]);
    expect(seen).toEqual(['one']);
    name = 'one';
    expect(completed(await host.resume(token, [accept('go', {})])).result).toBe('done');
    expect(seen).toEqual(['one', 'one']);
  });

  test('a refusal names the ID of the question', async () => {
    const asked = faulty(function* () {
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
    });
    const { host } = hostOf(asked);
    const { token } = suspended(await host.start('faulty', {}));
    const turn = failed(
      await host.resume(token, [{ stepId: 'sure', result: { action: 'decline' } }]),
    );
    expect(publicMessageOf('faulty', turn.error)).toBe("The user declined the question 'sure'.");
    const error = { code: -1, message: mark, data: { mark } };
    const refused = failed(await host.resume(token, [{ stepId: 'sure', error }]));
    expect(publicMessageOf('faulty', refused.error)).toBe("'faulty' failed at step 'sure'.");
  });
});

const selfish: Record<string, unknown> = {};
selfish['self'] = selfish;
const text = { type: 'text', text: 'x' };

function* helper(): Steps<string> {
  return yield* step('x', () => 'from a step');
}

describe('a result', () => {
  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a number', 7],
    ['a list', [text]],
    ['an object without content', { text: 'x' }],
    ['a promise', Promise.resolve('x')],
    ['a bigint in its content', { content: [{ ...text, size: 1n }] }],
    ['a function in its content', { content: [{ ...text, later: () => mark }] }],
    ['itself in its content', { content: [{ ...text, selfish }] }],
    ['a map in its content', { content: [{ ...text, map: new Map([[mark, mark]]) }] }],
    ['not a number in its content', { content: [{ ...text, size: Number.NaN }] }],
    ['a text for a content block', { content: ['x'] }],
    ['nothing for a content block', { content: [undefined] }],
    ['a content block without a type', { content: [{ text: 'x' }] }],
  ])('that is or has %s fails the saga instead of the transport', async (_, value) => {
    const { answer, told } = await served(faulty(ends(value)));
    expect(answer.last.result).toMatchObject({
      isError: true,
      content: [{ text: "'faulty' failed." }],
    });
    const code = value instanceof Promise ? 'authoring_error' : 'invalid_result';
    expect(told.turns).toMatchObject([{ status: 'failed', error: { code } }]);
    expect(String(told.turns[0]?.error)).not.toContain(mark);
    expect(told.errors).toEqual([]);
  });

  test('is sent completely, without members that are undefined', async () => {
    const value = {
      content: [
        text,
        { type: 'resource_link', uri: 'file:///a', name: 'a', description: undefined },
      ],
      structuredContent: { n: 0, list: [null], when: undefined },
      isError: undefined,
      _meta: { own: true },
    };
    const { answer } = await served(faulty(ends(value)));
    expect(answer.last.result).toMatchObject({
      content: [text, { type: 'resource_link', uri: 'file:///a', name: 'a' }],
      structuredContent: { n: 0, list: [null] },
      _meta: { own: true },
    });
    expect(answer.last.result).not.toHaveProperty('isError');
  });

  test('may be an error of the tool', async () => {
    const { answer } = await served(faulty(ends({ content: [text], isError: true })));
    expect(answer.last.result).toMatchObject({ content: [text], isError: true });
  });

  const Output = z.object({
    id: z.string(),
    size: z.number().max(3).default(1),
    note: z.string().optional(),
  });

  test('that matches the output schema is structured, as the schema parses it', async () => {
    const { answer } = await served(faulty(ends({ id: 'a', note: undefined, other: 1 }), Output));
    expect(answer.last.result).toMatchObject({
      content: [{ type: 'text', text: '{"id":"a","size":1}' }],
      structuredContent: { id: 'a', size: 1 },
    });
  });

  test.each([
    ['a field is missing', {}, 'id: expected string'],
    ['a field is out of bounds', { id: 'a', size: 918_273 }, 'size: Too big'],
    ['it is a text', mark, 'expected object'],
    ['it is a tool result', { content: [text] }, 'id: expected string'],
  ])('that does not match the output schema fails the saga: %s', async (_, value, problem) => {
    const { answer, told } = await served(faulty(ends(value), Output));
    expect(answer.last.result).toMatchObject({
      isError: true,
      content: [{ text: "'faulty' failed." }],
    });
    expect(answer.text).not.toContain('918273');
    expect(String(told.turns[0]?.error)).toContain(
      `the result does not match the output schema: ${problem}`,
    );
    expect(String(told.turns[0]?.error)).not.toContain('918273');
  });

  test.each<[unknown, string]>([
    [undefined, "'faulty': the result is missing. Return a string, a tool result, or a value"],
    [
      7,
      "'faulty': the result is neither a string nor a tool result. Add an `output` schema to return other values.",
    ],
  ])(
    'that is %s is reported to the operator with the name of the saga and a remedy',
    async (value, said) => {
      const { error } = failed(await hostOf(faulty(ends(value))).host.start('faulty', {}));
      expect((error as Error).message).toContain(said);
    },
  );

  test('[E3] that is rejected is not a failed step, with and without a guard', async () => {
    const undoes = (reuse: 'ok' | undefined) =>
      saga({ name: 'faulty', version: '1', reuse, output: Output }, function* () {
        yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
        yield* step('charge', () => 1, { compensate: () => undefined });
        return { id: mark, size: 918_273 };
      });
    for (const reuse of [undefined, 'ok'] as const) {
      const { host } = hostOf(undoes(reuse), { store: memoryStore({ clock: () => 1_000 }) });
      const { token } = suspended(await host.start('faulty', {}));
      const turn = failed(await host.resume(token, [accept('sure', {})]));
      expect(turn).toMatchObject({
        compensated: [{ stepId: 'charge' }],
        error: { code: 'invalid_result' },
      });
      expect(publicMessageOf('faulty', turn.error)).toBe("'faulty' failed.");
    }
  });

  test('that is not an object fails the saga, even if its schema is a union', async () => {
    const either = z.union([z.object({ a: z.string() }), z.string()]);
    const turn = failed(await hostOf(faulty(ends('x'), either)).host.start('faulty', {}));
    expect(turn.error).toMatchObject({ code: 'invalid_result' });
    expect(String(turn.error)).toContain('is not an object');
  });

  test('may be returned by a helper', async () => {
    const helped = faulty(function* () {
      return yield* helper();
    });
    const { answer } = await served(helped);
    expect(answer.last.result).toMatchObject({ content: [{ text: 'from a step' }] });
  });
});
