import { elicit, memoryStore, saga, step } from '@mcp-saga/server';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { eras, post, read, type Fetches } from '../fixtures/raw.ts';
import { hostForAll } from '../fixtures/ways.ts';
import { testClock } from '../fixtures/clock.ts';
import { handlerOf } from '../fixtures/rounds.ts';

const declared = { 'io.modelcontextprotocol/clientCapabilities': { resumableRequests: {} } };

function working(ran: string[]) {
  return saga({ name: 'working', version: '1' }, function* () {
    yield* step('work', () => void ran.push('work'));
    return 'worked';
  });
}

async function resumed(
  server: Fetches,
  era: (typeof eras)[number],
  resumeToken: unknown,
  id: string | number,
) {
  const request = post(era, 'requests/resume', { resumeToken, _meta: declared }, id);
  return (await read(await server.fetch(request))).last;
}

test.each(
  eras.flatMap((era) => [
    [era, 7, [8, '7', 'seven']] as const,
    [era, 'a'.repeat(10_000), ['a'.repeat(9_999), 1]] as const,
  ]),
)('[T6] %s: requests/resume continues a request only under its own ID', async (era, id, others) => {
  const ran: string[] = [];
  const { host, told } = hostForAll([working(ran)]);
  const server = handlerOf(host);
  const headers = era === 'modern' ? { 'mcp-name': 'working' } : undefined;
  const params = { name: 'working', arguments: {}, _meta: declared };
  const request = post(era, 'tools/call', params, id, headers === undefined ? {} : { headers });
  const { messages } = await read(await server.fetch(request));
  const [token] = messages.flatMap(({ params: sent }) => sent?.['resumeToken'] ?? []);
  ran.splice(0);
  for (const other of others) {
    expect(await resumed(server, era, token, other)).toMatchObject({
      error: { code: -32602, data: { reason: 'invalid_resume_token' } },
    });
  }
  expect(told.rejections.map(({ reason }) => reason)).toContain('request');
  expect(ran).toEqual([]);
  expect(await resumed(server, era, token, id)).toMatchObject({
    id,
    result: { content: [{ text: 'worked' }] },
  });
  // The response is stored.
  expect(ran).toEqual([]);
});

test('[T6] [T13] sends the token of a stored response under the ID of the repeated request', async () => {
  const asks = saga({ name: 'asks', version: '1' }, function* () {
    yield* step('first', () => 1);
    yield* elicit('ready', { message: 'Ready?', schema: z.object({}) });
    yield* step('second', () => 2);
    yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
    return 'asked';
  });
  const clock = testClock();
  const { host } = hostForAll([asks], { clock, store: memoryStore({ clock }) });
  const server = handlerOf(host);
  const capabilities = { resumableRequests: {}, elicitation: {} };
  const resumes = { 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const send = async (method: string, params: object, id: number) => {
    const headers = method === 'tools/call' ? { headers: { 'mcp-name': 'asks' } } : {};
    const { messages, last } = await read(
      await server.fetch(post('modern', method, { ...params, _meta: resumes }, id, headers)),
    );
    return {
      last,
      told: messages.flatMap(({ params: sent }) => sent?.['resumeToken'] ?? []).at(-1),
    };
  };
  const call = { name: 'asks', arguments: {} };
  const first = await send('tools/call', call, 7);
  const { requestState } = first.last.result as { readonly requestState: string };
  const inputResponses = { ready: { action: 'accept', content: {} } };
  // The client never gets this answer.
  await send('tools/call', { ...call, requestState, inputResponses }, 8);
  const again = await send('requests/resume', { resumeToken: first.told }, 7);
  expect(again.told).toBeDefined();
  const { last } = await send('requests/resume', { resumeToken: again.told }, 7);
  expect(last).toMatchObject({ error: { data: { reason: 'input_required' } } });
});
