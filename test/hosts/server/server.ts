/**
 * Server process of `pnpm hosts`. It is stateless except for the task store, which runs in the
 * runner for both processes.
 */
import { memoryStore, type TaskStore } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import type { StoredTask, Written } from '@mcp-saga/server/stores';
import { listen } from '../../interop/support/http-server.ts';
import { createSagas } from './sagas.ts';

const { RUNNER_URL: runner = '', HAS_HANDLES: hasHandles } = process.env;

const store: TaskStore = {
  read: async (id) => ((await post({ read: id })) as StoredTask | null) ?? undefined,
  write: async (id, sealed, expected) =>
    (await post({ write: id, sealed, expected })) as Written['status'],
};

const sagas = serveSagas({
  name: 'sagas',
  version: '1.0.0',
  sagas: createSagas((effect) => console.error(`effect ${effect}`)),
  answers: {
    // For hosts without dialogs: the calling model answers.
    model: 'accept',
  },
  tasks: { store, bearer: 'accept' },
  ...(hasHandles === 'true' ? { store: { ...memoryStore(), tasks: store } } : {}),
  hooks: { onError: (error) => console.error('error', error) },
});

const { url } = await listen((request) => sagas.fetch(request));
console.log(`MCP is served at ${url}`);

async function post(body: object): Promise<unknown> {
  const response = await fetch(runner, { method: 'POST', body: JSON.stringify(body) });
  return await response.json();
}
