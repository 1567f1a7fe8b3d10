import { once } from 'node:events';
import { Agent, createServer, request as send, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serveSagas, type SagaServer, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { describe, expect, test } from 'vitest';
import { hooksInto, nothingTold, oldKey } from './fixtures/host.ts';
import { ask, post } from './fixtures/raw.ts';
import { asking } from './fixtures/sagas.ts';
import { changed, type Parts } from './fixtures/host-changes.ts';

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
    "[T6] serves %o as an anonymous caller with anonymous: 'accept'",
    async (nobody) => {
      const server = serve({
        auth: { principal, authenticate: () => nobody, anonymous: 'accept' },
      });
      const { last } = await ask(server, 'modern', 'tools/callSaga', { name: 'asking' });
      expect(last.result).toMatchObject({ state: 'suspended' });
    },
  );

  test.each([false, '', 0])(
    "[T6] is answered with 401 for %o with anonymous: 'accept', too",
    async (nobody) => {
      const server = serve({
        auth: { principal, authenticate: () => nobody as never, anonymous: 'accept' },
      });
      expect((await server.fetch(post('modern', 'tools/list', {}))).status).toBe(401);
    },
  );

  test('[T6] rejects `anonymous` without authenticate or with an unknown value at the start', () => {
    expect(() => serve({ auth: { anonymous: 'accept' } })).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
    const odd = { anonymous: 'refuse' } as object;
    expect(() => serve({ auth: { principal, authenticate: () => undefined, ...odd } })).toThrow(
      expect.objectContaining({ name: 'TypeError', code: 'invalid_option' }),
    );
  });
});
