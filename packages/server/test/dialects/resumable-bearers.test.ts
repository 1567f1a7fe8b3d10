import {
  elicit,
  memoryStore,
  saga,
  step,
  type Program,
  type SagaHostOptions,
} from '@mcp-saga/server';
import { describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { policy } from '../fixtures/five.ts';
import { hostOf, type TestHost } from '../fixtures/host.ts';
import { ask, type Fetches, type RawMessage } from '../fixtures/raw.ts';
import { accepted, asked, handlerOf, round } from '../fixtures/rounds.ts';
import { Target } from '../fixtures/sagas.ts';

const forms = { elicitation: {} };
const declared = { ...forms, resumableRequests: {} };
const call = { method: 'tools/call', name: 'pays' } as const;
const refused = { error: { code: -32_602, data: { reason: 'invalid_resume_token' } } };

const pays = (did: string[]): Program =>
  saga({ name: 'pays', version: '1' }, function* () {
    const { target } = yield* elicit('target', { message: 'Whom?', schema: Target });
    yield* step('pay', () => void did.push(`paid ${target}`));
    yield* elicit('more', { message: `More than the pin 1234 to ${target}?`, schema: Target });
    return 'paid';
  });

interface Served extends Fetches {
  readonly told: TestHost['told'];
}

/** A guarded server, whose requests are authenticated or not. */
function served(
  by: 'ada' | 'nobody',
  options: Partial<SagaHostOptions> = {},
  did: string[] = [],
): Served {
  const { host, told } = hostOf(pays(did), {
    store: memoryStore({ clock: testClock() }),
    anonymous: { calls: 'accept' },
    auth: { principal: () => ({ subject: by, client: 'app' }) },
    ...options,
  });
  const authInfo = { token: '', clientId: 'app', scopes: [] };
  return { ...handlerOf(host, by === 'nobody' ? {} : { authInfo }), told };
}

async function resumed(server: Fetches, resumeToken: unknown): Promise<RawMessage> {
  const params = { resumeToken, _meta: { 'io.modelcontextprotocol/clientCapabilities': declared } };
  return (await ask(server, 'modern', 'requests/resume', params)).last;
}

async function statusOf(server: Fetches, resumeToken: unknown): Promise<RawMessage> {
  return (await ask(server, 'modern', 'requests/getStatus', { requestId: 1, resumeToken })).last;
}

/** The first token of a call, which its client has used by an answer. */
async function usedToken(server: Fetches, capabilities: object): Promise<string> {
  const { requestState } = asked(await round(server, call, { capabilities }));
  const inputResponses = { target: accepted({ target: 'bob' }) };
  asked(await round(server, call, { capabilities, requestState, inputResponses }));
  return requestState;
}

const newest = { error: { data: { reason: 'input_required', inputRequests: { more: {} } } } };

describe('a used token', () => {
  test('[T14] opens the newest turn for the principal of a call that declared resumable requests', async () => {
    const server = served('ada');
    expect(await resumed(server, await usedToken(server, declared))).toMatchObject(newest);
  });

  test('[T14] is refused if its call did not declare resumable requests', async () => {
    const did: string[] = [];
    const server = served('ada', {}, did);
    const token = await usedToken(server, forms);
    for (const answer of [await resumed(server, token), await statusOf(server, token)]) {
      expect(answer).toMatchObject(refused);
      expect(JSON.stringify(answer)).not.toContain('1234');
    }
    expect(server.told.rejections).toMatchObject([{ reason: 'method' }, { reason: 'method' }]);
    expect(did).toEqual(['paid bob']);
  });

  test('[T14] is refused without authentication, whatever its call declared', async () => {
    const server = served('nobody');
    const token = await usedToken(server, declared);
    for (const answer of [await resumed(server, token), await statusOf(server, token)]) {
      expect(answer).toMatchObject(refused);
      expect(JSON.stringify(answer)).not.toContain('1234');
    }
  });

  test('[T14] opens the newest turn for any caller if the host accepts it', async () => {
    const server = served('nobody', {
      anonymous: { calls: 'accept', resumableRequests: 'accept' },
    });
    expect(await resumed(server, await usedToken(server, declared))).toMatchObject(newest);
    expect(await resumed(server, await usedToken(server, forms))).toMatchObject(refused);
  });
});

test('[T14] ignores resumable requests of a client without authentication', async () => {
  const tokens = async (server: Fetches): Promise<number> => {
    const { messages } = await round(server, call, { capabilities: declared });
    return messages.filter(({ method }) => method === policy).length;
  };
  expect(await tokens(served('nobody'))).toBe(0);
  expect(
    await tokens(served('nobody', { anonymous: { calls: 'accept', resumableRequests: 'accept' } })),
  ).toBeGreaterThan(0);
  expect(await tokens(served('ada'))).toBeGreaterThan(0);
});

test('[T14] rejects a token after the host accepts it no more, and the call continues', async () => {
  const store = memoryStore({ clock: testClock() });
  const open = served('nobody', {
    store,
    anonymous: { calls: 'accept', resumableRequests: 'accept' },
  });
  const { requestState } = asked(await round(open, call, { capabilities: declared }));
  const closed = served('nobody', { store });
  expect(await resumed(closed, requestState)).toMatchObject(refused);
  expect(closed.told.rejections).toMatchObject([{ reason: 'principal' }]);
  const inputResponses = { target: accepted({ target: 'bob' }) };
  asked(await round(closed, call, { capabilities: declared, requestState, inputResponses }));
});

test('[T14] a later round without the capability returns a token that does not resume', async () => {
  const server = served('ada');
  const first = asked(await round(server, call, { capabilities: declared }));
  const inputResponses = { target: accepted({ target: 'bob' }) };
  const second = asked(
    await round(server, call, {
      capabilities: forms,
      requestState: first.requestState,
      inputResponses,
    }),
  );
  expect(await resumed(server, second.requestState)).toMatchObject(refused);
  const again = { more: accepted({ target: 'eve' }) };
  const { last } = await round(server, call, {
    capabilities: declared,
    requestState: second.requestState,
    inputResponses: again,
  });
  expect(last.result).toMatchObject({ content: [{ text: 'paid' }] });
});

test.each<[unknown, string]>([
  [{ resumableRequests: 'yes' }, 'invalid_option'],
  [{ resumableRequest: 'accept' }, 'unknown_option'],
  ['accept', 'invalid_option'],
])('anonymous: %o is rejected at the creation of a host', (anonymous, code) => {
  expect(() => served('nobody', { anonymous } as object)).toThrow(
    expect.objectContaining({ name: 'TypeError', code }),
  );
});
