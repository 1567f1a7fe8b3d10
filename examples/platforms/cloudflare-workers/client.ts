/** A Worker in two workerd processes that take turns, behind Cloudflare Access, with its key and its data as bindings. */
import assert from 'node:assert/strict';
import { assertBound, connect, inTurns, orderUmbrellas, startIssuer } from '@mcp-saga/example-order/client';
import { generateKey } from '@mcp-saga/server';
import type { Client } from '@modelcontextprotocol/client';
import { startWorker } from './wrangler.ts';

// Signs as Cloudflare Access does; the Worker checks it as it checks Access.
const access = await startIssuer('/cdn-cgi/access/certs');
const application = 'application-tag';
const secrets = {
  SAGA_KEYS: generateKey(),
  ACCESS_TEAM: access.url,
  ACCESS_AUD: application,
};
const workers = await Promise.all([startWorker('A', secrets), startWorker('B', secrets)]);
const send = inTurns(workers);

/** Connects as a user whom Access has let in. */
async function connectAs(user: string, audience = application): Promise<Client> {
  const assertion = await access.issue(user, audience);
  return await connect(workers[0].url, {
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('cf-access-jwt-assertion', assertion);
      return send(url, { ...init, headers });
    },
  });
}

const ada = await connectAs('ada');
const { from, by } = await orderUmbrellas(ada);
assert.equal(from, 'Lisbon', 'a binding reached the step');
assert.notEqual(...by, 'the other process went on');
await assertBound(ada, await connectAs('eve'));
await assert.rejects(
  connectAs('ada', 'another application'),
  /401/,
  'a user of another application is not let in',
);
assert.equal((await fetch(workers[0].url, { method: 'POST' })).status, 401, 'nobody comes in beside Access');

await Promise.all(workers.map((worker) => worker.stop()));
access.stop();
