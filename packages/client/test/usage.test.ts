import { expect, test } from 'vitest';
import {
  callSaga,
  type McpClient,
  resumeSaga,
  SagaClientError,
  startSaga,
  type CompletedStep,
} from '../src/index.ts';
import { connections } from './fixtures/connections.ts';
import { done, form, rpcError, ScriptedServer, suspended } from './fixtures/scripted-server.ts';

interface Page {
  ask(message: string): Promise<string>;
}

// #region usage
/** Calls a tool that asks on its way, and loses nothing when the network does. */
async function deploy(client: McpClient, page: Page, drawer: Map<string, string>): Promise<string> {
  const handlers = {
    elicitation: async ({ message }: { message: string }) =>
      ({ action: 'accept', content: { value: await page.ask(message) } }) as const,
  };
  const kept = drawer.get('deploy');
  try {
    const { content } = kept
      ? await resumeSaga(client, JSON.parse(kept), { handlers })
      : await callSaga(client, { name: 'deploy', arguments: { service: 'web' } }, { handlers });
    drawer.delete('deploy');
    return content[0]?.type === 'text' ? content[0].text : '';
  } catch (error) {
    if (error instanceof SagaClientError && error.saga)
      drawer.set('deploy', JSON.stringify(error.saga));
    throw error;
  }
}
// #endregion usage

test.for(connections)('works as the documentation shows: $name', async ({ connect }) => {
  const server = new ScriptedServer([
    suspended('t1', [form('target')]),
    () => {
      throw rpcError(-32603, 'the network is away');
    },
    done('Deployed'),
  ]);
  const { client, close } = await connect(server);
  const drawer = new Map<string, string>();
  const asked: string[] = [];
  const page: Page = {
    ask: async (message) => {
      asked.push(message);
      return 'production';
    },
  };

  await expect(deploy(client, page, drawer)).rejects.toThrow('the network is away');
  expect(drawer.size).toBe(1);
  await expect(deploy(client, page, drawer)).resolves.toBe('Deployed');

  expect(asked).toStrictEqual(['What about target?']);
  expect(drawer.size).toBe(0);
  await close();
});

// #region by-hand
/** The same turn by turn, for a host that renders the questions itself. */
async function byHand(
  client: McpClient,
  render: (stepId: string) => Promise<CompletedStep>,
): Promise<unknown> {
  let turn = await startSaga(client, { name: 'deploy', arguments: { service: 'web' } });
  while (turn.status === 'suspended') {
    const answers = await Promise.all(turn.saga.steps.map(({ stepId }) => render(stepId)));
    turn = await turn.saga.resume(answers);
  }
  return turn.result.content;
}
// #endregion by-hand

test.for(connections)('works by hand as the documentation shows: $name', async ({ connect }) => {
  const server = new ScriptedServer([
    suspended('t1', [form('a'), form('b')]),
    suspended('t2', [form('c')]),
    done('Deployed'),
  ]);
  const { client, close } = await connect(server);

  const content = await byHand(client, async (stepId) => ({
    stepId,
    result: { action: 'decline' },
  }));

  expect(content).toStrictEqual([{ type: 'text', text: 'Deployed' }]);
  expect(server.sent.at(-1)?.params['completedSteps']).toHaveLength(3);
  await close();
});
