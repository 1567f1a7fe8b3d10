import { describe, expect, it } from 'vitest';
import {
  sample,
  type Json,
  type SampleAnswer,
  type SampleParams,
  type SamplingMessage,
  type SampleTool,
} from '../src/index.ts';
import type { Question } from '../src/model/question.ts';
import { answered, completed, start, suspended, turn } from './support/drive.ts';
import { sagaOf } from './support/sagas.ts';
import { World } from './support/world.ts';

const look: SampleTool = { name: 'look', inputSchema: { type: 'object' } };
const hello: SamplingMessage = { role: 'user', content: { type: 'text', text: 'hello' } };
const use = { type: 'tool_use', id: '1', name: 'look', input: { at: 'x' } } as const;
const result = { type: 'tool_result', toolUseId: '1', content: [] } as const;

async function needOf(params: Partial<SampleParams>): Promise<string> {
  const questions: Question[] = [];
  const program = sagaOf(function* () {
    yield* sample('q', { messages: [], maxTokens: 1, ...params });
    return 'done';
  });
  const route = (question: Question): 'ask' => {
    questions.push(question);
    return 'ask';
  };
  suspended(await start(program, {}, new World(), { replace: { route } }));
  return [...new Set(questions.map(({ need }) => need))].join();
}

describe('sampling with tools', () => {
  it.each<[string, Partial<SampleParams>, string]>([
    ['no tools', { messages: [hello] }, 'sampling'],
    ['a message of several blocks', { messages: [{ ...hello, content: [] }] }, 'sampling'],
    ['tools', { tools: [look] }, 'sampling.tools'],
    ['an empty list of tools', { tools: [] }, 'sampling.tools'],
    ['a choice', { toolChoice: { mode: 'none' } }, 'sampling.tools'],
    ['a call', { messages: [hello, { role: 'assistant', content: use }] }, 'sampling.tools'],
    ['a result', { messages: [{ role: 'user', content: [result] }] }, 'sampling.tools'],
    ['messages of another form', { messages: [null, 'a'] as never }, 'sampling'],
  ])('[W3] needs a capability of the client by its request: %s', async (_, params, need) => {
    expect(await needOf(params)).toBe(need);
  });

  it('[W3] [R1] a call by the model of the host reaches the body, and is not sampled again', async () => {
    const asked: SampleParams[] = [];
    const given: SampleAnswer = {
      role: 'assistant',
      model: 'own',
      stopReason: 'toolUse',
      content: [{ type: 'text', text: 'I look.' }, use],
    };
    const program = sagaOf(function* () {
      const { content, blocks, stopReason } = yield* sample('q', {
        messages: [hello],
        maxTokens: 1,
        tools: [look],
        toolChoice: { mode: 'required' },
      });
      const again = yield* sample('client', { messages: [hello], maxTokens: 1 });
      return JSON.stringify([content, blocks, stopReason, again.model]);
    });
    const replace = {
      route: ({ need }: Question) => (need === 'sampling.tools' ? 'host' : 'ask') as never,
      sample: (params: SampleParams) => {
        asked.push(params);
        return given;
      },
    };
    const { state } = suspended(await start(program, {}, new World(), { replace }));
    const said: Json = { role: 'assistant', model: 'm', content: { type: 'text', text: 'b' } };
    const outcome = await turn(program, state, { client: answered(said) }, new World(), {
      replace,
    });
    expect(JSON.parse(completed(outcome) as string)).toEqual([
      { type: 'text', text: 'I look.' },
      given.content,
      'toolUse',
      'm',
    ]);
    expect(asked).toMatchObject([{ tools: [look], toolChoice: { mode: 'required' } }]);
  });

  it.each<[string, unknown]>([
    ['no name', [{ inputSchema: { type: 'object' } }]],
    ['an empty name', [{ ...look, name: '' }]],
    ['no schema', [look, { name: 'a' }]],
    ['a schema of another type', [{ ...look, inputSchema: { type: 'string' } }]],
  ])('refuses a tool with %s at the line of the author', (_, tools) => {
    expect(() => sample('q', { messages: [], maxTokens: 1, tools: tools as SampleTool[] })).toThrow(
      expect.objectContaining({
        code: 'authoring_error',
        message: expect.stringContaining("sample('q') needs tools with a name"),
      }),
    );
  });
});
