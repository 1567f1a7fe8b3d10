import { expect, test, vi } from 'vitest';
import { serveSagas } from '@mcp-saga/server/serve';
import { oldKey } from '../fixtures/host.ts';
import { ask } from '../fixtures/raw.ts';
import { asking } from '../fixtures/sagas.ts';

const loads = vi.hoisted((): string[] => []);

vi.mock('@modelcontextprotocol/server', async (load) => {
  loads.push('SDK');
  return await load();
});

test('[P1] the SDK is loaded with the first request that needs it', async () => {
  const server = serveSagas({ name: 'test', version: '1', sagas: [asking()], keys: oldKey });
  const { last } = await ask(server, 'modern', 'tools/callSaga', { name: 'asking' });
  expect(last.result).toMatchObject({ state: 'suspended' });
  expect(loads).toEqual([]);
  const listed = await ask(server, 'modern', 'tools/list', {});
  expect(listed.last.result).toMatchObject({ tools: [{ name: 'asking' }] });
  await ask(server, 'legacy', 'tools/list', {});
  expect(loads).toEqual(['SDK']);
});
