import { call, saga, sample, step, type SampleParams } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { agent, thinks } from '../fixtures/agent.ts';
import { answerBy } from '../fixtures/answer-by.ts';
import { toCallResult } from '../fixtures/calling.ts';
import { connections } from '../fixtures/connections.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import { asked, handlerOf, round } from '../fixtures/rounds.ts';
import { taskClient, tasksKey } from '../fixtures/task-client.ts';
import { hostForAll, send } from '../fixtures/ways.ts';

const told = 'lamp: 30, desk: 200';
const withTools = { sampling: { tools: {} } };
const withoutTools = { sampling: {} };
const answering = connections.filter(({ stateless }) => stateless !== true);
const own = { answerers: { sampling: thinks('host') } };

/** What a client is asked to sample, and the result of the tool. */
async function agentBy(
  { connect }: (typeof connections)[number],
  capabilities: object,
  { host }: TestHost,
): Promise<{ readonly text: string | undefined; readonly seen: readonly SampleParams[] }> {
  const { client, close } = await connect(host, { capabilities });
  const seen: SampleParams[] = [];
  answerBy(client, {
    sample: (params) => {
      seen.push(params as SampleParams);
      return thinks('client')(params as SampleParams);
    },
  });
  const { text } = toCallResult(await client.callTool({ name: 'agent', arguments: {} }));
  await close();
  return { text, seen };
}

describe.each(answering)('sampling with tools, $name', (connection) => {
  test('[W1] a client with sampling.tools calls tools, which run as steps', async () => {
    const ran: string[] = [];
    const { text, seen } = await agentBy(connection, withTools, hostOf(agent(ran), own));
    expect(text).toBe(`${told} (client)`);
    expect(ran).toEqual(['lamp', 'desk']);
    expect(seen).toMatchObject([
      { tools: [{ name: 'price' }], toolChoice: { mode: 'auto' } },
      {
        messages: [
          {},
          { content: [{ type: 'text' }, { type: 'tool_use' }, { type: 'tool_use', id: 'b' }] },
          { content: [{ toolUseId: 'a' }, { toolUseId: 'b', content: [{ text: 'desk: 200' }] }] },
        ],
      },
    ]);
  });

  test('[W3] a client with sampling, but without tools, is not asked: the host samples', async () => {
    const ran: string[] = [];
    const { text, seen } = await agentBy(connection, withoutTools, hostOf(agent(ran), own));
    expect(text).toBe(`${told} (host)`);
    expect(ran).toEqual(['lamp', 'desk']);
    expect(seen).toEqual([]);
  });

  test('[W3] without a model of the host, the step throws ClientCannot, also if a model may answer', async () => {
    for (const model of ['accept', undefined] as const) {
      const { text, seen } = await agentBy(
        connection,
        withoutTools,
        hostOf(agent(), { answerers: model ? { model } : {} }),
      );
      expect(text).toBe(
        "'think' cannot be asked: the client offers no sampling with tools for this call.",
      );
      expect(seen).toEqual([]);
    }
  });
});

/** Answers a request as the model of a client. */
const think = (params: object): object => thinks('client')(params as SampleParams);

describe('sampling with tools by raw requests', () => {
  const resultOf = async (answer: ReturnType<typeof send>): Promise<Record<string, unknown>> => {
    const { last, text } = await answer;
    if (last.result === undefined) throw new Error(text);
    return last.result;
  };

  interface Asks {
    readonly steps?: readonly { readonly stepId: string; readonly params: object }[];
    readonly sagaToken?: string;
    readonly content?: readonly { readonly text: string }[];
  }

  async function bySagaMethods(host: TestHost, capabilities: object): Promise<string | undefined> {
    let result: Asks = await resultOf(
      send(host, 'tools/callSaga', { name: 'agent' }, { capabilities }),
    );
    while (result.steps !== undefined) {
      const completedSteps = result.steps.map(({ stepId, params }) => ({
        stepId,
        result: think(params),
      }));
      const { sagaToken } = result;
      result = await resultOf(
        send(host, 'tools/resumeSaga', { sagaToken, completedSteps }, { capabilities }),
      );
    }
    return result.content?.[0]?.text;
  }

  test('[W1] [W3] a client of the saga methods gets tools, unless it declares sampling without them', async () => {
    for (const [capabilities, by] of [
      [withTools, 'client'],
      [{}, 'client'],
      [withoutTools, 'host'],
    ] as const)
      expect(await bySagaMethods(hostForAll([agent()], own), capabilities)).toBe(`${told} (${by})`);
  });

  test('[W1] [W3] a task asks a client with tools, and the host for a client without', async () => {
    for (const [sampling, by] of [
      [{ tools: {} }, 'client'],
      [{}, 'host'],
    ] as const) {
      const ran: string[] = [];
      const inTask = saga({ name: 'in_task', version: '1', task: 'prefer' }, function* () {
        yield* step('begin', () => undefined);
        return yield* call(agent(ran), {});
      });
      const { host } = hostForAll([inTask], own);
      const capabilities = { sampling, extensions: { [tasksKey]: {} } };
      const client = taskClient(host, { capabilities });
      const taskId = await client.start('in_task');
      await client.idle();
      let task = await client.get(taskId);
      while (task['status'] === 'input_required') {
        const requests = task['inputRequests'] as Record<string, { readonly params: object }>;
        const answers = Object.entries(requests).map(([key, { params }]) => [key, think(params)]);
        await client.update(taskId, Object.fromEntries(answers) as object);
        await client.idle();
        task = await client.get(taskId);
      }
      expect(task).toMatchObject({
        status: 'completed',
        result: { content: [{ text: `${told} (${by})` }] },
      });
      expect(ran).toEqual(['lamp', 'desk']);
    }
  });

  test('[W1] [W3] a client with resumable requests gets tools only with sampling.tools', async () => {
    for (const [declared, by] of [
      [withTools, 'client'],
      [withoutTools, 'host'],
    ] as const) {
      const host = hostForAll([agent()], own);
      const capabilities = { ...declared, resumableRequests: {} };
      const repeated = (more: object) =>
        resultOf(send(host, 'tools/call', { name: 'agent', ...more }, { capabilities }));
      let result = await repeated({});
      while (result['resultType'] === 'input_required') {
        const requests = result['inputRequests'] as Record<string, { readonly params: object }>;
        const answers = Object.entries(requests).map(([key, { params }]) => [key, think(params)]);
        const { requestState } = result;
        result = await repeated({
          requestState,
          inputResponses: Object.fromEntries(answers) as object,
        });
      }
      expect(result).toMatchObject({ content: [{ text: `${told} (${by})` }] });
    }
  });

  test('[W1] the calling model is shown a conversation of several blocks, without tools', async () => {
    const look = saga({ name: 'look', version: '1' }, function* () {
      const content = [
        { type: 'text', text: 'What is this?' },
        { type: 'image', data: 'aGk=', mimeType: 'image/png' },
      ] as const;
      const messages = [{ role: 'user', content }] as const;
      const { content: said } = yield* sample('look', { messages, maxTokens: 9 });
      return said.type === 'text' ? said.text : '';
    });
    const { content, nextResumeToken } = await resultOf(
      send(hostForAll([look]), 'tools/call', { name: 'look' }),
    );
    expect(content).toMatchObject([
      { text: expect.stringContaining('user: What is this?\nuser: [image, image/png: see below]') },
      { type: 'image', data: 'aGk=' },
    ]);
    expect(nextResumeToken).toBeDefined();
  });

  test('[W3] needs of sampling.tools name the missing capability before anything runs', async () => {
    const needy = saga({ name: 'needy', version: '1', needs: ['sampling.tools'] }, function* () {
      return (yield* sample('q', { messages: [], maxTokens: 1, tools: [] })).model;
    });
    const server = handlerOf(hostOf(needy).host);
    const request = { method: 'tools/call', name: 'needy' } as const;
    expect((await round(server, request, { capabilities: withoutTools })).last).toMatchObject({
      error: { code: -32_021, data: { requiredCapabilities: { sampling: { tools: {} } } } },
    });
    expect(asked(await round(server, request, { capabilities: withTools })).keys).toEqual(['q']);
    const hosted = handlerOf(hostOf(needy, own).host);
    const { last } = await round(hosted, request, { capabilities: withoutTools });
    expect(last).toMatchObject({ result: { content: [{ text: 'host' }] } });
  });
});
