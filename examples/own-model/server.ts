import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { chatCompletions } from './model.ts';
import { triage } from './saga.ts';

const { MODEL_URL = 'http://127.0.0.1:8080/v1', MODEL_KEY = '', MODEL = 'local' } = process.env;

const sagas = serveSagas({
  name: 'own-model',
  version: '1.0.0',
  sagas: [triage],
  answerers: {
    // For clients without sampling. The model of the client comes first, because the user pays for
    // that model and sees its work.
    sampling: chatCompletions({ url: MODEL_URL, key: MODEL_KEY, model: MODEL }),
  },
});

const server = serve({
  fetch: (request) => sagas.fetch(request),
  hostname: '127.0.0.1',
  port: Number(process.env['PORT'] ?? 3000),
  silent: true,
});
await server.ready();
console.log(`MCP is served at ${new URL('/mcp', server.url).href}`);
