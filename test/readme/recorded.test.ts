import { mkdtempSync, rmSync } from 'node:fs';
import { appendFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKey, type SagaHost } from '@mcp-saga/server';
import type { RecordedTurn } from '@mcp-saga/testing';
import { replayRecordings } from '@mcp-saga/testing/node';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { api } from './api.ts';
import { deploy, recordingHost } from './recorded.ts';
import { happened } from './shop.ts';
import { buy } from './undo.ts';

// The page of the machine creates a host when it is imported: with these keys, it does not warn.
vi.hoisted(() => vi.stubEnv('SAGA_KEYS', `test:${'A'.repeat(43)}`));

let folder: string;
let kept: RecordedTurn | undefined;
let host: SagaHost;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'recorded-'));
  happened.length = 0;
  api.released.clear();
  const bucket = {
    append: async (name: string, turn: RecordedTurn) => {
      kept = turn;
      await appendFile(join(folder, name), `${JSON.stringify(turn)}\n`);
    },
  };
  host = recordingHost(bucket, generateKey());
});
afterEach(() => rmSync(folder, { recursive: true }));

async function answered(saga: string, stepId: string, content: object): Promise<unknown> {
  const asked = await host.start(saga, {});
  if (asked.status !== 'suspended') throw new Error('not asked');
  return await host.resume(asked.token, [
    { stepId, result: { action: 'accept', content } },
  ] as never);
}

async function replayAll(pattern: string): Promise<void> {
  const files = replayRecordings(join(folder, pattern), { sagas: [buy, deploy] });
  await Promise.all(files.map(({ replay }) => replay()));
}

it('[R3] a recorded saga becomes a test, with a redacted payment', async () => {
  expect(await answered('buy', 'sure', { sure: true })).toMatchObject({ result: 'On its way' });
  expect(kept?.happened[0]).toMatchObject({ id: 'charge', value: { id: 'payment' } });
  const before = happened.length;
  await replayAll('*.jsonl');
  expect(happened).toHaveLength(before);
});

it('[R3] a recorded machine becomes a test from turns that were stored one by one', async () => {
  expect(await answered('deploy', 'target', { target: 'staging' })).toMatchObject({
    result: 'web is in staging.',
  });
  const { size } = api.released;
  await replayAll('*.jsonl');
  expect(size).toBe(1);
  expect(api.released.size).toBe(size);
});
