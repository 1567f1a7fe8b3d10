import { assertDeterministic, refuseEverywhere, testSaga } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { triage } from './saga.ts';

const triaged = testSaga(triage, { input: { ticket: 'All is down' } })
  .on.sample('urgency', 'Urgent')
  .on.elicit('team', { team: 'security' });

it('[W3] asks a model and a person, or uses the fallbacks', async () => {
  expect((await triaged.run()).result).toBe('The ticket is urgent and goes to security.');
  const alone = testSaga(triage, {
    input: { ticket: 'All is down' },
    host: {
      answerers: {
        sampling: () => ({
          role: 'assistant',
          model: 'own',
          content: { type: 'text', text: 'normal' },
        }),
      },
    },
  });
  const run = await alone.deny.client('sampling').deny.client('elicitation').run();
  expect(run.result).toBe('The ticket is normal and goes to support.');
});

it('accepts any answer of a model or a person', async () => {
  await refuseEverywhere(triaged);
  await assertDeterministic(triaged);
});
