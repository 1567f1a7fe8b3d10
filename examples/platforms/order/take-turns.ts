import assert from 'node:assert/strict';
import type { ServerProcess } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import type { Client } from '@modelcontextprotocol/client';
import { inTurns } from './connect.ts';
import { startIssuer } from './issuer.ts';
import { assertBound, orderUmbrellas } from './order-umbrellas.ts';
import { signIn } from './sign-in.ts';

/** What a server is started with. */
export type Environment = Record<'SAGA_KEYS' | 'OAUTH_ISSUER' | 'OAUTH_RESOURCE', string>;

/**
 * Starts two servers that share a key and nothing else, sends each request to the other one, and asserts that an order
 * comes to its end, that each did a part of it, and that another user's token is refused. Its users sign in as the server's 401
 * tells the client of the SDK.
 *
 * @param path - path of the servers
 */
export async function takeTurns(
  start: (name: string, environment: Environment) => Promise<ServerProcess>,
  path = '/mcp',
): Promise<void> {
  const issuer = await startIssuer();
  const resource = `https://orders.example${path}`;
  const environment = { SAGA_KEYS: generateKey(), OAUTH_ISSUER: issuer.url, OAUTH_RESOURCE: resource };
  const servers = await Promise.all([start('A', environment), start('B', environment)]);
  const send = inTurns(servers);
  const connectAs = async (user: string): Promise<Client> =>
    await signIn(new URL(resource), {
      user,
      // The authorization server has an address of its own.
      fetch: (url, init) => (new URL(url).origin === issuer.url ? fetch(url, init) : send(url, init)),
    });

  const ada = await connectAs('ada');
  const { by } = await orderUmbrellas(ada);
  assert.notEqual(...by, 'every request went to the other server');
  await assertBound(ada, await connectAs('eve'));
  assert.equal(
    (await fetch(servers[0].url, { method: 'POST' })).status,
    401,
    'who has no token is not served',
  );

  await Promise.all(servers.map((server) => server.stop()));
  issuer.stop();
}
