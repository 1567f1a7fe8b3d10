/** Calls of clients with elicitation that end before the saga ends. */
import {
  all,
  checkpoint,
  elicit,
  elicitUrl,
  memoryStore,
  promptSaga,
  saga,
  sample,
  sleep,
  step,
  type Program,
  type Steps,
} from '@mcp-saga/server';
import type { TestingOptions } from '@mcp-saga/server/internal';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { answerBy } from '../fixtures/answer-by.ts';
import { sent, served, toCallResult, type CallResult } from '../fixtures/calling.ts';
import { testClock, type TestClock } from '../fixtures/clock.ts';
import { connections, type Connected } from '../fixtures/connections.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import { accepted, asked, handlerOf, round } from '../fixtures/rounds.ts';
import { complexTool, Empty, Target } from '../fixtures/sagas.ts';

const accepting = { answerers: { model: 'accept' } } as const;
const forms = { elicitation: { form: {} } };
const yes = { 'step-sampling-B': 'Yes, all green.' };
const deploying = { initial_arg: 'value' };
const where = { messages: [], maxTokens: 9 } as const;

/** A clock, and a sleep that moves the clock. */
function sleeping(): { readonly clock: TestClock; readonly testing: TestingOptions } {
  const clock = testClock();
  return { clock, testing: { sleep: async (ms) => void (clock.now += ms) } };
}

interface Reached extends TestHost {
  readonly client: Connected['client'];
  readonly questions: string[];
  readonly call: (args?: object, more?: object) => Promise<CallResult>;
  readonly close: () => Promise<void>;
}

describe.each(connections.filter(({ stateless }) => stateless !== true))('$name', ({ connect }) => {
  async function reached(
    program: Program,
    options: Parameters<typeof hostOf>[1] = {},
    capabilities: object = forms,
  ): Promise<Reached> {
    const host = hostOf(program, options);
    const { client, close } = await connect(host.host, { capabilities });
    const questions: string[] = [];
    answerBy(client, {
      elicit: ({ message }) => {
        questions.push(message);
        return { action: 'accept', content: { target: 'production' } };
      },
    });
    // The SDK checks results by the listed output schema.
    await client.listTools();
    return {
      ...host,
      client,
      questions,
      close,
      call: async (args = {}, more = {}) =>
        toCallResult(
          await client.callTool({
            name: program.name,
            arguments: args as Record<string, unknown>,
            ...more,
          }),
        ),
    };
  }

  test('[W1] [W3] a sampling question is for the calling model if the client does not support sampling', async () => {
    const keys: string[] = [];
    const program = complexTool((key) => keys.push(key));
    const { call: send, questions, close } = await reached(program, accepting);
    const first = await send(deploying);
    expect(first).toMatchObject({ isError: false, token: expect.any(String) });
    expect(first.text).toContain('Step "step-sampling-B", for you:');
    expect(keys).toEqual([]);
    const last = await send({ ...deploying, resumeToken: first.token, answers: yes });
    expect(last).toMatchObject({
      text: expect.stringMatching(/^Deployment to production/),
      token: undefined,
    });
    expect(questions).toEqual(['Please provide the deployment target:']);
    expect(keys).toHaveLength(1);
    await close();
  });

  test('[W3] the user gets a question within the call, and the model in the result', async () => {
    const program = saga({ name: 'both', version: '1' }, function* () {
      const { form, text } = yield* all({
        form: elicit('form', { message: 'Where?', schema: Target }),
        text: sample('text', where),
      });
      const { target } = yield* elicit('again', { message: 'And then?', schema: Target });
      return `${form.target} ${text.content.type === 'text' ? text.content.text : ''} ${target}`;
    });
    const { call: send, questions, close } = await reached(program, accepting);
    const first = await send();
    expect(first.text).not.toContain('Step "form"');
    expect(questions).toEqual(['Where?']);
    const last = await send({ resumeToken: first.token, answers: { text: 'then' } });
    expect(last).toMatchObject({ text: 'production then production', token: undefined });
    expect(questions).toEqual(['Where?', 'And then?']);
    await close();
  });

  test('[W6] a wait that is too long for the call ends the call', async () => {
    const time = sleeping();
    const program = saga({ name: 'waiting', version: '1' }, function* () {
      const { target } = yield* elicit('go', { message: 'Go?', schema: Target });
      yield* sleep(300_000);
      return `waited for ${target}`;
    });
    const { call: send, questions, close } = await reached(program, time);
    const first = await send();
    expect(first.text).toContain('Wait 5 minutes');
    time.clock.now += 280_000;
    expect(await send({ resumeToken: first.token })).toMatchObject({
      text: 'waited for production',
    });
    expect(questions).toEqual(['Go?']);
    await close();
  });

  test('[W6] a model that does not wait is held in each call', async () => {
    const time = sleeping();
    const program = saga({ name: 'waiting', version: '1' }, function* () {
      yield* sleep(300_000);
      return 'waited';
    });
    const { call: send, close } = await reached(program, time);
    let last = await send();
    let calls = 1;
    for (; last.token !== undefined; calls += 1) {
      last = await send({ resumeToken: last.token });
    }
    expect(last.text).toBe('waited');
    // Each call is held for 20 s.
    expect(calls).toBeLessThanOrEqual(15);
    await close();
  });

  test('[W1] twelve questions are answered once each, over several calls', async () => {
    const done: number[] = [];
    const program = saga({ name: 'curious', version: '1' }, function* () {
      for (let at = 0; at < 12; at += 1) {
        yield* elicit('target', { message: `Question ${at}?`, schema: Target });
        yield* step('note', () => void done.push(at));
      }
      return 'known';
    });
    const { call: send, questions, close } = await reached(program);
    let last = await send();
    while (last.token !== undefined) {
      expect(last.text).not.toContain('Step "');
      last = await send({ resumeToken: last.token });
    }
    expect(last.text).toBe('known');
    expect(questions).toHaveLength(12);
    expect(done).toHaveLength(12);
    await close();
  });

  test('[W1] each page of a saga is the result of a call', async () => {
    const program = saga({ name: 'paging', version: '1' }, function* () {
      for (const page of ['page 1', 'page 2', 'page 3']) yield* checkpoint(page);
      yield* elicit('target', { message: 'Where?', schema: Target });
      yield* all({
        page: checkpoint('page 4'),
        form: elicit('form', { message: 'And?', schema: Target }),
      });
      return 'page 5';
    });
    const { call: send, questions, close } = await reached(program);
    const pages: string[] = [];
    let last = await send();
    for (; last.token !== undefined; last = await send({ resumeToken: last.token })) {
      pages.push(last.text.split('\n')[0] ?? '');
      expect(last.text).not.toContain('Step "');
    }
    expect([...pages, last.text]).toEqual(['page 1', 'page 2', 'page 3', 'page 4', 'page 5']);
    expect(questions).toEqual(['Where?', 'And?']);
    await close();
  });

  test('[T14] a call may end before a saga with an output schema completes', async () => {
    const options = { name: 'shaped', version: '1', output: z.object({ ok: z.boolean() }) };
    const program = saga(options, function* () {
      yield* checkpoint('a page');
      return { ok: true };
    });
    const { call: send, close } = await reached(program);
    const { token } = await send();
    expect((await send({ resumeToken: token })).result).toMatchObject({
      structuredContent: { ok: true },
    });
    await close();
  });

  test('[T14] the model does not answer questions for the user of the client', async () => {
    const ran: string[] = [];
    const program = saga({ name: 'paging', version: '1' }, function* () {
      yield* all({
        page: checkpoint('a page'),
        form: elicit('form', { message: 'Where?', schema: Target }),
      });
      yield* step('work', () => void ran.push('work'));
      return 'worked';
    });
    const { call: send, questions, close, told } = await reached(program, accepting);
    const { token: resumeToken } = await send();
    const answers = [{ target: 'here' }, { action: 'accept', content: { target: 'here' } }, 'here'];
    for (const answer of answers) {
      // The client asks its user instead.
      const end = await send({ resumeToken, answers: { form: answer } });
      expect(end).toMatchObject({ text: 'worked' });
    }
    expect(questions).toHaveLength(answers.length);
    expect(ran).toHaveLength(answers.length);
    const ignored = { stepId: 'form', why: 'not accepted' };
    expect(told.ignored).toEqual(answers.map(() => ignored));
    await close();
  });

  test('[T14] the model shows a link if the client does not support URLs', async () => {
    const program = saga({ name: 'linking', version: '1' }, function* () {
      yield* elicitUrl('link', { message: 'Sign in', url: 'https://example.com/' });
      return 'opened';
    });
    const { call: send, close } = await reached(program, accepting);
    const { token, text } = await send();
    expect(text).toContain('https://example.com/');
    const answers = { link: { action: 'accept' } };
    expect(await send({ resumeToken: token, answers })).toMatchObject({ text: 'opened' });
    await close();
  });

  test('[T13] with a guard, a repeated call gets the same result, and nothing runs twice', async () => {
    const ran: string[] = [];
    const time = sleeping();
    const program = saga({ name: 'paging', version: '1' }, function* () {
      yield* checkpoint('page 1');
      yield* step('work', () => void ran.push('work'));
      const { content } = yield* sample('text', where);
      return content.type === 'text' ? content.text : '';
    });
    const options = { ...accepting, ...time, store: memoryStore({ clock: time.clock }) };
    const { call: send, close } = await reached(program, options);
    const page = await send();
    const [one, two] = [
      await send({ resumeToken: page.token }),
      await send({ resumeToken: page.token }),
    ];
    expect(one.text).toContain('Step "text", for you:');
    expect(two.text).toContain('Step "text", for you:');
    const more = { resumeToken: two.token, answers: { text: 'done' } };
    expect(await send(more)).toMatchObject({ text: 'done' });
    expect(await send({ ...more, resumeToken: one.token })).toMatchObject({ text: 'done' });
    await expect(send({ ...more, answers: { text: 'other' } })).rejects.toMatchObject({
      code: -32602,
    });
    expect(ran).toEqual(['work']);
    await close();
  });

  test('[T6] the token may be beside the arguments', async () => {
    const { call: send, questions, close } = await reached(complexTool(), accepting);
    const { token } = await send(deploying);
    const last = await send({ ...deploying, answers: yes }, { resumeToken: token });
    expect(last.text).toMatch(/^Deployment/);
    expect(questions).toHaveLength(1);
    await close();
  });

  test('[T5] an invalid resume token is refused with its own reason', async () => {
    const { call: send, close } = await reached(complexTool(), accepting);
    await expect(send({ ...deploying, resumeToken: 'x' })).rejects.toMatchObject({
      code: -32602,
      data: { reason: 'invalid_resume_token' },
    });
    await close();
  });
});

describe('rounds', () => {
  const curious = (questions: number): Program =>
    saga({ name: 'curious', version: '1' }, function* () {
      for (let at = 0; at < questions; at += 1)
        yield* elicit('target', { message: 'Where?', schema: Target });
      return 'known';
    });

  /** Answers rounds until a call ends. */
  async function rounds(
    server: ReturnType<typeof handlerOf>,
    args: { readonly [name: string]: unknown },
  ): Promise<CallResult & { readonly rounds: number }> {
    const request = { method: 'tools/call', name: 'curious', arguments: args } as const;
    let answer = await round(server, request);
    for (let count = 0; ; count += 1) {
      const { result = {} } = answer.last;
      if (result['resultType'] !== 'input_required')
        return { ...toCallResult(result), rounds: count };
      const { keys, requestState } = asked(answer);
      const inputResponses = Object.fromEntries(
        keys.map((key) => [key, accepted({ target: 'moon' })]),
      );
      answer = await round(server, request, { requestState, inputResponses });
    }
  }

  test('[W1] are at most nine in a call, and the next call has nine more', async () => {
    const server = handlerOf(hostOf(curious(20)).host);
    const first = await rounds(server, {});
    expect(first.rounds).toBe(9);
    // A round repeats the whole request, with its resume token.
    const second = await rounds(server, { resumeToken: first.token });
    expect(second.rounds).toBe(9);
    expect(await rounds(server, { resumeToken: second.token })).toMatchObject({
      rounds: 2,
      text: 'known',
    });
  });

  test('[T13] of a repeated call with a resume token lead to the same result', async () => {
    const clock = testClock();
    const program = saga({ name: 'curious', version: '1' }, function* () {
      for (let at = 0; at < 12; at += 1)
        yield* elicit('target', { message: 'Where?', schema: Target });
      return 'known';
    });
    const server = handlerOf(hostOf(program, { clock, store: memoryStore({ clock }) }).host);
    const { token: resumeToken } = await rounds(server, {});
    for (const _ of ['once', 'again'])
      expect(await rounds(server, { resumeToken })).toMatchObject({
        text: 'known',
        token: undefined,
      });
  });

  test('[W1] complete a call that needs all nine', async () => {
    const server = handlerOf(hostOf(curious(9)).host);
    expect(await rounds(server, {})).toMatchObject({ rounds: 9, text: 'known', token: undefined });
  });
});

describe('a token beside the arguments', () => {
  const capabilities = { elicitation: {} };
  const working = () => {
    const ran: string[] = [];
    const program = saga({ name: 'working', version: '1' }, function* () {
      yield* step('work', () => void ran.push('work'));
      yield* checkpoint('a page');
      return 'worked';
    });
    return { ran, ...served([program]) };
  };

  test.each([
    ['of a client that can be asked', 'modern', capabilities],
    ['of a client that declares nothing', 'modern', {}],
    ['of a client without a session', 'legacy', {}],
  ] as const)('[T6] is accepted in any place, %s', async (_, era, declared) => {
    const { server, ran } = working();
    const send = (more: object) =>
      sent(server, era, { name: 'working', arguments: {}, capabilities: declared, ...more });
    const { result = {} } = await send({});
    const { token } = toCallResult(result);
    const worked = { result: { content: [{ text: 'worked' }] } };
    expect(await send({ resumeToken: token })).toMatchObject(worked);
    expect(await send({ _meta: { resumeToken: token } })).toMatchObject(worked);
    expect(await send({ arguments: { resumeToken: token } })).toMatchObject(worked);
    expect(await send({ arguments: { resumeToken: token }, resumeToken: token })).toMatchObject(
      worked,
    );
    for (const two of [
      { resumeToken: 'x', arguments: { resumeToken: token } },
      { resumeToken: token, arguments: { resumeToken: 'x' } },
      { resumeToken: token, _meta: { resumeToken: 'x' } },
      { resumeToken: 7 },
      { resumeToken: 'x' },
    ]) {
      expect(await send(two)).toMatchObject({ error: { code: -32602 } });
    }
    expect(ran).toEqual(['work']);
  });

  test('[T14] answers beside the arguments are refused', async () => {
    const { server } = working();
    const { token } = toCallResult(
      (await sent(server, 'modern', { name: 'working' })).result ?? {},
    );
    const call = { name: 'working', arguments: { resumeToken: token }, answers: {} };
    expect(await sent(server, 'modern', call)).toMatchObject({ error: { code: -32602 } });
  });
});

test('[T6] a saga that requires a task is not continued by a resume token', async () => {
  const ran: string[] = [];
  const program = saga({ name: 'tasked', version: '1', task: 'require' }, function* () {
    yield* elicit('go', { message: 'Go?', schema: Empty });
    yield* step('work', () => void ran.push('work'));
    return 'worked';
  });
  const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
  const { server } = served([program], {
    anonymous: { tasks: 'accept' },
    store: memoryStore({ olderTokens: 'accept' }),
  });
  const { result } = await sent(server, 'modern', { name: 'tasked', capabilities });
  const resumeToken = result?.['requestState'];
  expect(resumeToken).toBeTypeOf('string');
  const call = { name: 'tasked', arguments: { resumeToken }, capabilities };
  expect(await sent(server, 'modern', call)).toMatchObject({ error: { code: -32602 } });
  expect(ran).toEqual([]);
});

test('[W3] a prompt cannot carry a token, so the model is not asked', async () => {
  const program = promptSaga({ name: 'prompt', version: '1' }, function* () {
    yield* sample('text', where);
    return 'sampled';
  });
  const request = { method: 'prompts/get', name: 'prompt' } as const;
  const { last } = await round(handlerOf(hostOf(program, accepting).host), request, {
    capabilities: forms,
  });
  expect(last.error).toMatchObject({ code: -32_603 });
});

describe('a resumable request', () => {
  const capabilities = { elicitation: {}, resumableRequests: {} };

  test.each([
    [
      'a page',
      function* (): Steps<string> {
        yield* checkpoint('ended early');
        yield* step('work', () => 1);
        yield* checkpoint('ended early');
        return 'done';
      },
      3,
    ],
    [
      'a long wait',
      function* (): Steps<string> {
        yield* sleep(300_000);
        return 'done';
      },
      2,
    ],
  ] as const)('[W6] [E1] ends before its saga completes, with %s', async (_, body, count) => {
    const time = sleeping();
    const program = saga({ name: 'resumable', version: '1' }, body);
    const server = handlerOf(
      hostOf(program, { ...time, anonymous: { resumableRequests: 'accept' } }).host,
    );
    const request = { method: 'tools/call', name: 'resumable' } as const;
    let answer = await round(server, request, { capabilities });
    let calls = 1;
    for (; answer.last.result?.['nextResumeToken'] !== undefined; calls += 1) {
      time.clock.now += 280_000;
      const args = { resumeToken: answer.last.result['nextResumeToken'] };
      answer = await round(server, { ...request, arguments: args }, { capabilities });
    }
    expect(answer.last).toMatchObject({ result: { content: [{ text: 'done' }] } });
    expect(calls).toBe(count);
  });
});

describe('a resume token that clients of two dialects use', () => {
  const capabilities = { elicitation: {} };
  const answers = { target: { target: 'moon' } };
  const inputResponses = { target: accepted({ target: 'moon' }) };

  function paging(): {
    readonly server: ReturnType<typeof served>['server'];
    readonly ran: string[];
  } {
    const ran: string[] = [];
    const program = saga({ name: 'paging', version: '1' }, function* () {
      yield* checkpoint('a page');
      yield* step('work', () => void ran.push('work'));
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      return target;
    });
    // The clock of `served` stands still.
    return {
      ran,
      server: served([program], { ...accepting, store: memoryStore({ clock: testClock() }) })
        .server,
    };
  }

  test.each([
    [{ capabilities }, {}],
    [{}, { capabilities }],
  ])('[T13] [W1] continues in the dialect of the last client: %j, %j', async (one, other) => {
    const { server, ran } = paging();
    const call = async (more: object): Promise<{ readonly [key: string]: unknown }> =>
      (await sent(server, 'modern', { name: 'paging', ...more })).result ?? {};
    const { token: resumeToken } = toCallResult(await call(one));
    await call({ ...one, arguments: { resumeToken } });
    const { requestState, nextResumeToken } = await call({ ...other, arguments: { resumeToken } });
    const last =
      requestState === undefined
        ? { arguments: { resumeToken: nextResumeToken, answers } }
        : { arguments: { resumeToken }, requestState, inputResponses };
    expect(await call({ ...other, ...last })).toMatchObject({ content: [{ text: 'moon' }] });
    expect(ran).toEqual(['work']);
  });
});
