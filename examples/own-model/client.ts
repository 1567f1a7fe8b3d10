/**
 * Calls one tool with three clients: with a model and a user, with a user only, and with neither.
 */
import assert from 'node:assert/strict';
import { startServer } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import {
  Client,
  StreamableHTTPClientTransport,
  type ClientCapabilities,
} from '@modelcontextprotocol/client';
import { startFakeModel } from './fake-model.ts';

const key = 'a key of the endpoint';
const model = await startFakeModel(key);
const server = await startServer('A', {
  folder: new URL('.', import.meta.url),
  environment: { SAGA_KEYS: generateKey(), MODEL_URL: model.url, MODEL_KEY: key },
});

/** Calls the tool as any client of the official SDK does. */
async function triage(capabilities: ClientCapabilities): Promise<string> {
  const client = new Client(
    { name: 'own-model', version: '1.0.0' },
    { capabilities, versionNegotiation: { mode: 'auto' } },
  );
  if (capabilities.elicitation !== undefined) {
    client.setRequestHandler('elicitation/create', () => ({
      action: 'accept',
      content: { team: 'security' },
    }));
  }
  if (capabilities.sampling !== undefined) {
    client.setRequestHandler('sampling/createMessage', () => ({
      role: 'assistant',
      content: { type: 'text', text: 'normal' },
      model: 'of the client',
    }));
  }
  await client.connect(new StreamableHTTPClientTransport(server.url));
  const { content } = await client.callTool({
    name: 'triage',
    arguments: { ticket: 'The server room is on fire.' },
  });
  await client.close();
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
  console.log(`${Object.keys(capabilities).join(' and ') || 'nothing'}: ${text}`);
  return text;
}

assert.equal(
  await triage({ elicitation: { form: {} }, sampling: {} }),
  'The ticket is normal and goes to security.',
);
assert.equal(model.asked, 0, "the client's own model comes first");

assert.equal(
  await triage({ elicitation: { form: {} } }),
  'The ticket is urgent and goes to security.',
);
assert.equal(model.asked, 1);

assert.equal(await triage({}), 'The ticket is urgent and goes to support.');
assert.equal(model.asked, 2);

await Promise.all([server.stop(), model.stop()]);
console.log('The host replaced the missing capabilities of each client.');
