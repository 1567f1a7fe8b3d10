import {
  elicit,
  elicitUrl,
  info,
  all,
  memoryStore,
  saga,
  sample,
  sleep,
  step,
  type SagaHostOptions,
  type Answerer,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { called, sent, served, toCallResult } from '../fixtures/calling.ts';
import { connections } from '../fixtures/connections.ts';
import { start } from '../fixtures/clock.ts';
import { hostOf } from '../fixtures/host.ts';
import { eras } from '../fixtures/raw.ts';
import { asking, complexTool, Empty, Target } from '../fixtures/sagas.ts';

const key = 'io.github.mcp-saga/saga';
const accepting = { answerers: { model: 'accept' } } as const;
const complex = { name: 'complex_tool', arguments: { initial_arg: 'value' } };
/** Why a client cannot be asked. One of 2025 may well have declared that it can. */
const reasons = {
  modern: 'the client offers no elicitation for this call.',
  legacy:
    'the server keeps no session, so it cannot ask a client of MCP 2025-11-25 or older over HTTP. Create the client of the ' +
    "official SDK with versionNegotiation: { mode: 'auto' }. Or serve sessions or stdio, or call the tool by tools/callSaga.",
};
const done = 'Deployment to production initiated successfully based on confirmation.';

describe.each(eras)('%s, without a session', (era) => {
  test('[W1] [W2] [P2] the calling model answers over several calls, on two servers', async () => {
    const keys: string[] = [];
    const { server, told } = served(
      [complexTool((idempotencyKey) => keys.push(idempotencyKey))],
      accepting,
    );
    const first = await called(server, era, complex);
    const second = await called(server, era, {
      ...complex,
      arguments: {
        ...complex.arguments,
        resumeToken: first.token,
        answers: { 'step-elicitation-A': { action: 'accept', content: { target: 'production' } } },
      },
    });
    expect(second.text).toContain("user: Is deploying to 'production' safe right now?");
    const third = await called(server, era, {
      ...complex,
      arguments: {
        ...complex.arguments,
        resumeToken: second.token,
        answers: { 'step-sampling-B': 'Yes, all is green.' },
      },
    });
    expect(third).toMatchObject({ text: done, token: undefined, isError: false });
    expect(third.result['_meta'] ?? {}).not.toHaveProperty('nextResumeToken');
    expect(keys).toHaveLength(1);
    expect(told.errors).toEqual([]);
  });

  test('[W1] a question has text for a model, and steps for a host to show', async () => {
    const { server } = served([complexTool()], accepting);
    const expiresAt = new Date(start + 3_600_000).toISOString();
    const { result, token } = await called(server, era, complex);
    expect(result).toMatchObject({
      content: [
        {
          type: 'text',
          text: [
            'This call is not finished: it needs answers.',
            '',
            'Step "step-elicitation-A", for the user:',
            'Please provide the deployment target:',
            'JSON Schema of the content: {"type":"object","properties":{"target":{"type":"string"}},"required":["target"]}',
            '',
            'Answer for the user only what the user has told you; ask the user whatever you do not know. If the user ' +
              'refuses, answer {"action": "decline"}.',
            `Then call this tool again with the same arguments and two more, before ${expiresAt}. The argument answers is a ` +
              'string of JSON in this form:',
            '{"step-elicitation-A": {"action": "accept", "content": {…}}}',
            'The argument resumeToken is exactly this:',
            token,
          ].join('\n'),
        },
      ],
      nextResumeToken: token,
      _meta: {
        [key]: {
          expiresAt,
          steps: [
            {
              type: 'elicitation',
              stepId: 'step-elicitation-A',
              params: {
                message: 'Please provide the deployment target:',
                requestedSchema: {
                  type: 'object',
                  properties: { target: { type: 'string' } },
                  required: ['target'],
                },
              },
            },
          ],
        },
      },
    });
    expect(result).not.toHaveProperty('isError');
  });

  test('[W1] sampling shows the conversation with placeholders, and a URL is for the user', async () => {
    const asks = saga({ name: 'asks', version: '1' }, function* () {
      const { said } = yield* all({
        said: sample('look', {
          systemPrompt: 'Be short.',
          messages: [
            { role: 'user', content: { type: 'text', text: 'What is this?' } },
            { role: 'user', content: { type: 'image', data: 'aGk=', mimeType: 'image/png' } },
          ],
          maxTokens: 9,
        }),
        paid: elicitUrl('pay', { message: 'Please pay.', url: 'https://example.com/pay' }),
      });
      return `${said.model}: ${said.content.type === 'text' ? said.content.text : ''}`;
    });
    const { server } = served([asks], accepting);
    const { text, result, token } = await called(server, era, { name: 'asks' });
    expect(text).toContain(
      [
        'Step "look", for you:',
        'Write the next message of this conversation, in at most 9 tokens.',
        'system: Be short.',
        'user: What is this?',
        'user: [image, image/png: see below]',
      ].join('\n'),
    );
    expect(text).toContain(
      'Please pay.\nShow the user this link, to be opened by the user: https://example.com/pay\n',
    );
    expect(text).toContain('\n{"look": "<the message>", "pay": {"action": "accept"}}\n');
    expect(result['content']).toContainEqual({
      type: 'image',
      data: 'aGk=',
      mimeType: 'image/png',
    });
    const answers = { look: 'a cat', pay: { action: 'accept' } };
    const end = await called(server, era, {
      name: 'asks',
      arguments: { resumeToken: token, answers },
    });
    expect(end.text).toBe('the model that called: a cat');
  });

  test.each([
    ['a result', { action: 'accept', content: { target: 'here' } }, 'here'],
    ['the content alone', { target: 'here' }, 'here'],
    ['a refusal', { action: 'decline' }, "The user declined the question 'target'."],
    ['a dismissal', { action: 'cancel' }, "The user dismissed the question 'target'."],
  ])('[T14] a model answers a form with %s', async (_, answer, text) => {
    const { server } = served([asking()], accepting);
    const { token } = await called(server, era, { name: 'asking' });
    const args = { resumeToken: token, answers: { target: answer } };
    expect(await called(server, era, { name: 'asking', arguments: args })).toMatchObject({
      text: expect.stringContaining(text),
      token: undefined,
    });
  });

  test.each([
    ['a number', 7, 'result: expected an object'],
    ['a string', 'here', "action: expected 'accept', 'decline' or 'cancel'"],
    ['another field', { place: 'here' }, 'target: expected string'],
    ['content without an action', { content: { target: 'here' } }, 'action: expected'],
  ])(
    '[W4] %s as an answer to a form is asked again, with the reason',
    async (_, answer, reason) => {
      const { server } = served([asking()], accepting);
      const { token } = await called(server, era, { name: 'asking' });
      const args = { resumeToken: token, answers: { target: answer, other: 'unknown' } };
      const again = await called(server, era, { name: 'asking', arguments: args });
      expect(again.text).toContain(
        `Step "target", for the user:\n(The last answer was rejected: ${reason}`,
      );
      expect(again.token).toBeDefined();
    },
  );

  test('[W4] reports unknown answers to a model, with the open questions', async () => {
    const { server, told } = served([asking()], accepting);
    const { token, text: first } = await called(server, era, { name: 'asking' });
    const answers = Object.fromEntries(
      ['Target', 'x'.repeat(200), '"', 'a', 'b', 'c'].map((id) => [id, { target: 'here' }]),
    );
    const again = await called(server, era, {
      name: 'asking',
      arguments: { resumeToken: token, answers },
    });
    const ids = `"Target", "${'x'.repeat(128)}", "\\"", "a", "b"`;
    const { content } = again.result as { readonly content: readonly { readonly text: string }[] };
    expect(content.map(({ text }) => text)).toEqual([
      `Answers of steps without an open question were not used: ${ids}. Open questions: "target".`,
      first.replace(String(token), String(again.token)),
    ]);
    expect(told.ignored).toHaveLength(6);
    const both = { target: { target: 'here' }, Target: { target: 'there' } };
    const args = { resumeToken: again.token, answers: both };
    expect(await called(server, era, { name: 'asking', arguments: args })).toMatchObject({
      text: expect.stringContaining('here'),
      token: undefined,
    });
  });

  test('[W4] reports to a model that no question is open', async () => {
    const waiting = saga(
      { name: 'waiting', version: '1', answeredBy: ['client', 'model', 'fallback'] },
      function* () {
        yield* sleep(3_600_000);
        return 'waited';
      },
    );
    const { server } = served([waiting]);
    const { token } = await called(server, era, { name: 'waiting' });
    const args = { resumeToken: token, answers: { target: {} } };
    const { result } = await called(server, era, { name: 'waiting', arguments: args });
    expect(result['content']).toMatchObject([
      { text: expect.stringMatching(/not used: "target"\. No question is open now\.$/) as string },
      { text: expect.stringContaining('This call is not finished. Wait') as string },
    ]);
  });

  test('[W3] a question without a source fails at its step, at once', async () => {
    const { server, told } = served([asking()]);
    const result = await called(server, era, { name: 'asking' });
    expect(result).toMatchObject({
      text: `'target' cannot be asked: ${reasons[era]}`,
      isError: true,
      token: undefined,
    });
    expect(result.result['_meta'] ?? {}).not.toHaveProperty('nextResumeToken');
    expect(told.turns).toMatchObject([{ status: 'failed' }]);
  });

  test('[T13] [W3] repeats the stored response to the same request', async () => {
    const asks = saga({ name: 'asks', version: '1' }, function* () {
      yield* elicit('may', {
        message: 'May I?',
        schema: Empty,
        answeredBy: ['client', 'model', 'fallback'],
      });
      yield* step('hold', () => 1, { compensate: () => undefined });
      yield* elicit('target', {
        message: 'Where?',
        schema: Empty,
        answeredBy: ['client', 'fallback'],
      });
      return '';
    });
    const { server } = served([asks], { ...accepting, store: memoryStore({ clock: () => start }) });
    const { token } = await called(server, era, { name: 'asks' });
    const again = { name: 'asks', arguments: { resumeToken: token, answers: { may: {} } } };
    const text = `'target' cannot be asked: ${reasons[era]} Undone: 'hold'.`;
    expect(await called(server, era, again)).toMatchObject({ text, isError: true });
    expect(await called(server, era, again)).toMatchObject({ text, isError: true });
  });

  test('[R2] [W3] shows its body the same error as in a replay', async () => {
    const messages: string[] = [];
    const catches = saga({ name: 'catches', version: '1' }, function* () {
      try {
        yield* elicit('target', {
          message: 'Where?',
          schema: Empty,
          answeredBy: ['client', 'fallback'],
        });
      } catch (error) {
        messages.push((error as Error).message);
      }
      return '';
    });
    await called(served([catches]).server, era, { name: 'catches' });
    expect(messages).toEqual([
      "'target' cannot be asked: the client offers no elicitation for this call.",
    ]);
  });

  test('[W3] advises the author once, in development, how to ask the question', async () => {
    const { server, told } = served([asking()], { testing: { environment: 'development' } });
    // Of two servers each says so.
    for (let count = 0; count < 6; count += 1) {
      await called(server, era, { name: 'asking' });
    }
    const said = told.warnings.filter(
      (warning) => warning.includes('ask for elicitation') || warning.includes('asks for'),
    );
    const why =
      era === 'modern' ? 'which a client does not declare. Give' : `${reasons.legacy} Or give`;
    const one: unknown = expect.stringContaining(
      `${why} the question a \`fallback\`, or the question answeredBy`,
    );
    expect(said).toEqual([one, one]);
  });

  test('[W3] unmet needs are rejected before the saga runs, and models may meet them', async () => {
    const runs: string[] = [];
    const needy = (options: Pick<SagaHostOptions, 'answerers'>) =>
      served(
        [
          saga({ name: 'needy', version: '1', needs: ['elicitation'] }, function* () {
            yield* step('run', () => void runs.push('run'));
            return 'ran';
          }),
        ],
        options,
      ).server;
    const message = `'needy' needs elicitation, ${
      era === 'modern'
        ? 'which the client did not declare for this call.'
        : `and cannot ask: ${reasons.legacy}`
    }`;
    const { result, error } = await sent(needy({}), era, { name: 'needy' });
    if (era === 'modern') expect(error).toMatchObject({ code: -32021, message });
    else expect(result).toMatchObject({ isError: true, content: [{ text: message }] });
    expect(runs).toEqual([]);
    expect(await called(needy(accepting), era, { name: 'needy' })).toMatchObject({ text: 'ran' });
  });

  test('[T14] the host, and the saga or the question allow the model; a fallback is not the model', async () => {
    const mixed = (...more: Answerer[]) =>
      saga(
        { name: 'mixed', version: '1', answeredBy: ['client', ...more, 'fallback'] },
        function* () {
          const asked = { message: 'Well?', schema: Empty };
          yield* elicit('model', {
            ...asked,
            answeredBy: ['client', 'model', 'fallback'],
            fallback: {},
          });
          yield* elicit('client', { ...asked, answeredBy: ['client', 'fallback'], fallback: {} });
          yield* elicit('either', { ...asked, fallback: {} });
          const { answeredBy } = yield* info();
          return ['model', 'client', 'either'].map((id) => answeredBy(id)).join(' ');
        },
      );
    const answersOf = async (
      program: ReturnType<typeof mixed>,
      options: Pick<SagaHostOptions, 'answerers'>,
    ): Promise<string> => {
      const { server } = served([program], options);
      let turn = await called(server, era, { name: 'mixed' });
      for (const id of ['model', 'either']) {
        if (turn.token === undefined) break;
        const args = { resumeToken: turn.token, answers: { [id]: {} } };
        turn = await called(server, era, { name: 'mixed', arguments: args });
      }
      return turn.text;
    };
    expect(await answersOf(mixed('model'), {})).toBe('server server server');
    expect(await answersOf(mixed(), accepting)).toBe('model server server');
    expect(await answersOf(mixed('model'), accepting)).toBe('model server model');
  });

  test('[E3] a failed saga returns no token', async () => {
    const failing = saga({ name: 'failing', version: '1' }, function* () {
      yield* elicit('go', { message: 'Go?', schema: Empty });
      yield* step('break', () => Promise.reject(new Error('secret')));
      return 'never';
    });
    const { server } = served([failing], accepting);
    const { token } = await called(server, era, { name: 'failing' });
    const args = { resumeToken: token, answers: { go: {} } };
    const end = await called(server, era, { name: 'failing', arguments: args });
    expect(end).toMatchObject({
      isError: true,
      token: undefined,
      text: "'failing' failed at step 'break'.",
    });
  });
});

const shaped = saga(
  {
    name: 'shaped',
    version: '1',
    input: z.object({ a: z.number() }),
    output: z.object({ doubled: z.number() }),
  },
  function* ({ a }) {
    const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
    return { doubled: a * 2 + target.length };
  },
);

describe.each(connections)('$name, without capabilities', ({ connect }) => {
  test('[W1] [W2] completes a saga with an output schema, and accepts each interim result', async () => {
    const { host, told } = hostOf(shaped, accepting);
    const { client, close } = await connect(host, { capabilities: {} });
    await client.listTools();
    const first = toCallResult(await client.callTool({ name: 'shaped', arguments: { a: 2 } }));
    expect(first.result['structuredContent']).toEqual({ unfinishedCall: true, text: first.text });
    expect(first.text).toContain(first.token);
    const args = { a: 2, resumeToken: first.token, answers: { target: { target: 'x' } } };
    const end = toCallResult(await client.callTool({ name: 'shaped', arguments: args }));
    expect(end).toMatchObject({ token: undefined, result: { structuredContent: { doubled: 5 } } });
    expect(told.errors).toEqual([]);
    await close();
  });
});
