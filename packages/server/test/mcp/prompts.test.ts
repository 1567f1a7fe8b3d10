import { promptSaga, SagaError, sleep, type PromptResult } from '@mcp-saga/server';
import type { McpServer } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { answerBy } from '../fixtures/answer-by.ts';
import { connections } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';
import { reviewPrompt } from '../fixtures/prompts.ts';
import { ask } from '../fixtures/raw.ts';
import {
  accepted,
  asked,
  handlerOf,
  refusedState,
  round,
  sdkHandlerOf,
} from '../fixtures/rounds.ts';
import { asking } from '../fixtures/sagas.ts';

const review = { method: 'prompts/get', name: 'review', arguments: { language: 'Ada' } } as const;
const inputResponses = { user_context: accepted({ context: 'a port' }) };
const text = 'Review Ada for a port, kindly.';

describe.each(connections)('$name', ({ connect }) => {
  test('[W1] lists a prompt with its arguments, and no tool', async () => {
    const { client, close } = await connect(hostOf([reviewPrompt(), asking()]).host);
    expect((await client.listPrompts()).prompts).toMatchObject([
      {
        name: 'review',
        title: 'Review',
        description: 'Reviews code',
        arguments: [
          { name: 'language', description: 'Of the code', required: true },
          { name: 'tone', required: false },
        ],
      },
    ]);
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['asking']);
    await close();
  });

  test('refuses arguments that do not match, with an error that names the field', async () => {
    const { client, close } = await connect(hostOf(reviewPrompt()).host);
    await expect(
      client.getPrompt({ name: 'review', arguments: { tone: 'kq' } }),
    ).rejects.toMatchObject({
      code: -32_602,
      message: expect.stringContaining('language: expected string'),
    });
    await close();
  });

  test('returns an error for a prompt that fails, without the thrown message', async () => {
    const failing = promptSaga({ name: 'failing', version: '1' }, function* () {
      yield* sleep(0);
      throw new Error('kq-918273');
    });
    const open = promptSaga({ name: 'open', version: '1' }, function* () {
      yield* sleep(0);
      throw new SagaError('Nothing to review');
    });
    const { client, close } = await connect(hostOf([failing, open]).host);
    await expect(client.getPrompt({ name: 'failing' })).rejects.toMatchObject({
      code: -32_603,
      message: expect.stringMatching(/'failing' failed\.$/),
    });
    await expect(client.getPrompt({ name: 'open' })).rejects.toMatchObject({
      code: -32_603,
      message: expect.stringMatching(/Nothing to review$/),
    });
    await close();
  });
});

describe('a prompt in rounds', () => {
  test('[P2] asks, and continues a prompt on another host without repeating a step', async () => {
    const ran: string[] = [];
    const [one, other] = [hostOf(reviewPrompt(ran)), hostOf(reviewPrompt(ran))] as const;
    const first = asked(await round(handlerOf(one.host), review));
    expect(first.requests).toEqual({
      user_context: {
        method: 'elicitation/create',
        params: {
          message: 'Which context?',
          requestedSchema: {
            type: 'object',
            properties: { context: { type: 'string' } },
            required: ['context'],
          },
        },
      },
    });
    const { last } = await round(handlerOf(other.host), review, {
      requestState: first.requestState,
      inputResponses,
    });
    expect(last.result).toMatchObject({
      resultType: 'complete',
      messages: [{ role: 'user', content: { type: 'text', text } }],
    });
    expect(ran).toEqual(['look']);
  });

  test('accepts the answer in the first call', async () => {
    const { last } = await round(handlerOf(hostOf(reviewPrompt()).host), review, {
      inputResponses,
    });
    expect(last.result).toMatchObject({ messages: [{ content: { text } }] });
  });

  test('[T6] refuses a changed state, and a state of other arguments, of a tool, or of the saga methods', async () => {
    const { host, told } = hostOf([reviewPrompt(), asking()]);
    const server = handlerOf(host);
    const { requestState } = asked(await round(server, review));
    const tool = asked(await round(server, { method: 'tools/call', name: 'asking' }));
    const method = await ask(server, 'modern', 'tools/callSaga', { name: 'asking' });
    const refusals = [
      await round(server, review, { requestState: `${requestState}-TAMPERED`, inputResponses }),
      await round(server, review, { requestState: 7, inputResponses }),
      await round(
        server,
        { ...review, arguments: { language: 'C' } },
        { requestState, inputResponses },
      ),
      await round(server, review, { requestState: tool.requestState, inputResponses }),
      await round(server, review, {
        requestState: method.last.result?.['sagaToken'],
        inputResponses,
      }),
      await round(
        server,
        { method: 'tools/call', name: 'asking' },
        { requestState, inputResponses },
      ),
    ];
    for (const { last } of refusals) expect(last).toMatchObject(refusedState);
    expect(told.turns).toHaveLength(3);
  });

  test('[W3] needs are checked before anything runs', async () => {
    const needing = promptSaga(
      { name: 'needing', version: '1', needs: ['sampling'] },
      function* () {
        yield* sleep(0);
        return 'never';
      },
    );
    const { host, told } = hostOf(needing);
    const request = { method: 'prompts/get', name: 'needing' } as const;
    const { last, status } = await round(handlerOf(host), request, {
      capabilities: { elicitation: {} },
    });
    expect(status).toBe(400);
    expect(last.error).toMatchObject({
      code: -32_021,
      data: { requiredCapabilities: { sampling: {} } },
    });
    expect(told.turns).toEqual([]);
  });
});

describe('a prompt', () => {
  test('is not served as a tool by the saga methods', async () => {
    const server = handlerOf(hostOf([reviewPrompt(), asking()]).host);
    const args = { language: 'Ada' };
    for (const era of ['modern', 'legacy'] as const) {
      const { last } = await ask(server, era, 'tools/callSaga', {
        name: 'review',
        arguments: args,
      });
      expect(last.error).toMatchObject({ code: -32_602, message: 'Unknown tool: "review"' });
    }
    const called = await round(server, { method: 'tools/call', name: 'review' });
    expect(called.last.error).toMatchObject({ code: -32_602 });
  });

  test('is started by its name without MCP', async () => {
    const { host } = hostOf(reviewPrompt());
    const turn = await host.start('review', { language: 'Ada' });
    if (turn.status !== 'suspended') throw new Error(turn.status);
    const answer = {
      stepId: 'user_context',
      result: { action: 'accept', content: { context: 'a port' } },
    };
    expect(await host.resume(turn.token, [answer])).toMatchObject({
      status: 'completed',
      result: text,
    });
  });

  test('may return messages and a description of its own', async () => {
    const result: PromptResult = {
      description: 'Mine',
      messages: [
        { role: 'user', content: { type: 'text', text: 'Hello' } },
        { role: 'assistant', content: { type: 'text', text: 'Yes?' } },
      ],
    };
    const own = promptSaga({ name: 'own', version: '1', description: 'Other' }, function* () {
      yield* sleep(0);
      return result;
    });
    const { last } = await round(handlerOf(hostOf(own).host), {
      method: 'prompts/get',
      name: 'own',
    });
    expect(last.result).toMatchObject(result);
  });

  test.each([
    ['a number', 5],
    ['a tool result', { content: [{ type: 'text', text: 'x' }] }],
    [
      'a message with an unknown role',
      { messages: [{ role: 'system', content: { type: 'text', text: 'x' } }] },
    ],
    ['a message with a text as content', { messages: [{ role: 'user', content: 'x' }] }],
    ['no message', { messages: [null] }],
  ])('fails if its body returns %s', async (_, returned) => {
    const odd = promptSaga({ name: 'odd', version: '1' }, function* () {
      yield* sleep(0);
      return returned as never;
    });
    const { host, told } = hostOf(odd);
    const { last } = await round(handlerOf(host), { method: 'prompts/get', name: 'odd' });
    expect(last.error).toMatchObject({ code: -32_603, message: "'odd' failed." });
    expect(told.turns).toMatchObject([{ status: 'failed', error: { code: 'invalid_result' } }]);
  });

  test('keeps other prompts of the server', async () => {
    const { host } = hostOf(reviewPrompt());
    const server = sdkHandlerOf({
      ...host,
      attach: (mcp: McpServer) => {
        mcp.registerPrompt('before', {}, () => ({ messages: [] }));
        host.attach(mcp);
        const argsSchema = z.object({ a: z.string() });
        mcp.registerPrompt('after', { argsSchema }, () => ({ messages: [] }));
      },
    });
    const { last } = await ask(server, 'modern', 'prompts/list', {});
    expect(last.result).toMatchObject({
      prompts: [
        { name: 'before' },
        { name: 'review' },
        { name: 'after', arguments: [{ name: 'a' }] },
      ],
    });
    const got = await round(server, { method: 'prompts/get', name: 'before' });
    expect(got.last.result).toMatchObject({ messages: [] });
  });

  test('accepts text arguments only, and a host refuses other schemas', () => {
    const counting = promptSaga(
      // @ts-expect-error -- a number
      { name: 'counting', version: '1', input: z.object({ count: z.number() }) },
      function* () {
        yield* sleep(0);
        return 'x';
      },
    );
    expect(() => hostOf(counting)).toThrow("Saga 'counting', input: 'count' is not a string");
    const fine = promptSaga(
      {
        name: 'fine',
        version: '1',
        input: z.object({
          count: z.string().transform(Number),
          kind: z.enum(['a', 'b']).optional(),
          either: z.union([z.literal('x'), z.email()]).optional(),
        }),
      },
      function* ({ count }) {
        yield* sleep(0);
        return count.toFixed(1);
      },
    );
    expect(() => hostOf(fine)).not.toThrow();
  });
});

// Over HTTP without sessions, a server cannot ask a client of 2025.
describe.each(connections.filter(({ stateless }) => stateless !== true))('$name', ({ connect }) => {
  test('[W1] [W2] completes a prompt that asks the user', async () => {
    const ran: string[] = [];
    const { host, told } = hostOf(reviewPrompt(ran));
    const { client, close } = await connect(host);
    answerBy(client, { elicit: () => accepted({ context: 'a port' }) });
    expect(await client.getPrompt(review)).toMatchObject({
      description: 'Reviews code',
      messages: [{ role: 'user', content: { type: 'text', text } }],
    });
    expect(ran).toEqual(['look']);
    expect(told.errors).toEqual([]);
    await close();
  });
});
