import * as fc from 'fast-check';
import { checkpoint, elicit, memoryStore, saga, sleep, step, type Json } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { called, sent, served, type ToolCall } from '../fixtures/calling.ts';
import { hostOf } from '../fixtures/host.ts';
import { ask, eras, type RawMessage } from '../fixtures/raw.ts';
import { asking, Empty, Target } from '../fixtures/sagas.ts';
import { alterEnd } from '../../../../test/support/wire/tamper.ts';

const accepting = { answerers: { model: 'accept' } } as const;
const capabilities = { elicitation: {} };
const frozen = {
  code: -32602,
  message: expect.stringMatching(/^Invalid or expired resumeToken\./) as string,
  data: { reason: 'invalid_resume_token' },
};
const refusal = (message: string): object => ({
  error: {
    code: -32602,
    message: `Invalid params: ${message}`,
    data: { reason: 'invalid_params' },
  },
});

/** Asks, then runs a step, and records the runs. */
function working(name = 'working') {
  const runs: string[] = [];
  const program = saga(
    { name, version: '1', input: z.looseObject({ a: z.number().optional() }) },
    function* ({ a }) {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      yield* step('work', () => void runs.push(`${a} ${target}`));
      return 'worked';
    },
  );
  return { program, runs };
}

const answers = { target: { target: 'here' } };

/** `true` unless a value counts as absent: null, or nothing but white space and quotes. */
function isSomething(value: Json): boolean {
  return /[^\W_]/.test(JSON.stringify(value)) && value !== null && value !== 'null';
}

describe.each(eras)('%s', (era) => {
  const start = async (options = {}) => {
    const { program, runs } = working();
    const { server, told, clock } = served([program, working('other').program, asking()], {
      ...accepting,
      ...options,
    });
    const { token } = await called(server, era, { name: 'working', arguments: { a: 1 } });
    const send = async (call: Partial<ToolCall>): Promise<RawMessage> =>
      await sent(server, era, { name: 'working', ...call });
    return { server, told, clock, runs, token, send };
  };

  test('[T5] [T6] a token continues only its own call', async () => {
    const { send, token, runs, told } = await start();
    const broken = alterEnd(token ?? '');
    const calls: Partial<ToolCall>[] = [
      { arguments: { a: 1, resumeToken: broken, answers } },
      { arguments: { a: 1, resumeToken: 7, answers } },
      { arguments: { a: 1, resumeToken: [token], answers } },
      { arguments: { a: 2, resumeToken: token, answers } },
      { arguments: { a: 1, b: 1, resumeToken: token, answers } },
      { arguments: { resumeToken: token, answers } },
      { name: 'other', arguments: { a: 1, resumeToken: token, answers } },
    ];
    for (const call of calls) {
      expect(await send(call)).toMatchObject({ error: frozen });
    }
    expect(runs).toEqual([]);
    expect(told.rejections.length).toBeGreaterThan(0);
    expect(await send({ arguments: { a: 1, resumeToken: token, answers } })).toMatchObject({
      result: { content: [{ text: 'worked' }] },
    });
    expect(runs).toEqual(['1 here']);
  });

  test('[T6] an expired token is refused', async () => {
    const { send, token, clock } = await start({ limits: { tokenTtl: 1_000 } });
    clock.now += 60_000;
    expect(await send({ arguments: { a: 1, resumeToken: token, answers } })).toMatchObject({
      error: frozen,
    });
  });

  test('[T13] with a guard, the token of a completed call is refused', async () => {
    const { send, token, runs } = await start({ store: memoryStore() });
    expect(await send({ arguments: { a: 1, resumeToken: token, answers } })).toHaveProperty(
      'result',
    );
    const otherwise = { target: { target: 'there' } };
    expect(
      await send({ arguments: { a: 1, resumeToken: token, answers: otherwise } }),
    ).toMatchObject({
      error: frozen,
    });
    expect(runs).toEqual(['1 here']);
  });

  test('[T13] another answer to a recorded question is refused after the call has ended', async () => {
    const late = saga({ name: 'late', version: '1' }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      yield* sleep(1_000);
      return target;
    });
    const { server, clock } = served([late], accepting);
    const repeat = (resumeToken: string | undefined, given: object): Promise<RawMessage> =>
      sent(server, era, { name: 'late', arguments: { resumeToken, ...given } });
    const { token: asked } = await called(server, era, { name: 'late' });
    const { result } = await repeat(asked, { answers });
    const { nextResumeToken: token } = result as { readonly nextResumeToken: string };
    clock.now += 1_000;
    const ended = { result: { content: [{ text: 'here' }] } };
    expect(await repeat(token, {})).toMatchObject(ended);
    const otherwise = { answers: { target: { target: 'there' } } };
    expect(await repeat(token, otherwise)).toMatchObject({ error: { code: -32_602 } });
    expect(await repeat(token, {})).toMatchObject(ended);
  });

  test('the token may be in _meta as well, if both are the same', async () => {
    const { send, token, runs } = await start();
    const args = { a: 1, answers };
    expect(await send({ arguments: args, _meta: { resumeToken: 'another' } })).toMatchObject({
      error: frozen,
    });
    expect(
      await send({ arguments: { ...args, resumeToken: token }, _meta: { resumeToken: 'another' } }),
    ).toMatchObject(
      refusal('arguments.resumeToken: differs from _meta.resumeToken. Send a single token'),
    );
    expect(runs).toEqual([]);
    expect(await send({ arguments: args, _meta: { resumeToken: token } })).toHaveProperty('result');
    expect(
      await send({ arguments: { ...args, resumeToken: token }, _meta: { resumeToken: token } }),
    ).toHaveProperty('result');
    expect(runs).toEqual(['1 here', '1 here']);
  });

  test('[T14] answers outside the arguments are refused', async () => {
    const { send, token, runs } = await start();
    const call = { arguments: { a: 1, resumeToken: token }, _meta: { answers } };
    expect(await send(call)).toMatchObject(
      refusal('_meta.answers: send answers in arguments.answers'),
    );
    expect(runs).toEqual([]);
  });

  test('[T14] an answer of a model to a saga without a question is ignored', async () => {
    const pausing = saga({ name: 'pausing', version: '1' }, function* () {
      yield* checkpoint();
      return 'worked';
    });
    for (const options of [{}, accepting]) {
      const { server, told } = served([pausing], options);
      const { token } = await called(server, era, { name: 'pausing' });
      const call = { name: 'pausing', arguments: { resumeToken: token, answers } };
      expect(await called(server, era, call)).toMatchObject({ text: 'worked', isError: false });
      expect(told.ignored).toEqual([{ stepId: 'target', why: 'unknown' }]);
    }
  });

  test('[T6] [W2] tokens of other dialects are refused, and other dialects refuse these', async () => {
    const { server, token, send } = await start();
    const begun = await ask(server, era, 'tools/callSaga', {
      name: 'working',
      arguments: { a: 1 },
    });
    const sagaToken = begun.last.result?.['sagaToken'];
    expect(sagaToken).toBeTypeOf('string');
    expect(await send({ arguments: { a: 1, resumeToken: sagaToken, answers } })).toMatchObject({
      error: frozen,
    });
    const resumed = await ask(server, era, 'tools/resumeSaga', {
      sagaToken: token,
      completedSteps: [],
    });
    expect(resumed.last.error).toMatchObject({
      code: -32602,
      data: { reason: 'invalid_saga_token' },
    });
    if (era === 'legacy') return;
    const asked = await send({ arguments: { a: 1 }, capabilities });
    const requestState = asked.result?.['requestState'] as string;
    expect(requestState).toBeTypeOf('string');
    expect(await send({ arguments: { a: 1, resumeToken: requestState, answers } })).toMatchObject({
      error: frozen,
    });
    expect(
      await send({ arguments: { a: 1 }, requestState: token ?? '', capabilities }),
    ).toMatchObject({
      error: { code: -32602, data: { reason: 'invalid_request_state' } },
    });
  });

  test('[T14] no step runs for a changed token or argument', async () => {
    const { server, token = '', runs, told, send } = await start();
    const other = await called(server, era, { name: 'working', arguments: { a: 3 } });
    const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>;
    const wrongToken = fc.oneof(
      // White space, and characters of no token at an end, are not part of a token.
      fc.constantFrom(`A${token}`, token.slice(1), `${token}A`, other.token ?? ''),
      fc
        .tuple(
          fc.integer({ min: 1, max: token.length - 2 }),
          fc.constantFrom('A', 'B', '.', '-', '=', 'é'),
        )
        // The same character is doubled: behind the token, a dot would end a sentence.
        .map(([at, by]) => token.slice(0, at) + by + token.slice(token[at] === by ? at : at + 1)),
      // Neither null nor empty: that is no token.
      json.filter(isSomething),
    );
    const otherArguments = fc.oneof(
      fc.record({
        a: fc.oneof(fc.constant('1'), fc.double({ min: 2, max: 9 }), fc.constant(null)),
      }),
      fc
        .dictionary(fc.string({ minLength: 1 }), json, { minKeys: 1 })
        .map((more) => ({ a: 1, z: 0, ...more })),
      fc.constant({}),
    );
    const tampered: fc.Arbitrary<Partial<ToolCall>> = fc.oneof(
      wrongToken.map((resumeToken) => ({ arguments: { a: 1, answers, resumeToken } })),
      wrongToken.map((resumeToken) => ({ arguments: { a: 1, answers }, _meta: { resumeToken } })),
      wrongToken.map((resumeToken) => ({
        arguments: { a: 1, answers, resumeToken: token },
        _meta: { resumeToken },
      })),
      otherArguments.map((args) => ({ arguments: { ...args, answers, resumeToken: token } })),
      otherArguments.map((args) => ({
        arguments: { ...args, answers },
        _meta: { resumeToken: token },
      })),
      fc.constantFrom('other', 'asking').map((name) => ({
        name,
        arguments: { a: 1, answers, resumeToken: token },
      })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(tampered, { minLength: 1, maxLength: 4 }), async (calls) => {
        for (const call of calls) {
          expect((await send(call)).error?.code).toBe(-32602);
        }
        expect(runs).toEqual([]);
      }),
      { numRuns: 60 },
    );
    expect(told.errors).toEqual([]);
    expect(told.turns).toHaveLength(2);
  });
});

test('[T14] answers for the user are not used of a client that declared elicitation', async () => {
  const { server, told } = served([asking()], accepting);
  const { token } = await called(server, 'modern', { name: 'asking' });
  const call = { name: 'asking', arguments: { resumeToken: token, answers } };
  for (const declared of [{ elicitation: {} }, { elicitation: {}, sampling: {} }]) {
    expect(await sent(server, 'modern', { ...call, capabilities: declared })).toMatchObject({
      result: { resultType: 'input_required', inputRequests: { target: {} } },
    });
  }
  expect(told.ignored).toEqual(
    Array.from({ length: 2 }, () => ({ stepId: 'target', why: 'not accepted' })),
  );
});

test('[T14] answers of a model in any form are not used, and the client asks its user', async () => {
  const { server, told } = served([asking()], accepting);
  const { token } = await called(server, 'modern', { name: 'asking' });
  for (const answer of [
    'here',
    { action: 'decline' },
    { role: 'assistant', model: 'm', content: { type: 'text' } },
    { target: 'here' },
  ]) {
    const call = {
      name: 'asking',
      arguments: { resumeToken: token, answers: { target: answer } },
      capabilities,
    };
    expect(await sent(server, 'modern', call)).toMatchObject({
      result: {
        resultType: 'input_required',
        inputRequests: { target: { method: 'elicitation/create' } },
      },
    });
  }
  expect(told.ignored).toEqual(
    Array.from({ length: 4 }, () => ({ stepId: 'target', why: 'not accepted' })),
  );
});

test('[T14] answers of a model beside a request state are refused', async () => {
  const { server } = served([asking()], accepting);
  const asked = await sent(server, 'modern', { name: 'asking', capabilities });
  const requestState = asked.result?.['requestState'] as string;
  const call = { name: 'asking', arguments: { answers }, requestState, capabilities };
  expect(await called(server, 'modern', call)).toMatchObject({ isError: true });
});

test.each([
  ['resumeToken', z.object({ resumeToken: z.string() })],
  ['answers', z.object({ answers: z.array(z.string()).optional() })],
  ['answers', z.union([z.object({ a: z.string() }), z.object({ answers: z.string() })])],
  ['answers', z.intersection(z.object({ a: z.string() }), z.object({ answers: z.string() }))],
  [
    'answers',
    z.union([z.object({ a: z.string() }), z.object({ answers: z.string() }).meta({ id: 'Named' })]),
  ],
])('[T14] an input with a field %s is refused at the creation of the host', (field, input) => {
  const program = saga({ name: 'named', version: '1', input }, function* () {
    yield* elicit('go', { message: 'Go?', schema: Empty });
    return '';
  });
  expect(() => hostOf(program)).toThrow(
    expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
  );
  expect(() => hostOf(program)).toThrow(
    `Saga 'named', input: the field '${field}' is reserved: clients continue a call with the arguments ` +
      'resumeToken and answers. Rename it.',
  );
});

test('an input may have such a field in a nested object', async () => {
  const deep = saga(
    { name: 'deep', version: '1', input: z.object({ sheet: z.object({ answers: z.string() }) }) },
    function* ({ sheet }) {
      yield* elicit('go', { message: 'Go?', schema: Empty });
      return sheet.answers;
    },
  );
  const { server } = served([deep], accepting);
  const args = { sheet: { answers: '42' } };
  const { token } = await called(server, 'modern', { name: 'deep', arguments: args });
  const more = { ...args, resumeToken: token, answers: { go: {} } };
  expect(await called(server, 'modern', { name: 'deep', arguments: more })).toMatchObject({
    text: '42',
  });
});
