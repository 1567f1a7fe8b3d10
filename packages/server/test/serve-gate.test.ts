import { once } from 'node:events';
import { Agent, createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveSagas, type SagaServer, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { describe, expect, test } from 'vitest';
import { hooksInto, nothingTold, oldKey } from './fixtures/host.ts';
import { ask, post } from './fixtures/raw.ts';
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

/** A request to a host, as its headers say. */
function to(host: string, headers: object = {}): Request {
  return new Request(`http://${host}/mcp`, {
    method: 'POST',
    headers: { host, ...headers },
    body: '{}',
  });
}

const mine = ['localhost', 'localhost:3000', '127.0.0.1:3000', '[::1]:3000'];
const foreign = [
  'evil.example',
  'evil.example:3000',
  'localhost.evil.example',
  '192.168.1.5:3000',
  '0.0.0.0:3000',
];

describe('a response with status 403', () => {
  const page = 'docs/reference/troubleshooting.md#401-or-403-over-http';

  test.each([
    [
      'a host that is not listed',
      { allowedHosts: ['shop.example'] },
      to('other.example'),
      'http.allowedHosts',
    ],
    [
      'a page on a name that nobody listed',
      {},
      to('evil.example', { origin: 'http://evil.example' }),
      'http.allowedHosts',
    ],
    [
      'another page',
      { allowedHosts: ['shop.example'] },
      to('shop.example', { origin: 'https://evil.example' }),
      'http.allowedOrigins',
    ],
  ])(
    '[T1] for %s names the option, and is logged once a minute',
    async (_, http, request, option) => {
      const told = nothingTold();
      let now = 1_000_000;
      const sagas = serve({ http, hooks: hooksInto(told), testing: { clock: () => now } });
      const again = request.clone();
      const later = request.clone();
      const response = await sagas.fetch(request);
      expect(response.status).toBe(403);
      expect(await response.text()).toContain(option);
      await sagas.fetch(again);
      expect(told.warnings).toEqual([expect.stringMatching(/403.* See \S+$/)]);
      expect(told.warnings[0]).toContain(option);
      expect(told.warnings[0]?.endsWith(`See ${page}`)).toBe(true);
      now += 60_000;
      await sagas.fetch(later);
      expect(told.warnings).toHaveLength(2);
    },
  );

  test('[T1] is logged once a minute, even if each request names another host', async () => {
    const told = nothingTold();
    const sagas = serve({
      http: { allowedHosts: ['shop.example'] },
      hooks: hooksInto(told),
      testing: { clock: () => 1_000_000 },
    });
    for (let count = 0; count < 5; count += 1)
      expect((await sagas.fetch(to(`other${count}.example`))).status).toBe(403);
    expect(told.warnings).toEqual([
      expect.stringContaining("Host 'other0.example' is not in http.allowedHosts"),
    ]);
  });

  test('is sent, too, if the host cannot be created', async () => {
    const sagas = serve({
      http: { allowedHosts: ['shop.example'] },
      keys: () => {
        throw new Error('no keys');
      },
    });
    expect((await sagas.fetch(to('other.example'))).status).toBe(403);
  });
});

describe('a server that listens on an address', () => {
  /** The status of a request over a socket, whose request is passed on as srvx does. */
  async function statusOf(
    address: string,
    host: string,
    options?: Parts<ServeSagasOptions>,
  ): Promise<number> {
    const sagas = serve(options);
    const server = createServer((req: IncomingMessage, res) => {
      const request = Object.assign(to(host), { runtime: { name: 'node', node: { req, res } } });
      void sagas.fetch(request).then(({ status }) => res.writeHead(status).end());
    });
    await once(server.listen(0, address), 'listening');
    const { port } = server.address() as AddressInfo;
    const outgoing = send({
      port,
      host: address === '::1' ? address : '127.0.0.1',
      agent: false,
    }).end();
    const [{ statusCode }] = (await once(outgoing, 'response')) as [IncomingMessage];
    server.closeAllConnections();
    server.close();
    return statusCode ?? 0;
  }

  test.each(['127.0.0.1', 'localhost'])(
    'refuses foreign hosts on %s, and serves loopback hosts',
    async (address) => {
      for (const host of foreign) {
        expect(await statusOf(address, host)).toBe(403);
      }
      for (const host of mine) {
        expect(await statusOf(address, host)).not.toBe(403);
      }
    },
  );

  test('serves every host when it listens on all addresses, also to a proxy on loopback', async () => {
    expect(await statusOf('0.0.0.0', 'mcp.example')).not.toBe(403);
  });

  test('checks each request of a connection, also after the server closed', async () => {
    const sagas = serve();
    const hosts = ['localhost', 'evil.example', 'localhost', 'localhost:80', 'evil.example'];
    const server = createServer((req: IncomingMessage, res) => {
      const request = Object.assign(to(hosts.shift() ?? ''), { runtime: { node: { req } } });
      if (hosts.length === 0) server.close();
      void sagas.fetch(request).then(({ status }) => res.writeHead(status).end());
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const refusals: boolean[] = [];
    for (let sent = 0; sent < 5; sent += 1) {
      const outgoing = send({ port, host: '127.0.0.1', agent }).end();
      const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
      refusals.push(answer.resume().statusCode === 403);
      await once(answer, 'end');
    }
    agent.destroy();
    expect(refusals).toEqual([false, true, false, false, true]);
  });

  test('serves only allowedHosts on loopback, as behind a proxy', async () => {
    const options = { http: { allowedHosts: ['mcp.example'] } };
    expect(await statusOf('127.0.0.1', 'mcp.example', options)).not.toBe(403);
    expect(await statusOf('127.0.0.1', 'localhost', options)).toBe(403);
  });
});

test.each([
  ['127.0.0.1', true],
  ['::1', true],
  ['::', false],
  ['10.0.0.7', false],
])('a server of Bun that listens on %s refuses a foreign host: %s', async (address, isRefused) => {
  const bun = { address: { address, family: 'IPv4', port: 3000 }, requestIP: () => null };
  const bySrvx = Object.assign(to('mcp.example'), {
    runtime: { name: 'bun', bun: { server: bun } },
  });
  for (const answer of [serve().fetch(to('mcp.example'), bun), serve().fetch(bySrvx)]) {
    expect((await answer).status === 403).toBe(isRefused);
  }
});

describe('a server with an unknown address', () => {
  test('refuses a page on plain HTTP whose origin matches the host, as after DNS rebinding', async () => {
    const request = to('evil.example:3000', { origin: 'http://evil.example:3000' });
    expect((await serve().fetch(request)).status).toBe(403);
    const named = serve({ http: { allowedHosts: ['evil.example'] } });
    expect((await named.fetch(request)).status).not.toBe(403);
  });

  test.each([
    ['mcp.example', 'https://mcp.example'],
    ['mcp.example', undefined],
    ['192.168.1.5:3000', 'http://192.168.1.5:3000'],
    ['[fd00::5]:3000', 'http://[fd00::5]:3000'],
    ['localhost:3000', 'http://localhost:3000'],
  ])('serves requests to %s from %s', async (host, origin) => {
    const request = to(host, origin === undefined ? {} : { origin });
    expect((await serve().fetch(request)).status).not.toBe(403);
  });
});

describe('authenticate that returns no user', () => {
  const principal = 'client-only';

  test.each([undefined, null, false, ''])(
    '[T6] is answered with 401 for %o, and nothing runs',
    async (nobody) => {
      const told = nothingTold();
      for (const found of [nobody, Promise.resolve(nobody)]) {
        const server = serve({
          auth: { principal, authenticate: () => found as undefined },
          hooks: hooksInto(told),
        });
        const refused = await server.fetch(post('modern', 'tools/callSaga', { name: 'asking' }));
        expect(refused.status).toBe(401);
        expect(refused.headers.get('www-authenticate')).toBe('Bearer');
      }
      expect(told.turns).toEqual([]);
    },
  );

  test.each([undefined, null])(
    '[T6] serves %o as an anonymous caller if the server accepts it',
    async (nobody) => {
      const server = serve({
        anonymous: { calls: 'accept' },
        auth: { principal, authenticate: () => nobody },
      });
      const { last } = await ask(server, 'modern', 'tools/callSaga', { name: 'asking' });
      expect(last.result).toMatchObject({ state: 'suspended' });
    },
  );

  test.each([false, '', 0])(
    '[T6] is answered with 401 for %o even if the server accepts anonymous callers',
    async (nobody) => {
      const server = serve({
        anonymous: { calls: 'accept' },
        auth: { principal, authenticate: () => nobody as never },
      });
      expect((await server.fetch(post('modern', 'tools/list', {}))).status).toBe(401);
    },
  );

  test('[T6] rejects `anonymous` without authenticate or with an unknown value at the start', () => {
    expect(() => serve({ anonymous: { calls: 'accept' } })).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
    const odd = { anonymous: { calls: 'refuse' } } as object;
    expect(() => serve({ auth: { principal, authenticate: () => undefined }, ...odd })).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });
});

describe('authenticate that throws', () => {
  const principal = 'client-only';
  const secret = 'jdbc://user:secret@db';
  const thrown = (fields: object): Error => Object.assign(new Error(secret), fields);

  /** Asks a server whose function throws or rejects. */
  async function asked(
    error: unknown,
    more: Partial<ServeSagasOptions['auth']> = {},
    anonymous: ServeSagasOptions['anonymous'] = {},
  ): Promise<{
    readonly response: Response;
    readonly text: string;
    readonly errors: readonly unknown[];
    readonly warnings: readonly string[];
  }> {
    const told = nothingTold();
    const server = serve({
      anonymous,
      auth: { principal, authenticate: () => Promise.reject(error), ...more },
      hooks: hooksInto(told),
    });
    const request = post('modern', 'tools/callSaga', { name: 'asking' });
    const response = await server.fetch(request);
    expect(told.turns).toEqual([]);
    const { errors, warnings } = told;
    return { response, text: await response.text(), errors, warnings };
  }

  test.each([
    ['an expired token of jose', { code: 'ERR_JWT_EXPIRED' }, 401, 'invalid_token'],
    [
      'a wrong signature of jose',
      { code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED' },
      401,
      'invalid_token',
    ],
    ['an unknown key of jose', { code: 'ERR_JWKS_NO_MATCHING_KEY' }, 401, 'invalid_token'],
    ['an OAuth error of SDK 2', { code: 'invalid_token' }, 401, 'invalid_token'],
    ['an OAuth error of SDK 1', { errorCode: 'insufficient_scope' }, 403, 'insufficient_scope'],
    ['an HTTP error for the client', { status: 401, expose: true }, 401, 'invalid_token'],
    ['an HTTPException of Hono', { status: 401, getResponse: () => 0 }, 401, 'invalid_token'],
    ['an error of a middleware', { status: 401 }, 401, 'invalid_token'],
    ['an HTTP error about rights', { status: 403, expose: true }, 403, 'insufficient_scope'],
  ])('[T6] is a challenge for %s, also for anonymous callers', async (_, fields, status, error) => {
    for (const anonymous of [{}, { calls: 'accept' as const }]) {
      const { response, text, errors, warnings } = await asked(thrown(fields), {}, anonymous);
      expect(response.status).toBe(status);
      const code = 'code' in fields ? ` (${fields.code})` : '';
      expect(warnings).toEqual([
        expect.stringContaining(`auth.authenticate refused a token: it threw Error${code}. See `),
      ]);
      expect(response.headers.get('www-authenticate')).toBe(`Bearer error="${error}"`);
      expect(text).not.toContain('secret');
      expect(errors).toEqual([]);
    }
  });

  test('[T6] names the metadata of the resource in the challenge', async () => {
    const oauth = { resource: 'https://mcp.example/mcp', issuer: 'https://login.example' };
    const { response } = await asked(thrown({ code: 'ERR_JWT_EXPIRED' }), { oauth });
    expect(response.headers.get('www-authenticate')).toMatch(
      /^Bearer error="invalid_token", resource_metadata="https:/,
    );
  });

  test('[T6] responds with a thrown response', async () => {
    const challenge = { 'www-authenticate': 'DPoP algs="ES256"' };
    const { response, errors } = await asked(
      new Response('no', { status: 401, headers: challenge }),
    );
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([
      401,
      'DPoP algs="ES256"',
    ]);
    expect(errors).toEqual([]);
  });

  test.each<[string, unknown]>([
    ['a database that is down', thrown({ code: 'ECONNREFUSED' })],
    ['keys that cannot be fetched', thrown({ code: 'ERR_JWKS_TIMEOUT' })],
    ['a mistake', new TypeError(secret)],
    // The client cannot mend the credentials of the server.
    ['a provider that refuses the server', thrown({ status: 401, response: { status: 401 } })],
    ['a provider that refuses a request of the server', thrown({ status: 403, request: {} })],
    ['a provider that forbids the server', thrown({ status: 403, expose: false })],
    ['a value that is no error', secret],
    ['nothing', undefined],
  ])('[T6] is a 503 without detail for %s, and is reported', async (_, error) => {
    const { response, text, errors, warnings } = await asked(error);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(warnings).toEqual([]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(text).not.toContain('secret');
    expect(errors).toEqual([error]);
  });

  test('[T1] [T6] is reported once a minute if it refuses many tokens', async () => {
    const told = nothingTold();
    let now = 1_000_000;
    const authenticate = () => Promise.reject(thrown({ code: 'ERR_JWT_EXPIRED' }));
    const server = serve({
      auth: { principal, authenticate },
      hooks: hooksInto(told),
      testing: { clock: () => now },
    });
    const request = (): Request => post('modern', 'tools/list', {});
    for (let count = 0; count < 3; count += 1) await server.fetch(request());
    expect(told.warnings).toHaveLength(1);
    now += 60_000;
    await server.fetch(request());
    expect(told.warnings).toHaveLength(2);
  });

  test('[T6] is treated alike if it throws before it returns a promise', async () => {
    const told = nothingTold();
    const server = serve({
      auth: {
        principal,
        authenticate: () => {
          throw thrown({ code: 'ERR_JWT_EXPIRED' });
        },
      },
      hooks: hooksInto(told),
    });
    expect((await server.fetch(post('modern', 'tools/list', {}))).status).toBe(401);
    expect(told.errors).toEqual([]);
  });
});
