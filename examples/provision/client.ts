/**
 * Three users on two servers: the first keeps the machine, the second declines, and the third
 * answer is sent twice.
 */
import assert from 'node:assert/strict';
import { startSaga, SuspendedSaga, type ElicitationResult } from '@mcp-saga/client';
import { connect, startServer } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import { startCloud } from './cloud.ts';

const cloud = await startCloud();
const folder = new URL('.', import.meta.url);
const environment = { SAGA_KEYS: generateKey(), CLOUD_URL: cloud.url };
const [a, b] = await Promise.all([
  startServer('A', { folder, environment }),
  startServer('B', { folder, environment }),
]);

/** Asks server A for a machine, and answers server B. */
async function provision(answer: ElicitationResult, times = 1): Promise<string> {
  const begun = await startSaga(await connect(a.url), {
    name: 'provision',
    arguments: { size: 'small' },
  });
  // The client has a token before there is a machine: a lost first response creates none.
  assert(begun.status === 'suspended' && begun.saga.steps.length === 0);
  const turn = await begun.saga.resume();
  assert(turn.status === 'suspended');
  const [question] = turn.saga.steps;
  assert(question?.type === 'elicitation');
  console.log(`A asks: ${question.params.message}`);
  const onB = await connect(b.url);
  let text = '';
  for (let time = 0; time < times; time += 1) {
    const end = await SuspendedSaga.from(onB, turn.saga).resume([
      { stepId: question.stepId, result: answer },
    ]);
    assert(end.status === 'completed');
    text = end.result.content.map((block) => ('text' in block ? block.text : '')).join('');
    console.log(`B says: ${text}\n`);
  }
  return text;
}

assert.match(await provision({ action: 'accept', content: { keep: true } }), /^machine-1 is yours/);
assert.deepEqual([...cloud.machines.keys()], ['machine-1']);

assert.match(await provision({ action: 'decline' }), /Undone: 'create' \(the machine\)/);
assert.deepEqual([...cloud.machines.keys()], ['machine-1'], 'the declined machine is gone');

assert.match(
  await provision({ action: 'accept', content: { keep: false } }, 2),
  /machine-3 was not wanted/,
);
assert.deepEqual([...cloud.machines.keys()], ['machine-1']);
assert.equal(cloud.created, 3, 'each machine was created once');

await Promise.all([a.stop(), b.stop(), cloud.stop()]);
console.log('Created three machines, one for each user. Kept one, removed two.');
