import { all, elicit, saga, sample, step } from '@mcp-saga/server';
import { expect } from 'vitest';
import * as z from 'zod';
import { served } from '../../packages/server/test/fixtures/calling.ts';
import type { Era, Fetches, RawMessage } from '../../packages/server/test/fixtures/raw.ts';
import { complexTool, Target } from '../../packages/server/test/fixtures/sagas.ts';
import { bare, readableIn, refusal, respond } from './exchange.ts';
import { alterEnd } from '../support/wire/tamper.ts';
import { testStatements } from './statement.ts';

const proposal = 'MCP Tool calling as re-entrant sagas';

const started = { name: 'complex_tool', arguments: { initial_arg: 'value' } };
const done = 'Deployment to production initiated successfully based on confirmation.';
const answerA = {
  stepId: 'step-elicitation-A',
  result: { action: 'accept', content: { target: 'production' } },
};
const answerB = {
  stepId: 'step-sampling-B',
  result: {
    role: 'assistant',
    content: { type: 'text', text: 'Yes, all systems are green.' },
    model: 'client-side-llm-v2',
  },
};

const anyToken = expect.stringMatching(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/);

async function call(
  server: Fetches,
  era: Era,
  params: object,
  id: string | number = 1,
): Promise<RawMessage> {
  return await respond(server, era, { method: 'tools/callSaga', params: { ...params }, id });
}

async function resume(
  server: Fetches,
  era: Era,
  sagaToken: unknown,
  completedSteps: readonly object[],
  id: string | number = 2,
): Promise<RawMessage> {
  return await respond(server, era, {
    method: 'tools/resumeSaga',
    params: { sagaToken, completedSteps },
    id,
  });
}

const tokenOf = (message: RawMessage): string => String(message.result?.['sagaToken']);
const textIn = (text: string): object => ({ result: { content: [{ type: 'text', text }] } });

/** Returns the outcome of a question that its client could not answer. */
const caught = saga({ name: 'caught', version: '1' }, function* () {
  try {
    yield* sample('ask', {
      messages: [{ role: 'user', content: { type: 'text', text: 'Well?' } }],
      maxTokens: 9,
    });
    return 'answered';
  } catch (error) {
    const { message, code } = error as { readonly message: string; readonly code?: unknown };
    return `${String(code)}: ${message}`;
  }
});

const both = saga({ name: 'both', version: '1' }, function* () {
  const { one, two } = yield* all({
    one: elicit('one', { message: 'One?', schema: Target }),
    two: elicit('two', { message: 'Two?', schema: Target }),
  });
  return `${one.target} and ${two.target}`;
});

const atOnce = saga(
  { name: 'at_once', version: '1', input: z.object({ secret: z.string() }) },
  function* ({ secret }) {
    return yield* step('work', () => `worked on ${secret.length} characters`);
  },
);

testStatements(proposal, [
  {
    level: 'example',
    says: 'a tool asks the user, then the model, and ends, over three requests of its client',
    holds: async (era) => {
      const ran: string[] = [];
      const { server } = served([complexTool((key) => ran.push(key))]);
      const one = await call(server, era, started, 'client-req-1');
      expect(one.id).toBe('client-req-1');
      expect(bare(one)).toStrictEqual({
        state: 'suspended',
        sagaToken: anyToken,
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
      });
      const two = await resume(server, era, tokenOf(one), [answerA], 'client-req-2');
      expect(two.id).toBe('client-req-2');
      expect(bare(two)).toStrictEqual({
        state: 'suspended',
        sagaToken: anyToken,
        steps: [
          {
            type: 'sampling',
            stepId: 'step-sampling-B',
            params: {
              messages: [
                {
                  role: 'user',
                  content: { type: 'text', text: "Is deploying to 'production' safe right now?" },
                },
              ],
              maxTokens: 100,
            },
          },
        ],
      });
      expect(tokenOf(two)).not.toBe(tokenOf(one));
      expect(ran).toEqual([]);
      const three = await resume(server, era, tokenOf(two), [answerA, answerB], 'client-req-3');
      expect(three.id).toBe('client-req-3');
      expect(bare(three)).toStrictEqual({ content: [{ type: 'text', text: done }] });
      expect(ran).toHaveLength(1);
    },
  },
  {
    level: 'must',
    says: 'the client returns the token verbatim: one that was changed is refused',
    holds: async (era) => {
      const { server } = served([complexTool()]);
      const token = tokenOf(await call(server, era, started));
      for (const changed of [alterEnd(token), `${token}A`, '', 'another']) {
        expect(await resume(server, era, changed, [answerA])).toMatchObject(
          refusal('invalid_saga_token'),
        );
      }
    },
  },
  {
    level: 'must',
    says: 'the token is opaque: nothing of the saga can be read in it',
    holds: async (era) => {
      const { server } = served([complexTool()]);
      const one = await call(server, era, started);
      const two = await resume(server, era, tokenOf(one), [answerA]);
      for (const hidden of ['complex_tool', 'value', 'step-', 'production', 'elicitation']) {
        expect(readableIn(tokenOf(two))).not.toContain(hidden);
      }
    },
  },
  {
    level: 'must',
    says: 'the token holds the whole state: a server that has just started continues the saga',
    holds: async (era) => {
      const one = await call(served([complexTool()]).server, era, started);
      const two = await resume(served([complexTool()]).server, era, tokenOf(one), [answerA]);
      const three = await resume(served([complexTool()]).server, era, tokenOf(two), [
        answerA,
        answerB,
      ]);
      expect(three).toMatchObject(textIn(done));
    },
  },
  {
    level: 'must',
    says: 'completed steps are all steps so far, and earlier ones agree with what was answered',
    holds: async (era) => {
      const { server } = served([complexTool()]);
      const one = await call(server, era, started);
      const two = await resume(server, era, tokenOf(one), [answerA]);
      const otherwise = {
        ...answerA,
        result: { action: 'accept', content: { target: 'staging' } },
      };
      expect(await resume(server, era, tokenOf(two), [otherwise, answerB])).toMatchObject({
        error: { code: -32_602, data: { stepId: 'step-elicitation-A' } },
      });
      expect(await resume(server, era, tokenOf(two), [answerA, answerB])).toMatchObject(
        textIn(done),
      );
    },
  },
  {
    level: 'may',
    says: 'a client sends the new results only',
    holds: async (era) => {
      const { server } = served([complexTool()]);
      const two = await resume(server, era, tokenOf(await call(server, era, started)), [answerA]);
      expect(await resume(server, era, tokenOf(two), [answerB])).toMatchObject(textIn(done));
    },
  },
  {
    level: 'must',
    says: 'a step has a result or an error, and the error reaches the tool at that step',
    holds: async (era) => {
      const { server } = served([caught]);
      const token = tokenOf(await call(server, era, { name: 'caught' }));
      const error = { code: -1, message: 'No model here', data: { why: 'none' } };
      const failed = await resume(server, era, token, [{ stepId: 'ask', error }]);
      expect(failed).toMatchObject(textIn('-1: No model here'));
      for (const neither of [{ stepId: 'ask' }, { stepId: 'ask', result: answerB.result, error }]) {
        expect(await resume(server, era, token, [neither])).toMatchObject({
          error: { code: -32_602 },
        });
      }
    },
  },
  {
    level: 'must',
    says: 'a suspended saga lists each step that it waits for, with an ID of its own',
    holds: async (era) => {
      const { server } = served([both]);
      const one = await call(server, era, { name: 'both' });
      expect(one.result).toMatchObject({ steps: [{ stepId: 'one' }, { stepId: 'two' }] });
      const answers = ['two', 'one'].map((stepId) => ({
        stepId,
        result: { action: 'accept', content: { target: stepId } },
      }));
      expect(await resume(server, era, tokenOf(one), answers)).toMatchObject(textIn('one and two'));
    },
  },
  {
    level: 'must',
    says: 'a tool that needs nothing of its client answers with an ordinary result at once',
    holds: async (era) => {
      const { server } = served([atOnce]);
      const only = await call(server, era, { name: 'at_once', arguments: { secret: 'kq' } });
      expect(bare(only)).toStrictEqual({
        content: [{ type: 'text', text: 'worked on 2 characters' }],
      });
    },
  },
  {
    level: 'must',
    says: 'tools/callSaga takes a name and arguments, as tools/call does',
    holds: async (era) => {
      const { server } = served([atOnce]);
      for (const params of [
        { name: 'unknown', arguments: {} },
        { arguments: {} },
        { name: 'at_once', arguments: { secret: 7 } },
        { name: 'at_once', arguments: 'kq' },
      ]) {
        expect(await call(server, era, params)).toMatchObject({ error: { code: -32_602 } });
      }
    },
  },
  {
    level: 'may',
    says: 'a server says that it has the methods, and which of its tools are sagas',
    holds: async (era) => {
      const { server } = served([complexTool()]);
      const methods = ['tools/callSaga', 'tools/resumeSaga'];
      const extension = { 'io.github.mcp-saga/saga': { methods } };
      const initialize = {
        method: 'initialize',
        params: {
          protocolVersion: '2025-11-25',
          capabilities: {},
          clientInfo: { name: 'client', version: '1' },
        },
      };
      const hello = era === 'legacy' ? initialize : { method: 'server/discover', params: {} };
      const { result } = await respond(server, era, hello);
      expect(result).toMatchObject({ capabilities: { extensions: extension } });
      const listed = await respond(server, era, { method: 'tools/list', params: {} });
      expect(listed.result).toMatchObject({ tools: [{ name: 'complex_tool', _meta: extension }] });
    },
  },
]);
