import * as fc from 'fast-check';
import { all, elicit, memoryStore, saga, sample, sleep, step, type Json } from '@mcp-saga/server';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';
import { called, sent, served, type CallResult } from '../fixtures/calling.ts';
import { start } from '../fixtures/clock.ts';
import { hostOf, say, suspended } from '../fixtures/host.ts';
import { ask, eras } from '../fixtures/raw.ts';
import { Empty, Target } from '../fixtures/sagas.ts';

const accepting = { answerers: { model: 'accept' } } as const;
const answers = { target: { action: 'accept', content: { target: 'here' } } };

/** Asks where, with a closed input: an argument that it does not know is refused. */
function placing() {
  const runs: string[] = [];
  const program = saga(
    { name: 'placing', version: '1', input: z.strictObject({ a: z.number() }) },
    function* ({ a }) {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      yield* step('place', () => void runs.push(`${a} ${target}`));
      return `placed ${target}`;
    },
  );
  return { program, runs };
}

const nothing = fc.constantFrom<Json>(null, '', ' ', '\n', '""', "''", '``', 'null', 'None');

const noAnswers = fc.oneof(nothing, fc.constantFrom<Json>('{}', '[]', {}, [], '"{}"'));

type Wrap = readonly [open: string, close: string];

const quotes = fc.constantFrom<Wrap>(
  ['"', '"'],
  ["'", "'"],
  ['“', '”'],
  ['\n', '\n'],
  ['  ', '\t\r'],
);
const fences = fc.constantFrom<Wrap>(
  ['`', '`'],
  ['```\n', '\n```'],
  ['```json\n', '\n```'],
  ['```text\r\n', '\r\n```\n'],
  ['```', '```'],
);
/** What a model writes around a value: quotes, a fence, and quotes around the fence. */
const wraps = fc
  .tuple(
    fc.array(quotes, { maxLength: 1 }),
    fc.array(fences, { maxLength: 1 }),
    fc.array(quotes, { maxLength: 1 }),
  )
  .map((layers) => layers.flat());

function wrapped(text: string, layers: readonly Wrap[]): string {
  return layers.reduce((inner, [open, close]) => open + inner + close, text);
}

/** Breaks a token over lines, as a model does with a long string. */
function broken(token: string, width: number, by: string): string {
  return token.match(new RegExp(`.{1,${width}}`, 'g'))?.join(by) ?? token;
}
const width = fc.integer({ min: 16, max: 80 });
const line = fc.constantFrom('\n', ' ', '\r\n  ');

describe.each(eras)('%s', (era) => {
  const begun = async (options = {}) => {
    const { program, runs } = placing();
    const { server, told } = served([program], { ...accepting, ...options });
    const call = async (args: object): Promise<CallResult> =>
      await called(server, era, { name: 'placing', arguments: { a: 1, ...args } });
    const { token = '' } = await call({});
    return { server, told, runs, call, token };
  };

  test('[T14] a first call with empty values for resumeToken and answers starts a saga', async () => {
    const { call, runs } = await begun();
    await fc.assert(
      fc.asyncProperty(nothing, noAnswers, async (resumeToken, empty) => {
        const first = await call({ resumeToken, answers: empty });
        expect(first).toMatchObject({ isError: false, token: expect.any(String) });
        const end = await call({ resumeToken: first.token, answers });
        expect(end.text).toBe('placed here');
        expect(runs.pop()).toBe('1 here');
      }),
      { numRuns: 30 },
    );
  });

  test('[T14] a later call with empty answers asks the same question again, without an error', async () => {
    const { call, token } = await begun();
    await fc.assert(
      fc.asyncProperty(noAnswers, async (empty) => {
        const again = await call({ resumeToken: token, answers: empty });
        expect(again).toMatchObject({ isError: false, token: expect.any(String) });
        expect(again.text).toContain('Step "target", for the user:');
      }),
      { numRuns: 20 },
    );
  });

  test('[T14] [T13] quotes, fences, and white space around token and answers change nothing', async () => {
    await fc.assert(
      fc.asyncProperty(width, line, wraps, wraps, fc.nat(2), async (...written) => {
        const [size, by, around, aroundJson, depth] = written;
        const { call, token, runs } = await begun();
        let json = JSON.stringify(answers, undefined, depth);
        for (let level = 0; level < depth; level += 1) json = JSON.stringify(json);
        const args = {
          resumeToken: wrapped(broken(token, size, by), around),
          answers: wrapped(json, aroundJson),
        };
        expect((await call(args)).text).toBe('placed here');
        expect(runs).toEqual(['1 here']);
      }),
      { numRuns: 60 },
    );
  });

  test.each<[string, (token: string) => string]>([
    ['a comma behind quotes', (token) => `"${token}",`],
    ['a bracket and a full stop', (token) => `${token}).`],
    ['a label', (token) => `token: ${token}`],
    ['the name of the argument', (token) => `resumeToken="${token}"`],
    ['a member of JSON', (token) => `{"resumeToken": "${token}"}`],
    ['a sentence in brackets', (token) => `(resume token: ${token}).`],
    ['bold text', (token) => `**${token}**`],
    ['a fence and a full stop', (token) => `\`\`\`text\n${token}\n\`\`\`.`],
  ])('[T14] a token is read without what a model writes around it: %s', async (_, write) => {
    const store = memoryStore({ clock: () => start });
    const { call, token, runs } = await begun({ store });
    for (const resumeToken of [write(token), token, write(token)])
      expect((await call({ resumeToken, answers })).text).toBe('placed here');
    expect(runs).toEqual(['1 here']);
  });

  test.each<[string, (token: string) => string]>([
    ['an ellipsis for a part', (token) => `${token.slice(0, -9)}…`],
    ['a word before it', (token) => `is ${token}`],
    ['another token behind it', (token) => `${token}, ${token}`],
    ['a punctuation mark within it', (token) => token.replace(/.{9}$/, '!$&')],
    ['only punctuation', () => '...'],
    ['only a label', () => 'token:'],
    ['a label without a token', () => 'resume_token='],
    ['a label and an empty token', () => 'token=""'],
    ['a label and a word for nothing', () => 'token: null'],
  ])('[T14] [T6] a token is refused if a model changes it: %s', async (_, write) => {
    const { server, token, runs } = await begun();
    const args = { a: 1, resumeToken: write(token), answers };
    expect(await sent(server, era, { name: 'placing', arguments: args })).toMatchObject({
      error: { code: -32602, data: { reason: 'invalid_resume_token' } },
    });
    expect(runs).toEqual([]);
  });

  test('[T14] with a guard, a token is one token, however a model writes it', async () => {
    const store = memoryStore({ clock: () => start });
    const { call, token, runs } = await begun({ store });
    const first = await call({ resumeToken: token, answers });
    const again = await call({ resumeToken: `"${token}"\n`, answers: JSON.stringify(answers) });
    expect([first.text, again.text]).toEqual(['placed here', 'placed here']);
    expect(runs).toEqual(['1 here']);
  });

  test.each<[string, Json]>([
    ['a list', [{ stepId: 'target', result: {} }]],
    ['a sentence', 'The user said: here.'],
    ['broken JSON', '{"target": {"action": "accept"'],
    ['a number', 7],
    ['a boolean', false],
    ['too many', Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`s${at}`, {}]))],
    ['the wrong type of a field', { target: { target: 7 } }],
    ['an unknown field', { target: { place: 'here' } }],
    ['an unknown action', { target: { action: 'yes' } }],
    ['an unknown step', { Target: { target: 'here' } }],
  ])('[T14] [W4] wrong answers repeat question and token as an error: %s', async (_, wrong) => {
    const { call, token, runs, told } = await begun({ store: memoryStore({ clock: () => start }) });
    const again = await call({ resumeToken: token, answers: wrong });
    expect(again).toMatchObject({ isError: true, token: expect.any(String) });
    expect(again.text).toContain('Step "target", for the user:');
    expect(again.text).toContain(again.token);
    expect(again.text).toMatch(/No answer was used|not used|The last answer was rejected/);
    expect(runs).toEqual([]);
    const end = await call({ resumeToken: again.token, answers });
    expect(end).toMatchObject({ isError: false, text: 'placed here' });
    expect(told.errors).toEqual([]);
  });

  test('[T11] [T14] text that is no JSON is parsed once', async () => {
    const { call, token } = await begun();
    const parse = vi.spyOn(JSON, 'parse');
    onTestFinished(() => parse.mockRestore());
    const sentence = 'The user said: here. '.repeat(1_000).trim();
    expect(await call({ resumeToken: token, answers: sentence })).toMatchObject({ isError: true });
    expect(parse.mock.calls.filter(([text]) => text === sentence)).toHaveLength(1);
  });

  test.each<[string, unknown]>([
    ['the result', { action: 'accept', content: { target: 'here' } }],
    ['the bare content', { target: 'here' }],
  ])('[T14] a form is read from a string of JSON for its one answer: %s', async (_, answer) => {
    for (const written of [JSON.stringify(answer), JSON.stringify(answer, undefined, 2)]) {
      const store = memoryStore({ clock: () => start });
      const { call, token, runs, told } = await begun({ store });
      // The same request again gets the same response.
      for (let count = 0; count < 2; count += 1) {
        const end = await call({ resumeToken: token, answers: { target: written } });
        expect(end).toMatchObject({ isError: false, text: 'placed here' });
      }
      expect(runs).toEqual(['1 here']);
      expect(told.ignored).toEqual([]);
    }
  });

  test('[T14] a string that is no JSON of an object does not answer a form', async () => {
    const deeplyNested = `{"target":${'['.repeat(100)}${']'.repeat(100)}}`;
    for (const written of ['here', '"here"', '["here"]', '{"target":', deeplyNested]) {
      const { call, token, runs } = await begun();
      const again = await call({ resumeToken: token, answers: { target: written } });
      expect(again).toMatchObject({ isError: true, token: expect.any(String) });
      expect(runs).toEqual([]);
    }
  });

  test('[T14] a wrong form in a string of JSON is asked again, and says what is wrong', async () => {
    const { call, token } = await begun();
    const again = await call({ resumeToken: token, answers: { target: '{"target": 7}' } });
    expect(again).toMatchObject({ isError: true, token: expect.any(String) });
    expect(again.text).toContain('(The last answer was rejected: target: ');
    const end = await call({ resumeToken: again.token, answers });
    expect(end).toMatchObject({ isError: false, text: 'placed here' });
  });

  test('[T14] a string of JSON stays the message of a model, also beside a form in a string', async () => {
    const both = saga({ name: 'both', version: '1' }, function* () {
      const { said, where } = yield* all({
        said: sample('said', { messages: [], maxTokens: 100 }),
        where: elicit('where', { message: 'Where?', schema: Target }),
      });
      return `${JSON.stringify(said.content)} ${where.target}`;
    });
    const { server } = served([both], accepting);
    const call = async (args: object) =>
      await called(server, era, { name: 'both', arguments: args });
    const { token } = await call({});
    const end = await call({
      resumeToken: token,
      answers: { said: '{"target":"there"}', where: '{"target":"here"}' },
    });
    expect(end.isError).toBe(false);
    expect(end.text).toBe(`${JSON.stringify({ type: 'text', text: '{"target":"there"}' })} here`);
  });

  test('[T14] another answer to an answered question is an error that a model can correct', async () => {
    const two = saga({ name: 'two', version: '1' }, function* () {
      const { target } = yield* elicit('target', { message: 'Where?', schema: Target });
      yield* elicit('sure', { message: 'Sure?', schema: Empty });
      return target;
    });
    const store = memoryStore({ clock: () => start });
    const { server } = served([two], { ...accepting, store, shortTokens: false });
    const call = async (args: object) =>
      await called(server, era, { name: 'two', arguments: args });
    const { token: first } = await call({});
    const { token: second } = await call({ resumeToken: first, answers });
    const other = { target: { target: 'there' }, sure: {} };
    const refused = await call({ resumeToken: second, answers: other });
    expect(refused).toMatchObject({ isError: true, token: expect.any(String) });
    expect(refused.text).toContain("Step 'target' already has another answer.");
    expect(refused.text).toContain('Step "sure", for the user:');
    const end = await call({ resumeToken: refused.token, answers: { sure: {} } });
    expect(end).toMatchObject({ isError: false, text: 'here' });
  });

  test('[T14] answers without a token are an error that a model can correct', async () => {
    const { call, runs } = await begun();
    for (const resumeToken of [undefined, null, '', '""']) {
      const refused = await call({ resumeToken, answers });
      expect(refused).toMatchObject({ isError: true, token: undefined });
      expect(refused.text).toContain('requires arguments.resumeToken');
    }
    expect(runs).toEqual([]);
  });

  test('[T14] an answer beside a right one for another question is an error, and the right one counts', async () => {
    const both = saga({ name: 'both', version: '1' }, function* () {
      const { one, two } = yield* all({
        one: elicit('one', { message: 'Where?', schema: Target }),
        two: elicit('two', { message: 'Where to?', schema: Target }),
      });
      return `${one.target} to ${two.target}`;
    });
    const { server } = served([both], accepting);
    const call = async (args: object) =>
      await called(server, era, { name: 'both', arguments: args });
    const { token } = await call({});
    const sentBoth = { one: { target: 'here' }, two: { target: 7 } };
    const again = await call({ resumeToken: token, answers: sentBoth });
    expect(again.isError).toBe(true);
    expect(again.text).not.toContain('Step "one"');
    const end = await call({ resumeToken: again.token, answers: { two: { target: 'there' } } });
    expect(end.text).toBe('here to there');
  });

  test('[W4] a token that does not open says how to start anew, with -32602', async () => {
    const { server, token } = await begun();
    for (const resumeToken of ['nonsense', 7, `x${token}`, [token]]) {
      const call = { name: 'placing', arguments: { a: 1, resumeToken, answers } };
      expect(await sent(server, era, call)).toMatchObject({
        error: {
          code: -32602,
          message: expect.stringContaining('To start anew, omit resumeToken and answers'),
          data: { reason: 'invalid_resume_token' },
        },
      });
    }
  });

  test('[T14] tools/callSaga ignores empty values for resumeToken and answers', async () => {
    const { server } = await begun();
    const args = { a: 1, resumeToken: null, answers: '' };
    const params = { name: 'placing', arguments: args };
    const { result } = (await ask(server, era, 'tools/callSaga', params)).last;
    expect(result).toMatchObject({ state: 'suspended' });
  });

  test('[T14] tools/callSaga refuses to continue a call, and names the method that does', async () => {
    const runs: string[] = [];
    const open = saga({ name: 'open', version: '1' }, function* () {
      yield* step('run', () => void runs.push('run'));
      return 'ran';
    });
    const { server } = served([open], accepting);
    for (const args of [{ resumeToken: 'abc' }, { answers }, { resumeToken: 7, answers: 'abc' }]) {
      const params = { name: 'open', arguments: args };
      expect((await ask(server, era, 'tools/callSaga', params)).last).toMatchObject({
        error: {
          code: -32602,
          message: expect.stringMatching(/^Invalid params.*tools\/resumeSaga/),
        },
      });
    }
    expect(runs).toEqual([]);
  });
});

test('[T14] a client that is no model cannot answer a form by a message', async () => {
  const { program, runs } = placing();
  const { host, told } = hostOf(program);
  const { token } = suspended(await host.start('placing', { a: 1 }));
  suspended(await host.resume(token, [say('target', '{"target":"here"}')]));
  expect(told.ignored).toEqual([{ stepId: 'target', why: 'invalid' }]);
  expect(runs).toEqual([]);
});

test('[T14] an answer to a saga that only waits is an error that names no open question', async () => {
  const waiting = saga({ name: 'waiting', version: '1' }, function* () {
    yield* sleep(3_600_000);
    return 'waited';
  });
  const { server } = served([waiting]);
  const { token } = await called(server, 'modern', { name: 'waiting' });
  const args = { resumeToken: token, answers: { target: {} } };
  const again = await called(server, 'modern', { name: 'waiting', arguments: args });
  expect(again).toMatchObject({ isError: true, token: expect.any(String) });
  expect(again.text).toContain('No question is open now.');
});
