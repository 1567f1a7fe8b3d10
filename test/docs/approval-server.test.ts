import { startSaga } from '@mcp-saga/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bundleForNode, runBundles } from '../support/bundle-for-node.ts';
import { start, type Command } from '../support/command.ts';
import { connectAs } from './guides/client.ts';
import { read } from './markdown.ts';

const program = 'test/docs/guides/approval-server.ts';
let server: Command;
let url: URL;

beforeAll(async () => {
  await bundleForNode(program);
  // If TEST is set, srvx does not print its address.
  const env = { PORT: '0', NODE_ENV: 'development', TEST: undefined };
  server = start(process.execPath, [...runBundles, program], env);
  const [, address = ''] = await server.printed(/Listening on: (\S+)/);
  url = new URL('/mcp', address);
});
afterAll(async () => {
  process.kill(server.pid, 'SIGKILL');
  await server.ended;
});

/** Returns the request that the curl line of the guide sends, to a link instead of `$LINK`. */
function requestOfGuide(link: string): Request {
  const [line = ''] = /^curl .*$/m.exec(read('docs/guides/approvals.md')) ?? [];
  const headers = [...line.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  const fields = [...line.matchAll(/--data-urlencode '([^=]+)=([^']+)'/g)].map(
    ([, name = '', value = '']) => [name, value],
  );
  expect(line).toContain('"$LINK"');
  return new Request(link, {
    method: 'POST',
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: new URLSearchParams(Object.fromEntries(fields) as Record<string, string>),
  });
}

it('asks a manager, who answers with the curl command of the guide', async () => {
  const client = await connectAs('demo-caller', url);
  const turn = await startSaga(client, { name: 'refund', arguments: { amount: 20 } });
  const [, link = ''] = await server.printed(/Decide here: (\S+)/);
  expect((await fetch(link)).status).toBe(401);
  const headers = { authorization: 'Bearer demo-caller' };
  const byCaller = { method: 'POST', headers, body: new URLSearchParams({ decision: 'approve' }) };
  expect((await fetch(link, byCaller)).status).toBe(403);
  expect((await fetch(requestOfGuide(link))).status).toBe(200);
  expect((await fetch(requestOfGuide(link))).status).toBe(409);
  // The queue runs the saga at once, before the client returns.
  await server.printed(/Refunded 20 EUR\./);
  const waiting = turn.status === 'suspended' ? turn.saga : expect.fail(turn.status);
  expect(await waiting.resume()).toMatchObject({
    result: { content: [{ text: 'Refunded 20 EUR. ann: Well done' }] },
  });
  await client.close();
});
