/**
 * Runs a Worker in two workerd processes by turns, behind Cloudflare Access. Key and data are
 * bindings.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SagaGone, SuspendedSaga } from '@mcp-saga/client';
import {
  assertBound,
  begin,
  connect,
  end,
  goOn,
  inTurns,
  orderUmbrellas,
  startIssuer,
} from '@mcp-saga/example-order/client';
import { generateKey } from '@mcp-saga/server';
import type { Client } from '@modelcontextprotocol/client';
import { startWorker } from './wrangler.ts';

// A stand-in for Cloudflare Access. The Worker checks its signatures in the same way.
const access = await startIssuer('/cdn-cgi/access/certs');
const application = 'application-tag';
const secrets = {
  SAGA_KEYS: generateKey(),
  ACCESS_TEAM: access.url,
  ACCESS_AUD: application,
};
const folders = await Promise.all(
  ['A', 'B'].map((name) => mkdtemp(join(tmpdir(), `worker-${name}-`))),
);
const [ofA = '', ofB = ''] = folders;
const workers = await Promise.all([startWorker('A', secrets, ofA), startWorker('B', secrets, ofB)]);
const send = inTurns(workers);

/** Connects as a user of Access. */
async function connectAs(user: string, audience = application, sendBy = send): Promise<Client> {
  const assertion = await access.issue(user, audience);
  return await connect(workers[0].url, {
    fetch: (url, init) => {
      const headers = new Headers(init?.headers);
      headers.set('cf-access-jwt-assertion', assertion);
      return sendBy(url, { ...init, headers });
    },
  });
}

const ada = await connectAs('ada');
const { from, by } = await orderUmbrellas(ada);
assert.equal(from, 'Lisbon', 'a binding reached the step');
assert.notEqual(...by, 'the other process continued the saga');
await assertBound(ada, await connectAs('eve'));
await assert.rejects(
  connectAs('ada', 'another application'),
  /401/,
  'users of other applications are refused',
);
assert.equal(
  (await fetch(workers[0].url, { method: 'POST' })).status,
  401,
  'requests that bypass Access are refused',
);

await workers[1].stop();
// The Durable Objects of one Worker. A deployed Worker shares them in all places.
let worker = workers[0];
const user = await connectAs('ada', application, (url, init) => inTurns([worker])(url, init));
const begun = await begin(user);
const asked = await goOn(user, begun);
assert.deepEqual(
  (await goOn(user, begun)).toJSON(),
  asked.toJSON(),
  'a repeated request gets the stored response',
);
await assertUsed(user, begun);
await worker.stop();
worker = await startWorker('C', secrets, ofA);
await assertUsed(user, begun);
await end(user, asked);
console.log('A used token was refused, also after a restart.');

/** Asserts that a used token is refused with another answer. */
async function assertUsed(client: Client, used: SuspendedSaga): Promise<void> {
  const other = [
    { stepId: 'quantity', result: { action: 'accept', content: { quantity: 4 } } },
  ] as const;
  await assert.rejects(SuspendedSaga.from(client, used).resume(other), SagaGone);
}

await worker.stop();
await Promise.all(folders.map((folder) => rm(folder, { recursive: true })));
access.stop();
