import { generateKey } from '@mcp-saga/server';
import { replayRecording, type Recording } from '@mcp-saga/testing';
import { expect, it } from 'vitest';
import { recordingHost } from './recorded.ts';
import { happened } from './shop.ts';
import { buy } from './undo.ts';

it('[R3] a saga of production becomes a test, of which the payment is not known', async () => {
  happened.length = 0;
  const kept = new Map<string, Recording>();
  const host = recordingHost(
    { put: async (name, recording) => void kept.set(name, recording) },
    generateKey(),
  );
  const asked = await host.start('buy', {});
  if (asked.status !== 'suspended') throw new Error('not asked');
  const answer = { stepId: 'sure', result: { action: 'accept', content: { sure: true } } };
  expect(await host.resume(asked.token, [answer])).toMatchObject({ result: 'On its way' });

  const recording = kept.get(`${asked.sagaId}.json`);
  expect(recording?.happened[0]).toMatchObject({ id: 'charge', value: { id: 'payment' } });
  const before = happened.length;
  await replayRecording(recording, [buy]);
  expect(happened).toHaveLength(before);
});
