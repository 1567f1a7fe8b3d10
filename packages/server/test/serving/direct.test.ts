import { elicit, progress, saga, step, type Program } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { McpServer } from '@modelcontextprotocol/server';
import { afterEach, expect, test, vi } from 'vitest';
import * as z from 'zod';
import { deferred } from '../fixtures/deferred.ts';
import { bothServers } from '../fixtures/both-servers.ts';
import { hooksInto, nothingTold, oldKey } from '../fixtures/host.ts';
import { ask, post } from '../fixtures/raw.ts';
import { asking } from '../fixtures/sagas.ts';
import { prefix, toMessage, toRequest, toSent, withMeta } from '../fixtures/sent.ts';

afterEach(() => vi.restoreAllMocks());

const method = 'tools/callSaga';

test('[W1] an error of `services` is hidden from the client, and reported once', async () => {
  const failing = new Error('no database');
  const both = bothServers({
    sagas: [asking()],
    services: () => {
      throw failing;
    },
  });
  const { text } = await both.ask(() => post('modern', method, { name: 'asking' }));
  expect(text).not.toContain('no database');
  expect(both.told.direct.errors).toEqual([failing]);
  expect(both.told.sdk.errors).toEqual([failing]);
});

test('[W1] steps get the services, and the rest of the response is as by the SDK', async () => {
  const tells = saga({ name: 'tells', version: '1' }, function* () {
    return yield* step(
      'tell',
      ({ services }) => `for ${(services as { readonly env: string }).env}`,
    );
  });
  const both = bothServers({ sagas: [tells], services: (env: unknown) => ({ env }) });
  const { text, isDirect } = await both.ask(() => post('modern', method, { name: 'tells' }));
  expect(text).toContain('for env');
  expect(isDirect).toBe(true);
});

test('[W1] [W3] a capability that is missing is HTTP 400', async () => {
  const needy = saga({ name: 'needy', version: '1', needs: ['roots'] }, function* () {
    return yield* step('take', () => 'done');
  });
  const both = bothServers({ sagas: [needy] });
  const message = toMessage('tools/call', { name: 'needy' }, { elicitation: {} });
  const { status, text, isDirect } = await both.ask(() => toRequest(toSent(message)));
  expect([status, isDirect]).toEqual([400, true]);
  expect(text).toContain('-32021');
});

test('[W1] responses use the current global class, which servers for Node replace', async () => {
  class FastResponse extends Response {}
  vi.stubGlobal('Response', FastResponse);
  const sagas = serveSagas({ name: 'fast', version: '1', sagas: [asking()], keys: oldKey });
  const response = await sagas.fetch(
    toRequest(toSent(toMessage('tools/call', { name: 'asking' }, { elicitation: {} }))),
  );
  vi.unstubAllGlobals();
  expect(response).toBeInstanceOf(FastResponse);
});

test.each(['before', 'during'])(
  '[W1] the request of a disconnected client %s gets 499',
  async (when) => {
    const begun = deferred<undefined>();
    const waits = saga({ name: 'waits', version: '1' }, function* () {
      yield* step('wait', ({ signal }) => {
        begun.resolve(undefined);
        return new Promise((resolve) => signal.addEventListener('abort', resolve));
      });
      return 'late';
    });
    const both = bothServers({ sagas: [waits] });
    const { status, text, isDirect } = await both.ask(() => {
      const leaving = new AbortController();
      if (when === 'before') leaving.abort();
      else void begun.promise.then(() => setImmediate(() => leaving.abort()));
      return post('modern', method, { name: 'waits' }, 1, { signal: leaving.signal });
    });
    expect([status, text, isDirect]).toEqual([499, '', true]);
  },
);

test.each([
  ['a stream is always wanted', { http: { handler: { responseMode: 'sse' } } } as const],
  ['its author extends each server', { extend: () => undefined }],
])('[W1] creates a server for each request if %s', async (_, options) => {
  const connect = vi.spyOn(McpServer.prototype, 'connect');
  const server = serveSagas({
    name: 'test',
    version: '1',
    sagas: [asking()],
    keys: oldKey,
    ...options,
  });
  const { last } = await ask(server, 'modern', method, { name: 'asking' });
  expect(last.result).toMatchObject({ state: 'suspended' });
  expect(connect).toHaveBeenCalledOnce();
});

test('[P1] costs a request as much with a thousand sagas as with one', async () => {
  const register = vi.spyOn(McpServer.prototype, 'registerTool');
  const count = async (size: number): Promise<number> => {
    let reads = 0;
    const watched = (name: string): Program =>
      new Proxy(
        saga({ name, version: '1' }, function* () {
          yield* elicit('name', { message: 'Who?', schema: z.object({ name: z.string() }) });
          return 'done';
        }) as Program,
        {
          get: (program, key) => {
            reads += 1;
            return Reflect.get(program, key) as unknown;
          },
        },
      );
    const sagas = Array.from({ length: size }, (__, index) => watched(`saga-${index}`));
    const server = serveSagas({
      name: 'test',
      version: '1',
      sagas,
      keys: oldKey,
      hooks: hooksInto(nothingTold()),
    });
    const before = reads;
    await ask(server, 'modern', method, { name: 'saga-0' });
    await ask(server, 'modern', 'tools/resumeSaga', { sagaToken: 'none' });
    return reads - before;
  };
  const one = await count(1);
  expect(one).toBeGreaterThan(0);
  expect(await count(1000)).toBe(one);
  expect(register).not.toHaveBeenCalled();
});

/** Reports progress, and then runs a step that ends when it is told to, or when it is aborted. */
function reporting() {
  const ended = deferred<string>();
  const aborted = deferred<unknown>();
  const program = saga({ name: 'reports', version: '1' }, function* () {
    yield* progress(1, 2);
    const result = yield* step('wait', ({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted.resolve(signal.reason);
        ended.resolve('aborted');
      });
      return ended.promise;
    });
    yield* progress(2, 2);
    return result;
  });
  const request = (): Request =>
    toRequest(
      toSent(withMeta(toMessage('tools/callSaga', { name: 'reports' }), { progressToken: 'p' })),
    );
  return { program, ended, aborted, request };
}

function serve(program: Program, handler: object = {}) {
  return serveSagas({
    name: 'test',
    version: '1',
    sagas: [program],
    keys: oldKey,
    http: { handler },
  });
}

test('[W1] a client with a progress token gets each notification at once, and then the result', async () => {
  const { program, ended, request } = reporting();
  const response = await serve(program).fetch(request());
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const next = async (): Promise<string | undefined> => {
    const { done, value } = await reader.read();
    return done ? undefined : new TextDecoder().decode(value);
  };
  expect(await next()).toContain('"progress":1');
  ended.resolve('done');
  const frames: string[] = [];
  for (let frame = await next(); frame !== undefined; frame = await next()) frames.push(frame);
  expect(frames).toHaveLength(2);
  expect(frames[0]).toContain('"progress":2');
  expect(frames[1]).toContain('"resultType":"complete"');
});

test('[W1] a client that cancels its stream aborts the running step', async () => {
  const { program, aborted, request } = reporting();
  const response = await serve(program).fetch(request());
  await response.body?.cancel('enough');
  expect(await aborted.promise).toBeDefined();
});

test('[W1] an idle stream gets comments that keep it open, as often as the SDK sends them', async () => {
  vi.useFakeTimers();
  try {
    const { program, ended, request } = reporting();
    const response = await serve(program, { keepAliveMs: 5000 }).fetch(request());
    await vi.advanceTimersByTimeAsync(11_000);
    ended.resolve('done');
    const text = await response.text();
    expect(text.match(/^: keepalive$/gm)).toHaveLength(2);
    expect(vi.getTimerCount()).toBe(0);
  } finally {
    vi.useRealTimers();
  }
});

test("[W1] notifications are dropped with responseMode: 'json', as by the SDK", async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const { program, ended, request } = reporting();
  ended.resolve('done');
  const response = await serve(program, { responseMode: 'json' }).fetch(request());
  expect(response.headers.get('content-type')).toBe('application/json');
  expect(await response.text()).toContain('"resultType":"complete"');
});

test('[W1] a request with a progress token leaves no listener on its signal', async () => {
  const { program, ended, request } = reporting();
  ended.resolve('done');
  const server = serve(program);
  for (const meta of [{ progressToken: 'p' }, { [`${prefix}logLevel`]: 'error' }]) {
    const message = withMeta(toMessage('tools/callSaga', { name: 'reports' }), meta);
    const asked = toRequest(toSent(message));
    const added = vi.spyOn(asked.signal, 'addEventListener');
    const removed = vi.spyOn(asked.signal, 'removeEventListener');
    await (await server.fetch(asked)).text();
    expect(removed.mock.calls.length).toBe(added.mock.calls.length);
  }
  expect(request().signal.aborted).toBe(false);
});

test('[P1] a call that needs the SDK registers its tool only, and a list registers all', async () => {
  const register = vi.spyOn(McpServer.prototype, 'registerTool');
  const sagas = ['one', 'two', 'three'].map((name) =>
    saga({ name, version: '1' }, function* () {
      return yield* step('tell', () => name);
    }),
  );
  const server = serveSagas({ name: 'test', version: '1', sagas, keys: oldKey });
  const registered = async (called: string, params: object): Promise<readonly string[]> => {
    register.mockClear();
    const { last } = await ask(server, 'legacy', called, params);
    expect(last.error).toBeUndefined();
    return register.mock.calls.map(([name]) => name);
  };
  expect(await registered('tools/call', { name: 'two' })).toEqual(['two']);
  expect(await registered('tools/list', {})).toEqual(['one', 'two', 'three']);
});
