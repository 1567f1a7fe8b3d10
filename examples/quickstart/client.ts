/** Kills the server in the middle of a saga, and completes the saga on another server. */
import assert from 'node:assert/strict';
import { resumeSaga, startSaga } from '@mcp-saga/client';
import { generateKey } from '@mcp-saga/server';
import { connect, startServer } from '@mcp-saga/example-run-server';

const environment = { SAGA_KEYS: generateKey() };
const folder = new URL('.', import.meta.url);

const first = await startServer('first', { folder, environment });
const turn = await startSaga(await connect(first.url), {
  name: 'complex_tool',
  arguments: { initial_arg: 'value' },
});
assert(turn.status === 'suspended');
const kept = JSON.stringify(turn.saga);
await first.stop();
console.log(
  `Suspended at ${turn.saga.steps[0]?.stepId}, kept as ${kept.length} characters of JSON; its server is killed.`,
);

const second = await startServer('second', { folder, environment });
const result = await resumeSaga(await connect(second.url), JSON.parse(kept), {
  handlers: {
    elicitation: ({ message }) => {
      console.log(`${message} production`);
      return { action: 'accept', content: { target: 'production' } };
    },
    sampling: () => {
      const content = { type: 'text', text: 'Yes, all systems are green.' };
      return { role: 'assistant', content, model: 'client-side-llm-v2' };
    },
  },
});
await second.stop();

const text = 'Deployment to production initiated successfully based on confirmation.';
assert.deepEqual(result.content, [{ type: 'text', text }]);
console.log(text);
