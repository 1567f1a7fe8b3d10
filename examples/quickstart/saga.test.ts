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

it('deploys only if both the user and the model agree', async () => {
  const run = await deployed.run();
  expect(run.result).toContain('Deployment to production initiated successfully');
  const other = await deployed.on.sample('step-sampling-B', 'Better not').run();
  expect(other.result).toContain('Not deployed to production');
});

it('[E1] deploys once after a crash at any point', async () => {
  await crashEverywhere(deployed);
});

it('runs the same steps on every machine, for each refusal and failure', async () => {
  await assertDeterministic(deployed);
  await refuseEverywhere(deployed);
  // A deployment that may have happened is looked after by people.
  await failEverywhere(deployed, { harmless: ['deploy'] });
});
