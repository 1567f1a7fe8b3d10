/**
 * Server process of `pnpm hosts`. It is stateless except for the store, which runs in the runner
 * for both processes.
 */
import { serveSagas } from '@mcp-saga/server/serve';
import { listen } from '../../interop/support/http-server.ts';
import { storeAt } from '../shared-store.ts';
import { createSagas } from './sagas.ts';
import { askingModels } from '../../support/asking-models.ts';

const { RUNNER_URL: runner = '', HAS_HANDLES: hasHandles } = process.env;

const store = storeAt(runner);

const sagas = serveSagas({
  name: 'sagas',
  version: '1.0.0',
  sagas: askingModels(createSagas((effect) => console.error(`effect ${effect}`))),
  answerers: {
    // For hosts without dialogs: the calling model answers.
    model: 'accept',
  },
  anonymous: { tasks: 'accept' },
  store,
  shortTokens: hasHandles === 'true',
  // Keys of hosts count for users.
  auth: {
    authenticate: () => ({ issuer: 'https://id.example', subject: 'ada', client: 'host' }),
  },
  hooks: { onError: (error) => console.error('error', error) },
});

const { url } = await listen((request) => sagas.fetch(request));
console.log(`MCP is served at ${url}`);
