/**
 * Rotates the key of two processes behind a load balancer while clients order, and tries a stolen
 * token.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { SagaGone } from '@mcp-saga/client';
import {
  assertBound,
  assertShared,
  begin,
  connect,
  end,
  goOn,
  hasStore,
  orderUmbrellas,
  signIn,
  startIssuer,
} from '@mcp-saga/example-order/client';
import { type ServerProcess, startServer } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import { startProxy } from './proxy.ts';

const issuer = await startIssuer();
const servers: ServerProcess[] = [];
const proxy = await startProxy(servers);
const start = (keys: string): Promise<ServerProcess> =>
  startServer('Node', {
    folder: new URL('.', import.meta.url),
    environment: { SAGA_KEYS: keys, OAUTH_ISSUER: issuer.url, OAUTH_RESOURCE: proxy.url.href },
    end: 'SIGTERM',
  });

/**
 * Replaces one process after the other, like a rolling update. Meanwhile, only some processes have
 * the new keys.
 */
async function roll(keys: string): Promise<void> {
  const fresh = await Promise.all([start(keys), start(keys)]);
  for (const [index, server] of fresh.entries()) {
    const ordered = orderUmbrellas(ada);
    const [old] = servers.splice(index, 1, server);
    await Promise.all([old?.stop(), ordered]);
  }
}

const [old, young] = [generateKey('k1'), generateKey('k2')];
servers.push(...(await Promise.all([start(old), start(old)])));
// The client knows only the address of the server. The 401 of the server names the issuer.
const ada = await signIn(proxy.url, { user: 'ada' });
const eve = await signIn(proxy.url, { user: 'eve' });

const { by } = await orderUmbrellas(ada);
assert.notEqual(...by, 'the processes took turns');
await assertBound(ada, eve);
if (hasStore()) await assertShared(ada);
await assert.rejects(
  connect(proxy.url),
  /401|[Uu]nauthorized/,
  'a request without a token is refused',
);
await assert.rejects(
  connect(proxy.url, { token: await issuer.issue('ada', 'https://elsewhere.example/mcp') }),
  /401|[Uu]nauthorized/,
  'a token for another server is refused',
);

const [waiting, forgotten] = await Promise.all([begin(ada), begin(ada)]);
await roll(`${old},${young}`);
await roll(`${young},${old}`);
const asked = await goOn(ada, waiting);
await roll(young);
await end(ada, asked);
await assert.rejects(
  goOn(ada, forgotten),
  SagaGone,
  'a saga that was not continued ended with the old key',
);
console.log('Rotated the key without losing an order.');

const [{ url }] = servers as [ServerProcess];
const late = request(url, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${await issuer.issue('ada', proxy.url.href)}`,
    'content-type': 'application/json',
    expect: '100-continue',
  },
});
late.flushHeaders();
await once(late, 'continue');
const stopped = Promise.all(servers.map((server) => server.stop()));
// Waits until the process accepts no connection.
while (await fetch(url).then(Boolean, () => false));
late.end('{}');
const [answer] = (await once(late, 'response')) as [IncomingMessage];
assert.equal(answer.resume().statusCode, 400, 'a process that ends answers open requests');
await stopped;
proxy.stop();
issuer.stop();
