import { testHost, wireWays } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { complexTool } from './saga.ts';

const answers = { 'step-elicitation-A': { target: 'production' }, 'step-sampling-B': 'Yes, all is green.' };

it.each(wireWays)('[W1] deploys once for a client of $era that speaks $dialect', async (way) => {
  const wire = testHost({ sagas: [complexTool], answers: { model: 'accept' } });
  const client = wire.client({ ...way, answers });

  const { content } = await client.call('complex_tool', { initial_arg: 'value' });

  expect(content[0]?.text).toBe('Deployment to production initiated successfully based on confirmation.');
  expect(wire.effects).toMatchObject([{ id: 'deploy', runs: 1 }]);
  await wire.close();
});
