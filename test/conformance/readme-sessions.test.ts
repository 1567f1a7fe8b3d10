import { generateKey } from '@mcp-saga/server';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { listen, type Listening } from './server/listening.ts';
import { prepareSuite, runScenario } from './suite.ts';

let server: Listening;
// Long enough for Node to be downloaded.
beforeAll(async () => {
  vi.stubEnv('SAGA_KEYS', generateKey());
  const { fetch } = await import('../readme/sessions.ts');
  server = await listen(fetch);
  await prepareSuite();
});
afterAll(async () => {
  await server.close();
  vi.unstubAllEnvs();
});

it('the session server of the README passes dns-rebinding-protection', async () => {
  const name = 'dns-rebinding-protection';
  const { scenarios, output } = await runScenario(name, server.url);
  const statuses = scenarios.get(name)?.map(({ status }) => status);
  expect(statuses, output).toEqual(['SUCCESS', 'SUCCESS']);
});
