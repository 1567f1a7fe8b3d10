import { describe, expect, test } from 'vitest';
import { answerBy, quickstartAnswers } from '../fixtures/answer-by.ts';
import { connections } from '../fixtures/connections.ts';
import { hostOf } from '../fixtures/host.ts';
import { complexTool } from '../fixtures/sagas.ts';

const call = { name: 'complex_tool', arguments: { initial_arg: 'value' } };

describe.each(connections.filter(({ stateless }) => stateless !== true))('$name', ({ connect }) => {
  test('[W1] [W2] calls a saga as an ordinary tool', async () => {
    const keys: string[] = [];
    const { host, told } = hostOf(complexTool((key) => keys.push(key)));
    const { client, close } = await connect(host);
    answerBy(client, quickstartAnswers);
    const result = await client.callTool(call);
    expect(result).toMatchObject({
      content: [
        {
          type: 'text',
          text: 'Deployment to production initiated successfully based on confirmation.',
        },
      ],
    });
    expect(keys).toHaveLength(1);
    expect(told.turns.map(({ status }) => status)).toEqual(['suspended', 'suspended', 'completed']);
    expect(told.errors).toEqual([]);
    await close();
  });
});
