import { elicit, memoryStore, saga, step } from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { hostOf } from '../fixtures/host.ts';
import { ask, post, read, type Fetches, type RawMessage } from '../fixtures/raw.ts';
import { accepted, asked, handlerOf, round } from '../fixtures/rounds.ts';
import { asking, Target } from '../fixtures/sagas.ts';
import { knowsTasks } from '../fixtures/task-client.ts';

const call = { method: 'tools/call', name: 'asking', arguments: { more: 'than none' } } as const;
// No caller is authenticated here.
const options = {
  answerers: { model: 'accept' },
  anonymous: { resumableRequests: 'accept' },
} as const;
const resumable = { resumableRequests: {} };
const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

async function called(server: Fetches, more: object = {}): Promise<RawMessage> {
  const { method, name, arguments: args } = call;
  const params = { name, arguments: { ...args, ...more }, _meta: { [capabilitiesKey]: resumable } };
  return (
    await read(
      await server.fetch(post('modern', method, params, 1, { headers: { 'mcp-name': name } })),
    )
  ).last;
}

async function resumed(
  server: Fetches,
  resumeToken: unknown,
  capabilities: object,
  meta: object = {},
): Promise<RawMessage> {
  const params = { resumeToken, _meta: { [capabilitiesKey]: capabilities, ...meta } };
  return (await ask(server, 'modern', 'requests/resume', params)).last;
}

describe('a request resumed by a client of another dialect continues in that dialect', () => {
  test('[W1] from rounds to resume tokens', async () => {
    const server = handlerOf(hostOf(asking(), options).host);
    const { requestState } = asked(
      await round(server, call, { capabilities: { ...resumable, elicitation: {} } }),
    );
    const { result } = await resumed(server, requestState, {});
    const answers = { target: { target: 'prod' } };
    expect(
      await called(server, { resumeToken: result?.['nextResumeToken'], answers }),
    ).toMatchObject({
      result: { content: [{ text: 'prod' }] },
    });
  });

  test('[W1] from resume tokens to rounds', async () => {
    const server = handlerOf(hostOf(asking(), options).host);
    const { result } = await called(server);
    const { error } = await resumed(server, result?.['nextResumeToken'], { elicitation: {} });
    const { requestState } = Object(error?.data) as { readonly requestState: string };
    const inputResponses = { target: accepted({ target: 'prod' }) };
    expect((await round(server, call, { requestState, inputResponses })).last).toMatchObject({
      result: { content: [{ text: 'prod' }] },
    });
  });
});

test('[W1] a resumed request continues from its token, whatever its _meta contains', async () => {
  const server = handlerOf(hostOf(asking(), options).host);
  const { result } = await called(server);
  const meta = { resumeToken: 'another', answers: {} };
  expect(await resumed(server, result?.['nextResumeToken'], {}, meta)).toMatchObject({
    result: { nextResumeToken: expect.any(String) },
  });
});

test('[W2] a saga that requires tasks cannot be resumed outside of a task', async () => {
  const did: string[] = [];
  const tasked = saga({ name: 'asking', version: '1', task: 'require' }, function* () {
    yield* elicit('target', { message: 'Where?', schema: Target });
    yield* step('go', () => void did.push('went'));
    return 'went';
  });
  const { host } = hostOf(tasked, {
    ...options,
    anonymous: { tasks: 'accept' },
    store: memoryStore(),
  });
  const server = handlerOf(host);
  const { requestState } = asked(
    await round(server, call, { capabilities: { ...knowsTasks, ...resumable } }),
  );
  for (const capabilities of [{ elicitation: {} }, {}, knowsTasks]) {
    expect(await resumed(server, requestState, capabilities)).toMatchObject({
      error: { code: -32_602, data: { reason: 'invalid_resume_token' } },
    });
  }
  expect(did).toEqual([]);
});
