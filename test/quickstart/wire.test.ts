import { generateKey } from '@mcp-saga/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ServerProcess, startServer } from '../../examples/run-server/index.ts';
import { bundleForNode, runBundles } from '../support/bundle-for-node.ts';
import { type Era, type JsonRpcRequest, post, withoutMetadata } from '../support/json-rpc.ts';

const folder = new URL('../../examples/quickstart/', import.meta.url);
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

describe.each<Era>(['legacy', 'modern'])('the quickstart on the wire, %s era', (era) => {
  let first: ServerProcess;
  let second: ServerProcess;
  const did: { first: string[]; second: string[] } = { first: [], second: [] };

  beforeAll(async () => {
    await bundleForNode('examples/quickstart/server.ts');
    const keys = generateKey();
    [first, second] = await Promise.all([
      startServer('first', {
        folder,
        environment: { SAGA_KEYS: keys },
        execArgv: runBundles,
        onLine: (line) => did.first.push(line),
      }),
      startServer('second', {
        folder,
        environment: { SAGA_KEYS: keys },
        execArgv: runBundles,
        onLine: (line) => did.second.push(line),
      }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([first.stop(), second.stop()]);
  });

  const send = async (server: ServerProcess, request: JsonRpcRequest) =>
    withoutMetadata(await post(server.url, request, era));

  it('[P2] two processes with one key return every field of the documented exchange in turns', async () => {
    const one = await send(first, {
      jsonrpc: '2.0',
      id: 'client-req-1',
      method: 'tools/callSaga',
      params: { name: 'complex_tool', arguments: { initial_arg: 'value' } },
    });
    expect(one).toStrictEqual({
      jsonrpc: '2.0',
      id: 'client-req-1',
      result: {
        state: 'suspended',
        sagaToken: expect.stringMatching(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/),
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
    });

    const two = await send(second, {
      jsonrpc: '2.0',
      id: 'client-req-2',
      method: 'tools/resumeSaga',
      params: { sagaToken: one.result?.['sagaToken'], completedSteps: [answerA] },
    });
    expect(two).toStrictEqual({
      jsonrpc: '2.0',
      id: 'client-req-2',
      result: {
        state: 'suspended',
        sagaToken: expect.stringMatching(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/),
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
      },
    });
    expect(two.result?.['sagaToken']).not.toBe(one.result?.['sagaToken']);

    const three = await send(first, {
      jsonrpc: '2.0',
      id: 'client-req-3',
      method: 'tools/resumeSaga',
      params: { sagaToken: two.result?.['sagaToken'], completedSteps: [answerA, answerB] },
    });
    expect(three).toStrictEqual({
      jsonrpc: '2.0',
      id: 'client-req-3',
      result: {
        content: [
          {
            type: 'text',
            text: 'Deployment to production initiated successfully based on confirmation.',
          },
        ],
      },
    });

    await expect
      .poll(() => did)
      .toStrictEqual({
        first: [
          'turn 1 suspended',
          'step deploy started',
          'step deploy succeeded',
          'turn 3 completed',
        ],
        second: ['turn 2 suspended'],
      });
  });

  it('a process with another key refuses the token with the frozen response', async () => {
    const stranger = await startServer('stranger', {
      folder,
      environment: { SAGA_KEYS: generateKey('k1') },
      execArgv: runBundles,
    });
    try {
      const { result } = await send(first, {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/callSaga',
        params: { name: 'complex_tool', arguments: { initial_arg: 'value' } },
      });
      const refused = await send(stranger, {
        jsonrpc: '2.0',
        id: 2,
        method: 'tools/resumeSaga',
        params: { sagaToken: result?.['sagaToken'], completedSteps: [answerA] },
      });
      expect(refused).toStrictEqual({
        jsonrpc: '2.0',
        id: 2,
        error: {
          code: -32602,
          message: 'Invalid or expired sagaToken',
          data: { reason: 'invalid_saga_token' },
        },
      });
    } finally {
      await stranger.stop();
    }
  });
});
