import { expect, test } from 'vitest';
import { callSaga } from '../src/index.ts';
import { connections } from './fixtures/connections.ts';
import { ScriptedServer } from './fixtures/scripted-server.ts';

const target = {
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
};
const safety = {
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
};
const targetAnswer = {
  stepId: 'step-elicitation-A',
  result: { action: 'accept', content: { target: 'production' } },
};
const safetyAnswer = {
  stepId: 'step-sampling-B',
  result: {
    role: 'assistant',
    content: { type: 'text', text: 'Yes, all systems are green.' },
    model: 'client-side-llm-v2',
  },
};
const ended = [
  { type: 'text', text: 'Deployment to production initiated successfully based on confirmation.' },
];

function script(): ScriptedServer {
  return new ScriptedServer([
    { state: 'suspended', sagaToken: 'token-1', steps: [target] },
    { state: 'suspended', sagaToken: 'token-2', steps: [safety] },
    { content: ended },
  ]);
}

const call = { name: 'complex_tool', arguments: { initial_arg: 'value' } };

test.for(connections)(
  '[W1] sends and receives the exchange of the proposal, field by field: $name',
  async ({ connect }) => {
    const server = script();
    const { client, close } = await connect(server);

    const result = await callSaga(client, call, {
      handlers: {
        elicitation: () => ({ action: 'accept', content: { target: 'production' } }),
        sampling: () => ({
          role: 'assistant',
          content: { type: 'text', text: 'Yes, all systems are green.' },
          model: 'client-side-llm-v2',
        }),
      },
    });

    expect(server.sent).toStrictEqual([
      {
        method: 'tools/callSaga',
        params: { name: 'complex_tool', arguments: { initial_arg: 'value' } },
      },
      {
        method: 'tools/resumeSaga',
        params: { sagaToken: 'token-1', completedSteps: [targetAnswer] },
      },
      {
        method: 'tools/resumeSaga',
        params: { sagaToken: 'token-2', completedSteps: [targetAnswer, safetyAnswer] },
      },
    ]);
    expect(result.content).toStrictEqual(ended);
    await close();
  },
);

test.for(connections)(
  'sends only the answers of the turn with `news: only`: $name',
  async ({ connect }) => {
    const server = script();
    const { client, close } = await connect(server, {
      elicitation: () => ({ action: 'accept', content: { target: 'production' } }),
      sampling: () => ({
        role: 'assistant',
        content: { type: 'text', text: 'Yes, all systems are green.' },
        model: 'client-side-llm-v2',
      }),
    });

    await callSaga(client, call, { news: 'only' });

    expect(server.sent.slice(1).map(({ params }) => params['completedSteps'])).toStrictEqual([
      [targetAnswer],
      [safetyAnswer],
    ]);
    await close();
  },
);
