import { all, elicit, memoryStore, saga, sleep, step, type Program } from '@mcp-saga/server';
import { serveSagas, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { storeGuard, type Fence } from '@mcp-saga/server/internal';
import { afterEach, describe, expect, test } from 'vitest';
import { testClock } from '../fixtures/clock.ts';
import { five, policy, steps, type Did } from '../fixtures/five.ts';
import { deferred } from '../fixtures/deferred.ts';
import { hooksInto, nothingTold, oldKey, type Told } from '../fixtures/host.ts';
import { ask, eras, post, type Era, type Fetches, type RawMessage } from '../fixtures/raw.ts';
import { asking, Target } from '../fixtures/sagas.ts';
import { listen, postUntil, type Listening } from '../fixtures/sockets.ts';
import { changed, type Parts } from '../fixtures/host-changes.ts';
import { storeWithGuard } from '../../../../test/support/store-with-guard.ts';

const declared = { resumableRequests: {}, elicitation: {} };
const id = 'the-request';

interface Process extends Fetches {
  readonly told: Told;
}

/** A process of the server: with others it shares the key and nothing else. */
function processOf(
  sagas: Program | readonly Program[],
  changes: Parts<ServeSagasOptions> = {},
): Process {
  const told = nothingTold();
  const server = serveSagas(
    changed<ServeSagasOptions>(
      {
        name: 'deployer',
        version: '1',
        keys: oldKey,
        testing: { environment: 'production' },
        hooks: hooksInto(told),
        anonymous: { resumableRequests: 'accept' },
      },
      changes,
      {
        sagas: [sagas].flat(),
      },
    ),
  );
  return { fetch: (request) => server.fetch(request), told };
}

function call(era: Era, name: string, more: object = {}, capabilities: object = declared): Request {
  const meta = {
    'io.modelcontextprotocol/clientCapabilities': capabilities,
    progressToken: 'first',
  };
  const params = { name, arguments: {}, _meta: meta, ...more };
  return post(era, 'tools/call', params, id, { headers: { 'mcp-name': name } });
}

function resume(era: Era, resumeToken: unknown, progressToken = 'again'): Request {
  const meta = { 'io.modelcontextprotocol/clientCapabilities': declared, progressToken };
  return post(era, 'requests/resume', { resumeToken, _meta: meta }, id);
}

function tokensIn(messages: readonly RawMessage[]): readonly string[] {
  return messages
    .filter(({ method }) => method === policy)
    .map(({ params }) => String(params?.['resumeToken']));
}

const text = (said: string): object => ({ result: { content: [{ type: 'text', text: said }] } });
const refused = {
  error: {
    code: -32602,
    message: expect.any(String) as string,
    data: { reason: 'invalid_resume_token' },
  },
};

const listening: Listening[] = [];

async function listenTo(server: Fetches): Promise<Listening> {
  const one = await listen(server);
  listening.push(one);
  return one;
}

afterEach(async () => {
  await Promise.all(listening.splice(0).map((server) => server.close()));
});

describe.each(eras)('resumable requests over HTTP, %s', (era) => {
  test.each([1, 2, 3, 4, 5])(
    '[W1] [E1] [P2] a call that is cut at token %i continues in another process',
    async (cutAt) => {
      const did: Did = new Map();
      const near = await listenTo(processOf(five(did)));
      const far = await listenTo(processOf(five(did)));
      const cut = await postUntil(
        near,
        call(era, 'five'),
        (messages) => tokensIn(messages).length === cutAt,
      );
      const tokens = tokensIn(cut);
      expect(tokens).toHaveLength(cutAt);
      const rest = await postUntil(far, resume(era, tokens.at(-1)));
      expect(rest.at(-1)).toMatchObject({ id, ...text('done') });
      // The fifth step ends the saga: there is nothing to resume after it.
      expect(tokensIn(rest)).toHaveLength(5 - cutAt);
      for (const [index, name] of steps.entries()) {
        const keys = did.get(name) ?? [];
        expect(new Set(keys).size).toBe(1);
        // The token after a step is the second for the first one.
        if (index + 1 < cutAt) expect(keys).toHaveLength(1);
      }
    },
  );

  test('[W1] [E1] [W5] a call that is cut at every token completes, and its progress increases', async () => {
    const did: Did = new Map();
    const clock = testClock();
    const told: RawMessage[] = [];
    let request = call(era, 'five');
    let count = 0;
    for (let last: RawMessage | undefined; last?.result === undefined; count += 1) {
      const server = await listenTo(processOf(five(did, clock), { testing: { clock } }));
      const messages = await postUntil(server, request, (came) => came.at(-1)?.method === policy);
      told.push(...messages);
      last = messages.at(-1);
      const [token] = tokensIn(messages);
      if (last?.result === undefined) request = resume(era, token, `connection ${count}`);
    }
    expect(told.at(-1)).toMatchObject(text('done'));
    expect(count).toBe(6);
    for (const name of steps) expect(new Set(did.get(name)).size).toBe(1);
    const values = told
      .filter(({ method }) => method === 'notifications/progress')
      .map(({ params }) => Number(params?.['progress']));
    expect(values.length).toBeGreaterThan(1);
    expect(values).toEqual([...new Set(values)].toSorted((one, other) => one - other));
  });

  test('[W1] sends a token before the first step and after each step, with its times', async () => {
    const did: Did = new Map();
    const server = processOf(five(did), { testing: { clock: testClock() } });
    const messages = await postUntil(await listenTo(server), call(era, 'five'));
    const policies = messages.filter(({ method }) => method === policy);
    expect(policies.map(({ params }) => params)).toEqual(
      steps.map(() => ({ requestId: id, resumeToken: expect.any(String), maxWait: 3_600 })),
    );
    expect(new Set(tokensIn(messages)).size).toBe(5);
    expect(
      server.told.steps.filter(({ type }) => type === 'started').map(({ path }) => path),
    ).toEqual(steps);
    expect(server.told.turns.map(({ status }) => status)).toEqual([
      ...steps.map(() => 'suspended'),
      'completed',
    ]);
  });

  test.each([{}, { experimental: { tokens: {} } }, { resumableRequests: true }])(
    '[W2] a client that declares %j gets no tokens',
    async (capabilities) => {
      const server = await listenTo(processOf(five(new Map())));
      const messages = await postUntil(server, call(era, 'five', {}, capabilities));
      expect(tokensIn(messages)).toEqual([]);
      expect(messages.at(-1)).toMatchObject(text('done'));
    },
  );

  test('[W2] the capability may be experimental', async () => {
    const server = await listenTo(processOf(five(new Map())));
    const capabilities = { experimental: { resumableRequests: {} } };
    expect(tokensIn(await postUntil(server, call(era, 'five', {}, capabilities)))).toHaveLength(5);
  });

  test('[W6] a short wait is held, in a resumed request as well', async () => {
    const clock = testClock();
    const did: string[] = [];
    const waiting = saga({ name: 'waiting', version: '1' }, function* () {
      yield* step('before', () => void did.push('before'));
      yield* sleep(20);
      yield* step('after', () => void did.push('after'));
      return 'waited';
    });
    const server = processOf(waiting, { testing: { clock: () => clock.now++ } });
    const messages = await postUntil(await listenTo(server), call(era, 'waiting'));
    expect(messages.at(-1)).toMatchObject(text('waited'));
    const waits = messages.flatMap(({ method, params }) =>
      method === policy ? [params?.['minWait']] : [],
    );
    expect(waits).toContain(1);
    const [, token] = tokensIn(messages);
    expect((await postUntil(await listenTo(server), resume(era, token))).at(-1)).toMatchObject(
      text('waited'),
    );
    expect(did).toEqual(['before', 'after', 'after']);
  });

  test('[W7] a status request returns the progress and runs nothing', async () => {
    const did: Did = new Map();
    const server = processOf([five(did), asking()]);
    const listener = await listenTo(server);
    const [first] = tokensIn(
      await postUntil(listener, call(era, 'five'), (messages) => tokensIn(messages).length === 1),
    );
    const other = processOf(five(did));
    did.clear();
    const status = await ask(other, era, 'requests/getStatus', {
      requestId: id,
      resumeToken: first,
    });
    expect(status.last.result).toMatchObject({
      requestId: id,
      status: 'processing',
      hasPendingMessage: false,
      hasInputRequest: false,
    });
    expect(other.told.steps).toEqual([]);
    expect(other.told.turns).toEqual([]);
  });

  test.each([
    [{ resumeToken: 7 }, 'Invalid params: resumeToken: expected a string'],
    [{}, 'Invalid params: resumeToken: expected a string'],
  ])('the error for %j names the invalid field', async (params, message) => {
    const server = processOf(asking());
    expect((await ask(server, era, 'requests/resume', params)).last).toMatchObject({
      error: { code: -32602, message },
    });
    const status = { requestId: 1, ...params };
    expect((await ask(server, era, 'requests/getStatus', status)).last).toMatchObject({
      error: { code: -32602, message },
    });
    const nameless = { resumeToken: 'x', requestId: null };
    expect((await ask(server, era, 'requests/getStatus', nameless)).last).toMatchObject({
      error: {
        code: -32602,
        message: 'Invalid params: requestId: expected a string or a whole number',
      },
    });
  });

  test('[T5] invalid tokens get the frozen response', async () => {
    const did: Did = new Map();
    const clock = testClock();
    const server = processOf([five(did), asking()], { testing: { clock } });
    const started = await ask(server, era, 'tools/callSaga', { name: 'asking' });
    const ofSagaMethods = String(started.last.result?.['sagaToken']);
    const [good = ''] = tokensIn(await postUntil(await listenTo(server), call(era, 'five')));
    const elsewhere = processOf(five(did), { name: 'another', testing: { clock } });
    did.clear();
    for (const [at, token] of [
      [server, ''],
      [server, 'garbage'],
      [server, `${good}A`],
      [server, ofSagaMethods],
      [elsewhere, good],
    ] as const) {
      expect((await ask(at, era, 'requests/resume', { resumeToken: token })).last).toMatchObject(
        refused,
      );
      const params = { requestId: 1, resumeToken: token };
      expect((await ask(at, era, 'requests/getStatus', params)).last).toMatchObject(refused);
    }
    clock.now += 2 * 3_600_000;
    expect((await ask(server, era, 'requests/resume', { resumeToken: good })).last).toMatchObject(
      refused,
    );
    expect(did.size).toBe(0);
  });

  test('[T6] a token of another principal is refused', async () => {
    const did: Did = new Map();
    let clientId = 'mine';
    const server = processOf(five(did), {
      auth: {
        principal: 'client-only',
        authenticate: () => ({ token: 'x', clientId, scopes: [] }),
      },
    });
    const [token] = tokensIn(await postUntil(await listenTo(server), call(era, 'five')));
    clientId = 'yours';
    did.clear();
    expect((await ask(server, era, 'requests/resume', { resumeToken: token })).last).toMatchObject(
      refused,
    );
    const params = { requestId: 1, resumeToken: token };
    expect((await ask(server, era, 'requests/getStatus', params)).last).toMatchObject(refused);
    expect(did.size).toBe(0);
    clientId = 'mine';
    expect(
      (await ask(server, era, 'requests/resume', { resumeToken: token }, id)).last,
    ).toMatchObject(text('done'));
  });
});

describe('resumable requests of the spec 2026-07-28', () => {
  const both = (did: string[]): Program =>
    saga({ name: 'both', version: '1', reuse: 'ok' }, function* () {
      const { asked } = yield* all({
        asked: elicit('asked', { message: 'Where?', schema: Target }),
        done: (function* () {
          yield* step('one', () => void did.push('one'));
          yield* step('two', () => void did.push('two'));
        })(),
      });
      yield* step('last', () => void did.push('last'));
      return asked.target;
    });

  test('[U4] [W1] runs all steps that do not need an answer before asking', async () => {
    const did: string[] = [];
    const server = processOf(both(did));
    const listener = await listenTo(server);
    const messages = await postUntil(listener, call('modern', 'both'));
    expect(did).toEqual(['one', 'two']);
    expect(messages.at(-1)).toMatchObject({
      result: {
        resultType: 'input_required',
        inputRequests: { asked: { method: 'elicitation/create' } },
      },
    });
    // The result contains the newest token.
    expect(messages.at(-1)?.result?.['requestState']).toBe(tokensIn(messages).at(-1));
    const status = { requestId: id, resumeToken: tokensIn(messages).at(-1) };
    expect((await ask(server, 'modern', 'requests/getStatus', status)).last.result).toMatchObject({
      status: 'processing',
      hasInputRequest: true,
    });
  });

  test('[W1] a resumed request contains only its token', async () => {
    const server = await listenTo(processOf(asking()));
    const [token] = tokensIn(await postUntil(server, call('modern', 'asking')));
    const params = {
      resumeToken: token,
      requestState: 'another',
      inputResponses: { target: { action: 'accept', content: { target: 'prod' } } },
      _meta: { 'io.modelcontextprotocol/clientCapabilities': declared },
    };
    const resumed = await postUntil(server, post('modern', 'requests/resume', params, id));
    expect(resumed.at(-1)).toMatchObject({ error: { data: { reason: 'input_required' } } });
  });

  test('[W1] a resumed request that needs input explains how to continue the call', async () => {
    const did: string[] = [];
    const server = processOf(both(did));
    const listener = await listenTo(server);
    const [first] = tokensIn(await postUntil(listener, call('modern', 'both')));
    did.length = 0;
    const resumed = await postUntil(listener, resume('modern', first));
    expect(resumed.at(-1)).toMatchObject({
      error: {
        code: -32602,
        message: 'Input is required: send the original request with the requestState',
        data: {
          reason: 'input_required',
          inputRequests: { asked: { method: 'elicitation/create' } },
        },
      },
    });
    expect(did).toEqual(['one', 'two']);
    const { requestState } = Object(resumed.at(-1)?.error?.data) as {
      readonly requestState: string;
    };
    const answered = await postUntil(
      listener,
      call('modern', 'both', {
        requestState,
        inputResponses: { asked: { action: 'accept', content: { target: 'prod' } } },
      }),
    );
    expect(answered.at(-1)).toMatchObject(text('prod'));
    expect(did).toEqual(['one', 'two', 'last']);
    // The answer is sealed before anything runs on it.
    const [withAnswer] = tokensIn(answered);
    expect((await postUntil(listener, resume('modern', withAnswer))).at(-1)).toMatchObject(
      text('prod'),
    );
  });
});

test('[W1] [P2] a client without questions continues by resume tokens, on another process', async () => {
  const paging = (did: string[]): Program =>
    saga({ name: 'paging', version: '1' }, function* () {
      yield* step('one', () => void did.push('one'));
      yield* sleep(60_000);
      return 'paged';
    });
  const capabilities = { resumableRequests: {} };
  const [token] = tokensIn(
    await postUntil(
      await listenTo(processOf(paging([]))),
      call('legacy', 'paging', {}, capabilities),
      (messages) => tokensIn(messages).length === 1,
    ),
  );
  const did: string[] = [];
  const far = await listenTo(processOf(paging(did)));
  const resumed = await postUntil(
    far,
    post('legacy', 'requests/resume', { resumeToken: token }, id),
  );
  expect(resumed.at(-1)?.result).toHaveProperty('nextResumeToken');
  expect(resumed.at(-1)?.result?.['nextResumeToken']).toBe(tokensIn(resumed).at(-1));
  expect(did).toEqual(['one']);
});

describe('waits in a request that can be resumed', () => {
  const long = (ms: number): Program =>
    saga({ name: 'long', version: '1' }, function* () {
      for (const name of 'abcdefghijkl') yield* step(name, () => undefined);
      yield* sleep(ms);
      return 'waited';
    });

  test('[W6] a wait after many steps is held in parts, and turns do not count as rounds', async () => {
    const clock = testClock();
    const server = processOf(long(30), {
      limits: { maxHold: 20 },
      testing: { environment: 'test', clock, sleep: async (ms) => void (clock.now += ms) },
    });
    const messages = await postUntil(await listenTo(server), call('modern', 'long'));
    expect(messages.at(-1)).toMatchObject(text('waited'));
    expect(server.told.warnings).toEqual([]);
  });

  test('[W6] a question after many turns is the first round', async () => {
    const asks = saga({ name: 'long', version: '1' }, function* () {
      for (const name of 'abcdefg') yield* step(name, () => undefined);
      const { target } = yield* elicit('where', { message: 'Where?', schema: Target });
      return target;
    });
    const server = processOf(asks);
    const messages = await postUntil(await listenTo(server), call('modern', 'long'));
    expect(messages.at(-1)).toMatchObject({ result: { resultType: 'input_required' } });
    expect(server.told.turns).toHaveLength(8);
    expect(server.told.warnings).toEqual([]);
  });

  test('[W6] a wait that is too long for a request ends the call', async () => {
    const server = processOf(long(3_600_000));
    const messages = await postUntil(await listenTo(server), call('modern', 'long'));
    expect(messages.at(-1)).toMatchObject({ result: { nextResumeToken: expect.any(String) } });
  });
});

describe('resumable requests with a guard', () => {
  test('[T13] only the following request gets the stored response', async () => {
    const guard = storeGuard(memoryStore({ clock: testClock() }));
    const token = {
      sagaId: 's',
      turn: 1,
      jti: 'j',
      action: 'resume',
      leaseMs: 10,
      expiresAt: 2e12,
    } as const;
    const answered = { ...token, digest: 'answered' };
    const following = { ...token, digest: 'nothing', follows: true };
    const begun = (await guard.begin(answered)) as { readonly run: Fence };
    expect(await guard.begin(following)).toBe('busy');
    expect(await guard.begin({ ...token, digest: 'nothing' })).toBe('conflict');
    await guard.release(begun.run);
    // Only the same request may continue a turn with unknown effects.
    expect(await guard.begin(following)).toBe('conflict');
    const again = (await guard.begin(answered)) as { readonly run: Fence };
    await guard.finish(again.run, 'sealed');
    expect(await guard.begin(following)).toEqual({ response: 'sealed', wentOn: false });
    expect(await guard.begin({ ...token, digest: 'nothing' })).toBe('conflict');
    expect(await guard.begin({ ...following, jti: 'another' })).toBe('conflict');
    expect(await guard.begin({ ...following, action: 'cancel' })).toBe('conflict');
  });

  const guardedFive = (did: Did, during: (name: string) => unknown = () => undefined): Program =>
    saga({ name: 'five', version: '1' }, function* () {
      for (const name of steps) {
        yield* step(name, async ({ idempotencyKey }) => {
          did.set(name, [...(did.get(name) ?? []), idempotencyKey]);
          await during(name);
        });
      }
      return 'done';
    });

  test('[T13] [E1] resuming a running call returns the same response, and each effect happens once', async () => {
    const did: Did = new Map();
    const busy = deferred<undefined>();
    let begins = 0;
    const store = storeWithGuard((guard) => ({
      begin: async (claim) => {
        begins += 1;
        const verdict = await guard.begin(claim);
        if (verdict === 'busy') busy.resolve(undefined);
        return verdict;
      },
    }));
    const one = processOf(
      // Held in the turn of the third token alone: before it, the client has nothing yet to resume
      // by and let it go.
      guardedFive(did, (name) => (name === 'three' && begins === 3 ? busy.promise : undefined)),
      { store },
    );
    const two = processOf(guardedFive(did), { store });
    // Before 2026-07-28, a server does not detect a closed connection.
    const cut = await postUntil(
      await listenTo(one),
      call('legacy', 'five'),
      (messages) => tokensIn(messages).length === 3,
    );
    const resumed = await ask(
      two,
      'legacy',
      'requests/resume',
      { resumeToken: tokensIn(cut).at(-1) },
      id,
    );
    expect(resumed.last).toMatchObject(text('done'));
    for (const name of steps) expect(did.get(name)).toHaveLength(1);
    const again = await ask(
      two,
      'legacy',
      'requests/resume',
      { resumeToken: tokensIn(cut)[0] },
      id,
    );
    expect(again.last).toMatchObject(text('done'));
    for (const name of steps) expect(did.get(name)).toHaveLength(1);
  });

  test('[T13] an answer whose response was dropped is not asked again', async () => {
    const store = memoryStore();
    const did: string[] = [];
    const one = saga({ name: 'one', version: '1' }, function* () {
      const { target } = yield* elicit('where', { message: 'Where?', schema: Target });
      yield* step('deploy', () => void did.push(target));
      return target;
    });
    const near = await listenTo(processOf(one, { store }));
    const far = await listenTo(processOf(one, { store }));
    const asked = (await postUntil(near, call('modern', 'one'))).at(-1);
    const requestState = String(asked?.result?.['requestState']);
    const inputResponses = { where: { action: 'accept', content: { target: 'prod' } } };
    await postUntil(near, call('modern', 'one', { requestState, inputResponses }));
    const resumed = await postUntil(far, resume('modern', requestState));
    expect(resumed.at(-1)).toMatchObject(text('prod'));
    expect(did).toEqual(['prod']);
    const otherwise = { where: { action: 'accept', content: { target: 'test' } } };
    const other = await postUntil(
      near,
      call('modern', 'one', { requestState, inputResponses: otherwise }),
    );
    expect(other.at(-1)).toMatchObject({ error: { code: -32602 } });
  });
});
