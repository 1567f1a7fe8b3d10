import { serveSagas, type ServeSagasOptions } from '@mcp-saga/server/serve';
import {
  elicit,
  log,
  memoryStore,
  progress,
  saga,
  SealError,
  step,
  type Saga,
} from '@mcp-saga/server';
import {
  OAuthError,
  OAuthErrorCode,
  requireBearerAuth,
  type McpServer,
} from '@modelcontextprotocol/server';
import { describe, expect, test, vi } from 'vitest';
import * as z from 'zod';
import {
  accept,
  hooksInto,
  hostOf,
  newKey,
  nothingTold,
  oldKey,
  say,
  suspended,
} from './fixtures/host.ts';
import { asking, complexTool, Empty, telling } from './fixtures/sagas.ts';
import { ask, eras, post, postText, read, type RawAnswer } from './fixtures/raw.ts';
import { start } from './fixtures/clock.ts';
import { deferred } from './fixtures/deferred.ts';
import { changed, type Parts } from './fixtures/host-changes.ts';
import { coreOf } from '../src/saga-host.ts';
import { expectLogs } from '../../../test/support/logs.ts';
import { rejectionLog } from '../../../test/support/known-logs.ts';

function serve(changes: Parts<ServeSagasOptions> = {}): ReturnType<typeof serveSagas> {
  return serveSagas(
    changed<ServeSagasOptions>(
      {
        name: 'deployer',
        version: '1.0.0',
        sagas: [complexTool()],
        keys: oldKey,
        testing: { environment: 'production' },
      },
      changes,
    ),
  );
}

/** What the era adds to every result. */
function own({ last }: RawAnswer): Record<string, unknown> {
  const { resultType: _, _meta: __, ...rest } = last.result ?? {};
  return rest;
}

describe.each(eras)('raw JSON-RPC of the %s era', (era) => {
  test.each(['fast', 'portable', 'mixed'] as const)(
    '[W1, P2] completes a saga with elicitation and sampling, with exact fields, sealed %s',
    async (how) => {
      const fast = serve({ testing: { sealing: 'fast' } });
      const portable = serve({ testing: { sealing: 'portable' } });
      const [one, two, three] = {
        fast: [fast, fast, fast],
        portable: [portable, portable, portable],
        mixed: [fast, portable, fast],
      }[how] as [typeof fast, typeof fast, typeof fast];

      const first = await ask(
        one,
        era,
        'tools/callSaga',
        { name: 'complex_tool', arguments: { initial_arg: 'value' } },
        'client-req-1',
      );
      expect(first.last).toMatchObject({ jsonrpc: '2.0', id: 'client-req-1' });
      const sagaToken = String(first.last.result?.['sagaToken']);
      expect(own(first)).toStrictEqual({
        state: 'suspended',
        sagaToken,
        steps: [
          {
            type: 'elicitation',
            stepId: 'step-elicitation-A',
            params: {
              message: 'Please provide the deployment target:',
              requestedSchema: {
                type: 'object',
                properties: { target: { type: 'string' } },
                required: ['target'],
              },
            },
          },
        ],
      });

      const target = accept('step-elicitation-A', { target: 'production' });
      const second = await ask(
        two,
        era,
        'tools/resumeSaga',
        { sagaToken, completedSteps: [target] },
        'client-req-2',
      );
      const newToken = String(second.last.result?.['sagaToken']);
      expect(newToken).not.toBe(sagaToken);
      expect(own(second)).toStrictEqual({
        state: 'suspended',
        sagaToken: newToken,
        steps: [
          {
            type: 'sampling',
            stepId: 'step-sampling-B',
            params: {
              messages: [
                {
                  role: 'user',
                  content: { type: 'text', text: "Is deploying to 'production' safe right now?" },
                },
              ],
              maxTokens: 100,
            },
          },
        ],
      });

      const verdict = say('step-sampling-B', 'Yes, all systems are green.');
      const third = await ask(
        three,
        era,
        'tools/resumeSaga',
        { sagaToken: newToken, completedSteps: [target, verdict] },
        'client-req-3',
      );
      expect(own(third)).toStrictEqual({
        content: [
          {
            type: 'text',
            text: 'Deployment to production initiated successfully based on confirmation.',
          },
        ],
      });
    },
  );

  test('answers a body over the limit with 413, and runs nothing', async () => {
    const told = nothingTold();
    const small = serve({
      http: { handler: { maxRequestBodySize: 2000 } },
      hooks: hooksInto(told),
    });
    const big = { name: 'complex_tool', arguments: { initial_arg: 'x'.repeat(3000) } };
    expect((await small.fetch(post(era, 'tools/callSaga', big))).status).toBe(413);
    const huge = postText(era, 'tools/callSaga', ' '.repeat(4 * 1024 * 1024 + 1));
    expect((await serve({ hooks: hooksInto(told) }).fetch(huge)).status).toBe(413);
    expect(told.turns).toEqual([]);
  });

  test('[W5] sends progress and log messages before the response if the client requests them', async () => {
    const server = serve({ sagas: [telling()] });
    const meta = { progressToken: 'p-1', 'io.modelcontextprotocol/logLevel': 'info' };
    const asked = await ask(server, era, 'tools/callSaga', { name: 'telling', _meta: meta });
    expect(asked.messages.slice(0, -1).map(({ method, params }) => [method, params])).toMatchObject(
      [
        [
          'notifications/progress',
          { progressToken: 'p-1', progress: 1, total: 3, message: 'begun' },
        ],
        ['notifications/message', { level: 'info', data: 'begun' }],
      ],
    );
    expect(asked.last.result).toMatchObject({ state: 'suspended' });
  });

  test('[W5] sends no progress or log messages to a client that does not request them', async () => {
    const { messages } = await ask(serve({ sagas: [telling()] }), era, 'tools/callSaga', {
      name: 'telling',
    });
    const methods = messages.slice(0, -1).map(({ method }) => method);
    // Before 2026-07-28 log messages come unless the client sets a level.
    expect(methods).toEqual(era === 'modern' ? [] : ['notifications/message']);
  });

  test('[W5] limits the rate of progress, and always sends the last value', async () => {
    const chatty = saga({ name: 'chatty', version: '1' }, function* () {
      for (let index = 1; index <= 50; index += 1) yield* progress(index);
      yield* step('work', () => 1);
      yield* progress(51);
      return 'done';
    });
    const { messages } = await ask(
      serve({ sagas: [chatty], testing: { clock: () => start } }),
      era,
      'tools/callSaga',
      {
        name: 'chatty',
        _meta: { progressToken: 7 },
      },
    );
    expect(messages.slice(0, -1).map(({ params }) => params?.['progress'])).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 51,
    ]);
  });

  test('returns no steps and retryAfterMs for a saga that waits', async () => {
    const waiting = saga({ name: 'waiting', version: '1' }, function* () {
      yield* step(
        'flaky',
        () => {
          throw new Error('not yet');
        },
        { retry: { attempts: 2, delay: 60_000, jitter: false } },
      );
      return 'done';
    });
    const answer = await ask(
      serve({ sagas: [waiting], testing: { clock: () => start } }),
      era,
      'tools/callSaga',
      {
        name: 'waiting',
      },
    );
    expect(own(answer)).toMatchObject({ state: 'suspended', steps: [], retryAfterMs: 60_000 });
  });
});

const serviced = (seen: unknown[]): Saga<undefined, undefined> =>
  saga({ name: 'serviced', version: '1' }, function* () {
    yield* step('use', ({ services }) => {
      seen.push(services);
    });
    return 'used';
  });

describe('serveSagas', () => {
  test('answers 404 for other paths, and names the MCP path', async () => {
    const server = serve();
    for (const path of ['/', '/mcp/', '/MCP', '/mcp/x', '/x?/mcp']) {
      const response = await server.fetch(
        new Request(`http://localhost${path}`, { method: 'POST' }),
      );
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.text()).toContain('/mcp');
    }
    const elsewhere = serve({ http: { path: '/sagas' } });
    const moved = new Request('http://localhost/sagas?a=b', post('legacy', 'tools/list', {}));
    expect((await elsewhere.fetch(moved)).status).toBe(200);
  });

  test('[T7] reads the keys from the env of the runtime, at the first request', async () => {
    const envs: unknown[] = [];
    const server = serve({
      keys: (env) => {
        envs.push(env);
        return (env as { readonly SAGA_KEYS: string }).SAGA_KEYS;
      },
      sagas: [asking()],
      testing: { clock: () => start },
    });
    const env = { SAGA_KEYS: newKey };
    const params = { name: 'asking' };
    const { last } = await read(await server.fetch(post('modern', 'tools/callSaga', params), env));
    const { keyId } = await hostOf(asking(), { keys: newKey }).host.inspect(
      String(last.result?.['sagaToken']),
    );
    expect(keyId).toBe('new');
    await server.fetch(post('modern', 'tools/callSaga', params), env);
    expect(envs).toEqual([env]);
  });

  test.each([
    { runtime: 'a Worker', given: (runtime: object) => [{}, runtime] as const },
    { runtime: 'Vercel', given: (runtime: object) => [runtime] as const },
  ])('passes background work to waitUntil of $runtime', async ({ given }) => {
    const works: Promise<unknown>[] = [];
    const runtime = {
      works,
      waitUntil(work: Promise<unknown>): void {
        // As Workers do, it insists on being called on its own object.
        this.works.push(work);
      },
    };
    let ran = false;
    const running = saga({ name: 'running', version: '1', task: 'require' }, function* () {
      yield* step('run', () => {
        ran = true;
      });
      return 'ran';
    });
    const server = serve({
      sagas: [running],
      anonymous: { tasks: 'accept' },
      store: memoryStore({ olderTokens: 'accept' }),
    });
    const capabilities = { extensions: { 'io.modelcontextprotocol/tasks': {} } };
    const params = {
      name: 'running',
      arguments: {},
      _meta: { 'io.modelcontextprotocol/clientCapabilities': capabilities },
    };
    const request = post('modern', 'tools/call', params, 1, { headers: { 'mcp-name': 'running' } });
    const { last } = await read(await server.fetch(request, ...given(runtime)));
    expect(last.result).toMatchObject({ resultType: 'task' });
    expect(works).toHaveLength(1);
    await works[0];
    expect(ran).toBe(true);
  });

  test.each([undefined, '', 'k1:short'])(
    '[T7] does not answer without valid keys: %o',
    async (keys) => {
      const lacking = serve({ keys: () => keys });
      await expect(lacking.fetch(post('modern', 'tools/list', {}), {})).rejects.toThrow(SealError);
      if (keys !== undefined) expect(() => serve({ keys })).toThrow(SealError);
    },
  );

  test('passes the services, or those that it makes of the env of each request, to steps', async () => {
    const seen: unknown[] = [];
    const db = { name: 'db' };
    const fixed = serve({ sagas: [serviced(seen)], services: db });
    const made = serve({ sagas: [serviced(seen)], services: (env: unknown) => ({ env }) });
    const none = serve({ sagas: [serviced(seen)] });
    for (const [server, env] of [
      [fixed, 'one'],
      [made, 'two'],
      [made, 'three'],
      [none, 'four'],
    ] as const) {
      await server.fetch(post('modern', 'tools/callSaga', { name: 'serviced' }), env);
    }
    expect(seen).toEqual([db, { env: 'two' }, { env: 'three' }, undefined]);
  });

  test('keeps the services of concurrent requests apart', async () => {
    const seen: unknown[] = [];
    const gates = { one: deferred<void>(), two: deferred<void>() };
    const slow = saga({ name: 'slow', version: '1' }, function* () {
      yield* step(
        'wait',
        ({ services }) => gates[(services as { readonly env: 'one' | 'two' }).env].promise,
      );
      yield* step('use', ({ services }) => {
        seen.push((services as { readonly env: string }).env);
      });
      return 'used';
    });
    const server = serve({ sagas: [slow], services: (env: unknown) => ({ env }) });
    const send = (env: string): Promise<Response> =>
      server.fetch(post('modern', 'tools/callSaga', { name: 'slow' }), env);
    const [one, two] = [send('one'), send('two')];
    gates.two.resolve();
    await two;
    gates.one.resolve();
    await one;
    expect(seen).toEqual(['two', 'one']);
  });

  test('[T6] authenticates each request, and binds the saga to its principal', async () => {
    expectLogs(rejectionLog('principal'));
    const server = serve({
      sagas: [asking()],
      anonymous: { calls: 'accept' },
      auth: {
        authenticate: (request) => {
          const user = request.headers.get('authorization');
          return user === null
            ? undefined
            : { token: user, clientId: 'app', scopes: [], extra: { sub: user } };
        },
        principal: (authInfo) => {
          const { clientId, extra } = authInfo as { clientId: string; extra: { sub: string } };
          return { subject: extra.sub, client: clientId };
        },
      },
    });
    const as = async (
      user: string | undefined,
      method: string,
      params: object,
    ): Promise<RawAnswer> => {
      const headers = user === undefined ? {} : { authorization: user };
      return read(await server.fetch(post('modern', method, params, 1, { headers })));
    };
    const { last } = await as('ada', 'tools/callSaga', { name: 'asking' });
    const resume = {
      sagaToken: last.result?.['sagaToken'],
      completedSteps: [accept('target', { target: 'x' })],
    };
    for (const other of ['eve', undefined]) {
      expect((await as(other, 'tools/resumeSaga', resume)).last.error).toMatchObject({
        code: -32602,
      });
    }
    expect((await as('ada', 'tools/resumeSaga', resume)).last.result).toMatchObject({
      content: [{ text: 'x' }],
    });
  });

  test.each([
    [
      'a tool',
      (server: McpServer) => server.registerTool('complex_tool', {}, () => ({ content: [] })),
    ],
    [
      'a prompt',
      (server: McpServer) => {
        for (const title of ['one', 'two'])
          server.registerPrompt('hello', { title }, () => ({ messages: [] }));
      },
    ],
  ])('rejects %s that is registered twice at the start', (_, extend) => {
    expect(() => serve({ extend })).toThrow(/registers a name twice/);
  });

  test('refuses each request if a tool is registered twice, and the keys come with a request', async () => {
    const extend = (server: McpServer): unknown =>
      server.registerTool('complex_tool', {}, () => ({ content: [] }));
    const late = serve({ extend, keys: () => oldKey });
    for (const method of ['tools/list', 'server/discover'])
      await expect(late.fetch(post('modern', method, {}))).rejects.toThrow(
        /registers a name twice/,
      );
  });

  test('starts with an extension that uses the whole API of an McpServer', () => {
    const extend = (server: McpServer): void => {
      server.registerTool('other', {}, () => ({ content: [] })).disable();
      server.server.setRequestHandler('ping', () => ({}));
      if (server.isConnected()) throw new Error(JSON.stringify(server.server.getCapabilities()));
    };
    expect(() => serve({ extend })).not.toThrow();
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
    'rejects a maximum body size of %s at the start',
    (size) => {
      expect(() => serve({ http: { handler: { maxRequestBodySize: size } } })).toThrow(
        expect.objectContaining({ name: 'RangeError', code: 'invalid_option' }),
      );
    },
  );

  test('[T6] rejects `principal` without `authenticate`', () => {
    const missing = (name: string): object =>
      expect.objectContaining({
        code: 'missing_option',
        message: expect.stringContaining(name) as string,
      });
    // With keys that come with the first request, as well.
    const open = { auth: { principal: 'client-only' }, keys: () => oldKey } as const;
    expect(() => serve(open)).toThrow(missing('auth.authenticate'));
  });

  test('[T6] returns the response of `authenticate`, and runs nothing', async () => {
    const told = nothingTold();
    const gate = requireBearerAuth({
      verifier: {
        verifyAccessToken: () =>
          Promise.reject(new OAuthError(OAuthErrorCode.InvalidToken, 'unknown token')),
      },
    });
    const server = serve({
      auth: { authenticate: gate, principal: 'client-only' },
      hooks: hooksInto(told),
    });
    const headers = { authorization: 'Bearer stolen' };
    const refused = await server.fetch(
      post('modern', 'tools/callSaga', { name: 'complex_tool' }, 1, { headers }),
    );
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain('invalid_token');
    expect(told.turns).toEqual([]);
  });

  test('[T6] accepts an instance of another Response class from `authenticate`', async () => {
    const refusal = new Response('who are you?', { status: 401 });
    vi.stubGlobal('Response', class extends Response {});
    try {
      expect(refusal).not.toBeInstanceOf(Response);
      const told = nothingTold();
      const server = serve({
        auth: { authenticate: () => refusal, principal: 'client-only' },
        hooks: hooksInto(told),
      });
      const answer = await server.fetch(post('modern', 'tools/list', {}));
      expect(answer.status).toBe(401);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  test('registers further tools on each server with `extend`', async () => {
    const server = serve({
      extend: (mcp) => {
        mcp.registerTool('own', { inputSchema: z.object({}) }, () => ({
          content: [{ type: 'text', text: 'own' }],
        }));
      },
    });
    const { last } = await ask(server, 'modern', 'tools/list', {});
    expect(last.result).toMatchObject({ tools: [{ name: 'complex_tool' }, { name: 'own' }] });
  });

  test('reports transport errors to handler.onerror, and not to the onError hook', async () => {
    const told = nothingTold();
    const errors: unknown[] = [];
    const handler = { onerror: (error: Error) => errors.push(error) };
    await serve({ hooks: hooksInto(told), http: { handler } }).fetch(
      postText('modern', 'tools/list', '{}'),
    );
    expect([told.errors.length, errors.length]).toEqual([0, 1]);
  });

  test('reports an error of `extend` to the onError hook', async () => {
    const told = nothingTold();
    const extend = (): never => {
      throw new Error('no such tool');
    };
    await ask(
      serve({ hooks: hooksInto(told), extend, keys: () => oldKey }),
      'modern',
      'tools/list',
      {},
    );
    expect(told.errors).toEqual([new Error('no such tool')]);
  });

  test('refuses requests to hosts outside of allowedHosts', async () => {
    expectLogs('401-or-403-over-http');
    const sagas = serve({ http: { allowedHosts: ['localhost'] } });
    const request = (host: string): Request =>
      new Request(`http://${host}/mcp`, { method: 'POST', headers: { host }, body: '{}' });
    expect((await sagas.fetch(request('evil.example'))).status).toBe(403);
    expect((await sagas.fetch(request('localhost:3000'))).status).not.toBe(403);
  });

  test('[P2] resumes a saga that a host without MCP started, if both have one audience', async () => {
    expectLogs(rejectionLog('undecryptable'));
    const { host } = hostOf(asking());
    const { token } = suspended(
      await coreOf(host).start('asking', {}, {}, { method: 'tools/callSaga' }),
    );
    const resume = { sagaToken: token, completedSteps: [accept('target', { target: 'x' })] };
    const named = serve({ sagas: [asking()], testing: { clock: () => start } });
    expect((await ask(named, 'modern', 'tools/resumeSaga', resume)).last.result).toMatchObject({
      content: [{ text: 'x' }],
    });
    const other = serve({ sagas: [asking()], testing: { clock: () => start }, name: 'other' });
    expect((await ask(other, 'modern', 'tools/resumeSaga', resume)).last.error).toMatchObject({
      code: -32602,
    });
  });

  test('[U4] aborts the step if the client disconnects', async () => {
    const started = deferred<AbortSignal>();
    const ended = deferred<void>();
    const slow = saga({ name: 'slow', version: '1' }, function* () {
      yield* log('info', 'begun');
      yield* step('work', async ({ signal }) => {
        started.resolve(signal);
        await new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
        ended.resolve();
      });
      yield* elicit('go', { message: 'Go?', schema: Empty });
      return 'done';
    });
    const told = nothingTold();
    const leaving = new AbortController();
    const request = post('modern', 'tools/callSaga', { name: 'slow' }, 1, {
      signal: leaving.signal,
    });
    const answered = serve({ sagas: [slow], hooks: hooksInto(told) }).fetch(request);
    expect((await started.promise).aborted).toBe(false);
    leaving.abort();
    await ended.promise;
    await answered.catch(() => undefined);
    expect(told.turns).toEqual([]);
    expect(told.errors).toEqual([]);
  });
});
