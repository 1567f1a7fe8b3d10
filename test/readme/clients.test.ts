import { createSagaHost, generateKey } from '@mcp-saga/server';
import { expect, it } from 'vitest';
import { lenientHost } from './lacking.ts';
import { order, review } from './prompts.ts';

const ticket = { ticket: 'The server room is on fire' };

it('[W3] uses the model of the host or the fallback for missing capabilities', async () => {
  const host = lenientHost(generateKey());
  const turn = await host.start('triage', ticket, { caller: { capabilities: {} } });
  expect(turn).toMatchObject({ status: 'completed', result: 'urgent, goes to support' });
});

it('[W3] asks a client with the capability', async () => {
  const host = lenientHost(generateKey());
  const turn = await host.start('triage', ticket, {
    caller: { capabilities: { elicitation: {} } },
  });
  expect(turn).toMatchObject({ status: 'suspended', steps: [{ stepId: 'team' }] });
  if (turn.status !== 'suspended') return;
  const answer = { stepId: 'team', result: { action: 'accept', content: { team: 'billing' } } };
  expect(await host.resume(turn.token, [answer])).toMatchObject({
    result: 'urgent, goes to billing',
  });
});

it('[W1] serves prompts that ask, and resources', async () => {
  const host = createSagaHost({ sagas: [review, order], keys: generateKey(), name: 'readme' });
  const turn = await host.start('review', { language: 'Rust' });
  if (turn.status !== 'suspended') throw new Error(turn.status);
  const answer = {
    stepId: 'context',
    result: { action: 'accept', content: { context: 'a beginner' } },
  };
  expect(await host.resume(turn.token, [answer])).toMatchObject({
    result: 'Review Rust for a beginner.',
  });
  expect(await host.start('order', { uri: 'orders://7' })).toMatchObject({
    result: 'Order 7: two books',
  });
});
