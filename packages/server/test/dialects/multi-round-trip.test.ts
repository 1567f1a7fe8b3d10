import { all, elicit, elicitUrl, listRoots, sample, saga, step } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { hostOf } from '../fixtures/host.ts';
import type { Fetches } from '../fixtures/raw.ts';
import { accepted, asked, handlerOf, round, said } from '../fixtures/rounds.ts';
import { complexTool, noting, Target } from '../fixtures/sagas.ts';

const call = {
  method: 'tools/call',
  name: 'complex_tool',
  arguments: { initial_arg: 'value' },
} as const;
const target = accepted({ target: 'production' });

const gathering = saga({ name: 'gathering', version: '1' }, function* () {
  const { who, poem, roots } = yield* all({
    who: elicit('who', { message: 'Who?', schema: z.object({ name: z.string().min(2) }) }),
    poem: sample('poem', { messages: [], maxTokens: 9 }),
    roots: listRoots('roots'),
  });
  const text = poem.content.type === 'text' ? poem.content.text : '';
  return `${who.name}, ${text}, ${roots.length}`;
});
const gather = { method: 'tools/call', name: 'gathering' } as const;
const who = accepted({ name: 'Ada' });
const roots = { roots: [{ uri: 'file:///a' }] };

describe('a tool in rounds', () => {
  test('[W1] [P2] asks one question after the other, at two hosts in turns', async () => {
    const keys: string[] = [];
    const serving = (): Fetches => handlerOf(hostOf(complexTool((key) => keys.push(key))).host);
    const [one, other] = [serving(), serving()] as const;
    const first = asked(await round(one, call));
    expect(first.result).toEqual({
      resultType: 'input_required',
      requestState: first.requestState,
      inputRequests: {
        'step-elicitation-A': {
          method: 'elicitation/create',
          params: {
            message: 'Please provide the deployment target:',
            requestedSchema: {
              type: 'object',
              properties: { target: { type: 'string' } },
              required: ['target'],
            },
          },
        },
      },
      _meta: expect.any(Object),
    });
    const second = asked(
      await round(other, call, {
        requestState: first.requestState,
        inputResponses: { 'step-elicitation-A': target },
      }),
    );
    expect(second.requestState).not.toBe(first.requestState);
    expect(second.requests).toMatchObject({
      'step-sampling-B': { method: 'sampling/createMessage', params: { maxTokens: 100 } },
    });
    const { last } = await round(one, call, {
      requestState: second.requestState,
      inputResponses: { 'step-sampling-B': said('Yes.') },
    });
    expect(last.result).toMatchObject({
      resultType: 'complete',
      content: [{ text: 'Deployment to production initiated successfully based on confirmation.' }],
    });
    expect(keys).toHaveLength(1);
  });

  test('[E1] does not repeat a step of an earlier round', async () => {
    const keys = new Map<string, string[]>();
    const server = handlerOf(hostOf(noting(keys)).host);
    const noted = { method: 'tools/call', name: 'noting' } as const;
    const first = asked(await round(server, noted));
    const second = asked(
      await round(server, noted, {
        requestState: first.requestState,
        inputResponses: { first: target },
      }),
    );
    const { last } = await round(server, noted, {
      requestState: second.requestState,
      inputResponses: { second: target },
    });
    expect(last.result).toMatchObject({ content: [{ text: 'noted' }] });
    expect([...keys].map(([id, ran]) => [id, ran.length])).toEqual([
      ['before', 1],
      ['between', 1],
      ['item(a)', 1],
      ['item(b)', 1],
    ]);
  });

  test('returns an error result for arguments that do not match', async () => {
    const { host, told } = hostOf(complexTool());
    const { last } = await round(handlerOf(host), { ...call, arguments: { initial_arg: 1 } });
    expect(last.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining('initial_arg: expected string') }],
    });
    expect(told.turns).toEqual([]);
  });

  test('sends the user to a page if the client supports URLs', async () => {
    const paying = saga({ name: 'paying', version: '1' }, function* () {
      yield* elicitUrl('pay', { message: 'Pay here', url: 'https://pay.example/1' });
      return 'paid';
    });
    const server = handlerOf(hostOf(paying).host);
    const pay = { method: 'tools/call', name: 'paying' } as const;
    const first = asked(await round(server, pay));
    expect(first.requests).toEqual({
      pay: {
        method: 'elicitation/create',
        params: {
          mode: 'url',
          message: 'Pay here',
          url: 'https://pay.example/1',
          elicitationId: expect.any(String),
        },
      },
    });
    const { last } = await round(server, pay, {
      requestState: first.requestState,
      inputResponses: { pay: { action: 'accept' } },
    });
    expect(last.result).toMatchObject({ content: [{ text: 'paid' }] });
    const refused = await round(server, pay, { capabilities: { elicitation: { form: {} } } });
    expect(refused.last.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("'pay' cannot be asked") }],
    });
  });
});

describe('several questions in one round', () => {
  test('[W4] are asked at once, and answered at once', async () => {
    const server = handlerOf(hostOf(gathering).host);
    const { requestState, requests } = asked(await round(server, gather));
    expect(requests).toMatchObject({
      who: { method: 'elicitation/create' },
      poem: { method: 'sampling/createMessage', params: { maxTokens: 9 } },
      roots: { method: 'roots/list', params: {} },
    });
    const inputResponses = { who, poem: said('rose'), roots };
    const { last } = await round(server, gather, { requestState, inputResponses });
    expect(last.result).toMatchObject({ content: [{ text: 'Ada, rose, 1' }] });
  });

  test('[W4] are recorded, and only missing answers are asked again', async () => {
    const server = handlerOf(hostOf(gathering).host);
    const first = asked(await round(server, gather));
    const second = asked(
      await round(server, gather, {
        requestState: first.requestState,
        inputResponses: { poem: said('rose') },
      }),
    );
    expect(second.keys).toEqual(['who', 'roots']);
    const third = asked(
      await round(server, gather, { requestState: second.requestState, inputResponses: { roots } }),
    );
    expect(third.keys).toEqual(['who']);
    // Empty answers, and no answers.
    const again = asked(
      await round(server, gather, { requestState: third.requestState, inputResponses: {} }),
    );
    const silent = asked(await round(server, gather, { requestState: again.requestState }));
    expect([again.keys, silent.keys]).toEqual([['who'], ['who']]);
    const { last } = await round(server, gather, {
      requestState: silent.requestState,
      inputResponses: { who },
    });
    expect(last.result).toMatchObject({ content: [{ text: 'Ada, rose, 1' }] });
  });

  test('[W4] are asked again with the reason if invalid', async () => {
    const server = handlerOf(hostOf(gathering).host);
    const { requestState } = asked(await round(server, gather));
    const again = asked(
      await round(server, gather, {
        requestState,
        inputResponses: { who: accepted({ name: 'A' }), poem: said('rose'), roots },
      }),
    );
    expect(again.keys).toEqual(['who']);
    expect(again.requests['who']?.params).toMatchObject({
      message: expect.stringMatching(/^Who\?\n\n\(name: .*\)$/),
    });
    const { last } = await round(server, gather, {
      requestState: again.requestState,
      inputResponses: { who },
    });
    expect(last.result).toMatchObject({ content: [{ text: 'Ada, rose, 1' }] });
  });

  test.each([
    ['null', null],
    ['a number', 12_345],
    ['a text', 'Ada'],
    ['an array', ['Ada']],
    ['an empty object', {}],
    ['an unknown action', { action: 'maybe' }],
    ['no content', { action: 'accept' }],
    ['the content alone', { name: 'Ada' }],
    ['a result in a wrapping', { result: who }],
    ['a request', { method: 'elicitation/create' }],
  ])('[W4] are not answered by %s', async (_, wrong) => {
    const { host, told } = hostOf(gathering);
    const server = handlerOf(host);
    const { requestState } = asked(await round(server, gather));
    const inputResponses = { who: wrong, poem: said('rose'), roots };
    for (const options of [{ requestState, inputResponses }, { inputResponses }]) {
      const { keys, requests } = asked(await round(server, gather, options));
      expect(keys).toEqual(['who']);
      expect(requests['who']?.params).toMatchObject({
        message: expect.stringMatching(/^Who\?\n\n\(.+\)$/),
      });
    }
    expect(told.ignored).toEqual([
      { stepId: 'who', why: 'invalid' },
      { stepId: 'who', why: 'invalid' },
    ]);
    expect(told.errors).toEqual([]);
  });

  test.each([
    ['null', null],
    ['a number', 1],
    ['an array', [who]],
    ['a text', 'who'],
  ])('[W4] are not answered by %s instead of responses', async (_, inputResponses) => {
    const { host, told } = hostOf(gathering);
    const server = handlerOf(host);
    const { requestState } = asked(await round(server, gather));
    const { last } = await round(server, gather, { requestState, inputResponses });
    expect(last.result?.['isError']).toBeUndefined();
    if (last.error === undefined)
      expect(last.result).toMatchObject({ resultType: 'input_required' });
    else expect(last.error.code).toBe(-32_602);
    expect(told.errors).toEqual([]);
  });

  test('[W4] to unknown questions are ignored and reported to the hook', async () => {
    const { host, told } = hostOf(gathering);
    const server = handlerOf(host);
    const { requestState } = asked(await round(server, gather));
    const inputResponses = { who, poem: said('rose'), roots, other: who };
    const { last } = await round(server, gather, { requestState, inputResponses });
    expect(last.result).toMatchObject({ content: [{ text: 'Ada, rose, 1' }] });
    expect(told.ignored).toEqual([{ stepId: 'other', why: 'unknown' }]);
  });
});

describe('answers in the first call', () => {
  const thrice = saga({ name: 'thrice', version: '1' }, function* () {
    const one = yield* elicit('one', { message: '1?', schema: Target });
    const two = yield* elicit('two', { message: '2?', schema: Target });
    const three = yield* elicit('two', { message: '3?', schema: Target });
    const effect = yield* step('effect', () => 'ran');
    return [one, two, three].map(({ target: text }) => text).join(' ') + effect;
  });
  const request = { method: 'tools/call', name: 'thrice' } as const;
  const [one, two, three] = ['a', 'b', 'c'].map((text) => accepted({ target: text }));

  test('are accepted by key, one question after the other, without extra keys', async () => {
    const { host, told } = hostOf(thrice);
    const inputResponses = { 'two#2': three, one, two, extra: one };
    const { last } = await round(handlerOf(host), request, { inputResponses });
    expect(last.result).toMatchObject({ content: [{ text: 'a b cran' }] });
    expect(told.ignored).toEqual([{ stepId: 'extra', why: 'unknown' }]);
  });

  test('are used up to the first missing one, once each', async () => {
    const server = handlerOf(hostOf(thrice).host);
    const first = asked(await round(server, request, { inputResponses: { one, 'two#2': three } }));
    expect(first.keys).toEqual(['two']);
    const second = asked(
      await round(server, request, { requestState: first.requestState, inputResponses: { two } }),
    );
    expect(second.keys).toEqual(['two#2']);
    const wrong = asked(
      await round(server, request, { inputResponses: { one: { action: 'accept' }, two } }),
    );
    expect(wrong.keys).toEqual(['one']);
  });
});
