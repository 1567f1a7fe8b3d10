import assert from 'node:assert/strict';
import type { ServerProcess } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import type { Client } from '@modelcontextprotocol/client';
import { inTurns } from './connect.ts';
import { startIssuer } from './issuer.ts';
import { assertBound, assertShared, hasStore, orderUmbrellas } from './order-umbrellas.ts';
import { signIn } from './sign-in.ts';

/** Environment and settings of a server. */
export type Environment = Record<'SAGA_KEYS' | 'OAUTH_ISSUER' | 'OAUTH_RESOURCE', string>;

/**
 * Starts two servers with one key, and alternates the requests. Asserts that an order completes,
 * both servers run a part of the order, and the token of another user is refused. With a store in
 * the environment of this process, asserts that the servers share the store. Users sign in at the
 * issuer in the server's 401.
 *
 * @param path - path of the servers
 */
export async function takeTurns(
  start: (name: string, environment: Environment) => Promise<ServerProcess>,
  path = '/mcp',
): Promise<void> {
  const issuer = await startIssuer();
  const resource = `https://orders.example${path}`;
  const environment = {
    SAGA_KEYS: generateKey(),
    OAUTH_ISSUER: issuer.url,
    OAUTH_RESOURCE: resource,
  };
  const servers = await Promise.all([start('A', environment), start('B', environment)]);
  const send = inTurns(servers);
  const connectAs = async (user: string): Promise<Client> =>
    await signIn(new URL(resource), {
      user,
      // Requests to the authorization server are not alternated.
      fetch: (url, init) =>
        new URL(url).origin === issuer.url ? fetch(url, init) : send(url, init),
    });

  const ada = await connectAs('ada');
  const { by } = await orderUmbrellas(ada);
  assert.notEqual(...by, 'the servers took turns');
  await assertBound(ada, await connectAs('eve'));
  if (hasStore()) await assertShared(ada);
  assert.equal(
    (await fetch(servers[0].url, { method: 'POST' })).status,
    401,
    'a request without a token is refused',
  );

  await Promise.all(servers.map((server) => server.stop()));
  issuer.stop();
}
