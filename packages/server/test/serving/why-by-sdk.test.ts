import { saga, step, type SagaTelemetry } from '@mcp-saga/server';
import { serveSagas, type ServeSagasOptions } from '@mcp-saga/server/serve';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { hooksInto, nothingTold, oldKey } from '../fixtures/host.ts';
import { post } from '../fixtures/raw.ts';
import { prefix, toMessage, toRequest, toSent, withMeta } from '../fixtures/sent.ts';

const plain = saga({ name: 'plain', version: '1' }, function* () {
  return yield* step('take', () => 'taken');
});
const headed = saga(
  {
    name: 'headed',
    version: '1',
    input: z.object({ region: z.string().optional().meta({ 'x-mcp-header': 'Region' }) }),
  },
  function* () {
    return yield* step('take', () => 'taken');
  },
);

async function reasonsOf(
  request: Request,
  options: Pick<ServeSagasOptions, 'extend' | 'http'> = {},
  servedBySdk?: SagaTelemetry['servedBySdk'],
): Promise<readonly string[]> {
  const reasons: string[] = [];
  const span = { parent: undefined, within: (work: () => void) => work(), event() {}, end() {} };
  const telemetry: SagaTelemetry = {
    turn: () => ({ ...span, step: () => ({ within: (work) => work(), end() {} }) }),
    refused() {},
    servedBySdk: servedBySdk ?? ((reason) => reasons.push(reason)),
  };
  const server = serveSagas({
    name: 'test',
    version: '1',
    sagas: [plain, headed],
    keys: oldKey,
    hooks: hooksInto(nothingTold()),
    telemetry,
    ...options,
  });
  await (await server.fetch(request)).text();
  return reasons;
}

const call = toMessage('tools/call', { name: 'plain' });
const request = (): Request => toRequest(toSent(call));

test('[W1] telemetry counts no request that needs no server of the SDK', async () => {
  const shaped = withMeta(call, { progressToken: 1, [`${prefix}logLevel`]: 'info' });
  expect(await reasonsOf(toRequest(toSent(shaped)))).toEqual([]);
});

test.each<[string, Request, Pick<ServeSagasOptions, 'extend' | 'http'>?]>([
  ['version', post('legacy', 'tools/call', { name: 'plain' })],
  ['method', toRequest(toSent(toMessage('tools/list', {})))],
  ['tool', toRequest(toSent(toMessage('tools/call', { name: 'headed' })))],
  ['tool', toRequest(toSent(toMessage('tools/call', { name: 'nobody' })))],
  ['form', toRequest(toSent(withMeta(call, { progressToken: 1.5 })))],
  ['body', toRequest({ ...toSent(call), body: '{' })],
  ['extend', request(), { extend: () => undefined }],
  ['stream', request(), { http: { handler: { responseMode: 'sse' } } }],
])('[W1] telemetry counts a request with the reason %s', async (reason, asked, options) => {
  expect(await reasonsOf(asked, options)).toEqual([reason]);
});

test('[W1] telemetry that throws while it counts does not change the response', async () => {
  const failing = (): never => {
    throw new Error('no meter');
  };
  const asked = toRequest(toSent(toMessage('tools/list', {})));
  expect(await reasonsOf(asked, {}, failing)).toEqual([]);
});
