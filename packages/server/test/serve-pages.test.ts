import { serveSagas, type SagaServer, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { saga, step } from '@mcp-saga/server';
import { InMemoryServerEventBus } from '@modelcontextprotocol/server';
import { describe, expect, test } from 'vitest';
import { oldKey } from './fixtures/host.ts';
import { ask, eras, post, read } from './fixtures/raw.ts';
import { asking } from './fixtures/sagas.ts';
import { changed, type Parts } from './fixtures/host-changes.ts';
import { expectLogs } from '../../../test/support/logs.ts';

expectLogs('401-or-403-over-http');

function serve(changes: Parts<ServeSagasOptions> = {}): SagaServer {
  return serveSagas(
    changed<ServeSagasOptions>(
      {
        name: 'deployer',
        version: '1.0.0',
        sagas: [asking()],
        keys: oldKey,
        testing: { environment: 'production' },
      },
      changes,
    ),
  );
}

/** Status of `tools/list` with these headers. */
async function statusOf(server: SagaServer, headers: Record<string, string>): Promise<number> {
  const request = post('modern', 'tools/list', {}, 1, { headers });
  return (await server.fetch(request)).status;
}

describe('allowedHosts', () => {
  test.each([
    [
      'mcp.example',
      ['mcp.example', 'mcp.example:8443', 'MCP.example'],
      ['evil.example', 'x.mcp.example'],
    ],
    ['Mcp.Example', ['mcp.example'], ['evil.example']],
    ['localhost:3000', ['localhost:3000'], ['localhost', 'localhost:3001', '127.0.0.1:3000']],
    ['mcp.example:443', ['mcp.example', 'mcp.example:443'], ['mcp.example:8443']],
    ['[::1]:3000', ['[::1]:3000'], ['[::1]', '[::2]:3000']],
    ['[::1]', ['[::1]', '[::1]:3000'], ['[::2]', 'a b', '']],
  ])('serves hosts that match %s, and no other host', async (allowed, good, bad) => {
    const server = serve({ http: { allowedHosts: [allowed] } });
    const statuses = (hosts: readonly string[]): Promise<readonly number[]> =>
      Promise.all(hosts.map((host) => statusOf(server, { host })));
    expect(await statuses(good)).toEqual(good.map(() => 200));
    expect(await statuses(bad)).toEqual(bad.map(() => 403));
  });

  test('uses the host of the URL if the request has no Host header, as in HTTP/2', async () => {
    const request = (host: string): Request =>
      new Request(`https://${host}/mcp`, { method: 'DELETE' });
    const server = serve({ http: { allowedHosts: ['mcp.example'] } });
    expect((await server.fetch(request('mcp.example'))).status).not.toBe(403);
    expect((await server.fetch(request('evil.example'))).status).toBe(403);
  });

  test.each([
    ['https://mcp.example/mcp', 'mcp.example'],
    ['mcp.example/mcp', 'mcp.example'],
    ['::1', '[::1]'],
    ['*.example', undefined],
    ['mcp.example:', undefined],
    ['mcp.example:99999', undefined],
    ['user@mcp.example', undefined],
    ['127.1', '127.0.0.1'],
    ['', undefined],
    [7, undefined],
  ])('rejects %j at the start, and suggests a valid form', (host, meant) => {
    const start = (): SagaServer =>
      serve({ http: { allowedHosts: ['localhost', host as string] } });
    expect(start).toThrow(expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }));
    expect(start).toThrow('allowedHosts[1]');
    if (meant !== undefined) expect(start).toThrow(`did you mean '${meant}'`);
  });

  test.each([[[]], ['mcp.example']])(
    'rejects %j at the start, because it is not a list of hosts',
    (list) => {
      expect(() => serve({ http: { allowedHosts: list as string[] } })).toThrow(
        expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
      );
    },
  );
});

describe('the origin of a request', () => {
  test.each([
    ['mcp.example', 'https://mcp.example', 200],
    ['mcp.example:443', 'https://mcp.example', 200],
    ['mcp.example', 'https://app.example', 403],
    ['mcp.example', 'https://mcp.example:8443', 403],
    ['mcp.example', 'null', 403],
    ['mcp.example', 'http://localhost:3000', 403],
    ['localhost:3000', 'http://localhost:6274', 200],
    ['127.0.0.1:3000', 'http://localhost:6274', 200],
    ['localhost:3000', 'https://evil.example', 403],
    ['localhost:3000', 'http://localhost.evil.example', 403],
    ['localhost:3000', 'null', 403],
  ])('must match the host by default: to %s from %s is %i', async (host, origin, status) => {
    expect(await statusOf(serve(), { host, origin })).toBe(status);
  });

  test.each([
    [['https://app.example'], 'https://app.example', 200],
    [['https://app.example'], 'http://app.example', 403],
    [['https://app.example'], 'https://app.example:8443', 403],
    [['https://app.example'], 'https://mcp.example', 403],
    [['chrome-extension://abcdef'], 'chrome-extension://abcdef', 200],
    [['chrome-extension://abcdef'], 'chrome-extension://ghijkl', 403],
    [['*'], 'https://evil.example', 200],
    [['*'], 'null', 200],
    [[], 'https://mcp.example', 403],
  ])('must be in allowedOrigins: with %j from %s is %i', async (allowedOrigins, origin, status) => {
    expect(
      await statusOf(serve({ http: { allowedOrigins } }), { host: 'mcp.example', origin }),
    ).toBe(status);
    expect(await statusOf(serve({ http: { allowedOrigins } }), { host: 'mcp.example' })).toBe(200);
  });

  test.each([
    ['app.example', undefined],
    ['https://app.example/', 'https://app.example'],
    ['https://app.example:443', 'https://app.example'],
    ['https://App.example/chat', 'https://app.example'],
    ['null', undefined],
    ['https://*.example', undefined],
    ['', undefined],
  ])(
    '%j is rejected at the start as an allowed origin, and a valid form is suggested',
    (origin, meant) => {
      const start = (): SagaServer => serve({ http: { allowedOrigins: [origin] } });
      expect(start).toThrow(expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }));
      if (meant !== undefined) expect(start).toThrow(`did you mean '${meant}'`);
      expect(() => serve({ http: { allowedOrigins: origin as never } })).toThrow(
        expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
      );
    },
  );
});

describe('cors', () => {
  const origin = 'https://app.example';
  const page = { host: 'mcp.example', origin };
  const preflight = (headers: Record<string, string> = page): Request =>
    new Request('http://mcp.example/mcp', {
      method: 'OPTIONS',
      headers: {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, mcp-method, mcp-param-team',
        ...headers,
      },
    });

  test('lets an allowed page send requests and read responses, also a 401', async () => {
    const server = serve({
      http: { allowedOrigins: [origin] },
      auth: { authenticate: () => undefined, principal: 'client-only' },
    });
    const asked = await server.fetch(preflight());
    expect(asked.status).toBe(204);
    expect(Object.fromEntries(asked.headers)).toMatchObject({
      'access-control-allow-origin': origin,
      'access-control-allow-methods': expect.stringContaining('POST'),
      'access-control-allow-headers': 'content-type, mcp-method, mcp-param-team',
      vary: 'Origin',
    });
    const answered = await server.fetch(post('modern', 'tools/list', {}, 1, { headers: page }));
    expect(answered.status).toBe(401);
    expect(answered.headers.get('access-control-allow-origin')).toBe(origin);
    expect(answered.headers.get('access-control-expose-headers')).toContain('www-authenticate');
  });

  test('sends no CORS headers to other pages', async () => {
    const other = { ...page, origin: 'https://evil.example' };
    const refused = await serve({ http: { allowedOrigins: [origin] } }).fetch(preflight(other));
    expect(refused.status).toBe(403);
    expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    const silent = await serve({}).fetch(preflight());
    expect(silent.status).toBe(403);
    expect(silent.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('lets other pages on loopback read nothing, unless they are listed', async () => {
    const local = { host: 'localhost:3000', origin: 'http://localhost:6274' };
    const readers = async (http: object): Promise<string | null> =>
      (await serve({ http }).fetch(preflight(local))).headers.get('access-control-allow-origin');
    expect(await readers({})).toBeNull();
    expect(await readers({ allowedOrigins: ['http://localhost:*'] })).toBe(local.origin);
    expect(await readers({ allowedOrigins: ['http://127.0.0.1:*'] })).toBeNull();
    expect(await readers({ allowedOrigins: ['https://localhost:*'] })).toBeNull();
  });
});

describe('tool lists that never change', () => {
  const listen = (id: number): Request =>
    post('modern', 'subscriptions/listen', { notifications: { toolsListChanged: true } }, id);

  test.each(eras)('announce listChanged: false to a client of the %s era', async (era) => {
    const params =
      era === 'modern'
        ? {}
        : {
            protocolVersion: '2025-11-25',
            capabilities: {},
            clientInfo: { name: 'c', version: '1' },
          };
    const method = era === 'modern' ? 'server/discover' : 'initialize';
    const { last } = await ask(serve(), era, method, params);
    expect(last.result?.['capabilities']).toMatchObject({ tools: { listChanged: false } });
  });

  test('end a subscription stream at once', async () => {
    // An open stream would never end.
    expect(await (await serve().fetch(listen(1))).text()).toContain('subscriptions/acknowledged');
  });

  test('may change with an event bus, and maxSubscriptions counts streams over all requests', async () => {
    const bus = new InMemoryServerEventBus();
    const server = serve({ http: { handler: { bus, maxSubscriptions: 2 } } });
    const open = [await server.fetch(listen(1)), await server.fetch(listen(2))];
    expect(bus.listenerCount).toBe(2);
    expect(await (await server.fetch(listen(3))).json()).toMatchObject({
      error: { code: -32_603 },
    });
    await Promise.all(open.map(async ({ body }) => await body?.cancel()));
    expect(bus.listenerCount).toBe(0);
  });
});

test.each(eras)(
  '[P2] each request of the %s era has its own user, with and without a declared length',
  async (era) => {
    const whose = saga({ name: 'whose', version: '1' }, function* () {
      return yield* step('read', ({ user }) => (user as { readonly subject: string }).subject);
    });
    const server = serve({
      sagas: [whose],
      auth: { authenticate: ({ headers }) => ({ subject: headers.get('x-user') }) },
    });
    const users = ['ada', 'eve', 'ada', 'eve'];
    const answers = users.map(async (user, index) => {
      const params = { name: 'whose', arguments: {} };
      // With a declared length, the body is read ahead; without it, the SDK works on a copy.
      const length = index < 2 ? { 'content-length': '800' } : {};
      const headers = { 'x-user': user, 'mcp-name': 'whose', ...length };
      return await read(await server.fetch(post(era, 'tools/call', params, index, { headers })));
    });
    const texts = (await Promise.all(answers)).map(({ last }) => last.result?.['content']);
    expect(texts).toMatchObject(users.map((text) => [{ text }]));
  },
);
