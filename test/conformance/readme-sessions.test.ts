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
}, 300_000);
afterAll(async () => {
  await server.close();
  vi.unstubAllEnvs();
});

it('finds that the session server of the README passes dns-rebinding-protection', async () => {
  const { exitCode, checks, output } = await runScenario('dns-rebinding-protection', server.url);
  expect(exitCode, output).toBe(0);
  expect(checks.map(({ status }) => status)).toEqual(['SUCCESS', 'SUCCESS']);
});
