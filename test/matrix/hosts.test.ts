import { once } from 'node:events';
import { request as send, type IncomingMessage } from 'node:http';
import { elicit, generateKey, saga } from '@mcp-saga/server';
import { serveSagas } from '@mcp-saga/server/serve';
import { serve } from 'srvx';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { expectLogs } from '../support/logs.ts';

const asks = saga({ name: 'asks', version: '1' }, function* () {
  yield* elicit('sure', { message: 'Sure?', schema: z.object({}) });
  return 'sure';
});

/** Returns the response statuses of a srvx server for requests with the given host names. */
async function statuses(
  hostname: string,
  hosts: readonly string[],
): Promise<readonly (number | undefined)[]> {
  const sagas = serveSagas({ name: 'hosts', version: '1', sagas: [asks], keys: generateKey() });
  const server = serve({
    fetch: (request) => sagas.fetch(request),
    hostname,
    port: 0,
    silent: true,
  });
  await server.ready();
  const { port } = new URL(server.url ?? '');
  const answers = hosts.map(async (host) => {
    const headers = { host, 'content-type': 'application/json' };
    const sent = send({
      host: '127.0.0.1',
      port,
      path: '/mcp',
      method: 'POST',
      headers,
      agent: false,
    }).end('{}');
    const [{ statusCode }] = (await once(sent, 'response')) as [IncomingMessage];
    return statusCode;
  });
  const all = await Promise.all(answers);
  await server.close(true);
  return all;
}

it('srvx on loopback rejects requests to foreign hosts, as after DNS rebinding', async () => {
  expectLogs('401-or-403-over-http');
  expect(await statuses('127.0.0.1', ['evil.example', 'evil.example:3000', '10.0.0.1'])).toEqual([
    403, 403, 403,
  ]);
  expect(await statuses('127.0.0.1', ['localhost', '127.0.0.1:3000', '[::1]'])).toEqual([
    400, 400, 400,
  ]);
});

it('srvx on all addresses serves requests to every host', async () => {
  expect(await statuses('0.0.0.0', ['mcp.example', 'localhost'])).toEqual([400, 400]);
});
