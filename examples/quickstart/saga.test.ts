import {
  assertDeterministic,
  crashEverywhere,
  failEverywhere,
  refuseEverywhere,
  testSaga,
} from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { complexTool } from './saga.ts';

const deployed = testSaga(complexTool, { input: { initial_arg: 'web' } })
  .on.elicit('step-elicitation-A', { target: 'production' })
  .on.sample('step-sampling-B', 'Yes, all is green');

it('deploys where a person and a model agree, and not where the model does not', async () => {
  const run = await deployed.run();
  expect(run.result).toContain('Deployment to production initiated successfully');
  const other = await deployed.on.sample('step-sampling-B', 'Better not').run();
  expect(other.result).toContain('Not deployed to production');
});

it('[E1] deploys once, wherever its process dies', async () => {
  await crashEverywhere(deployed);
});

it('does the same on every machine, whoever refuses and whatever fails', async () => {
  await assertDeterministic(deployed);
  await refuseEverywhere(deployed);
  // A deployment that may have happened is looked after by people.
  await failEverywhere(deployed, { harmless: ['deploy'] });
});
