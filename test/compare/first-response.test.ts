import { generateKey, memoryStore } from '@mcp-saga/server';
import { describe, expect, it } from 'vitest';
import type { Fetch } from '../interop/support/http-server.ts';
import type { Contender } from './contender.ts';
import {
  mcpSaga,
  mcpSagaHandshake,
  mcpSagaHandshakeLate,
  serveRefund,
  undoable,
} from './contenders/mcp-saga.ts';
import { plainSdk } from './contenders/plain-sdk.ts';
import { Provider } from './provider.ts';
import { play, type Fault, type Outcome } from './scenario.ts';
import { toTables } from './tables.ts';

const url = 'http://127.0.0.1/mcp';

/** Plays a fault without a network. `open` makes the server of each process. */
async function played(
  contender: Contender,
  fault: Fault,
  open: (provider: Provider) => Promise<Fetch>,
): Promise<Outcome> {
  const provider = new Provider();
  const start = async () => ({ url, fetch: await open(provider), kill: async () => undefined });
  return await play(contender, fault, { provider, start });
}

/** Plays a fault with sagas, in processes that share a store and keys. */
async function playedWithSagas(contender: Contender, fault: Fault): Promise<Outcome> {
  const kept = { keys: generateKey(), store: memoryStore() };
  return await played(contender, fault, async (provider) => {
    const server = serveRefund(undoable, { ...kept, provider });
    return (request) => server.fetch(request);
  });
}

const once = { requests: 1, refunds: 1, answers: ['Refunded 20 EUR for A-17: re_1'] };
const twice = { requests: 2, refunds: 2, answers: ['Refunded 20 EUR for A-17: re_2'] };

describe.each([
  ['is lost', 'response'],
  ['and its process are lost', 'responseAndProcess'],
] as const)('if the first response %s, a call that comes again', (_, fault) => {
  it('refunds once with a key and a store', async () => {
    expect(await playedWithSagas(mcpSaga, fault)).toMatchObject(once);
  });

  it('refunds once without a key, because the first request refunds nothing', async () => {
    expect(await playedWithSagas(mcpSagaHandshake, fault)).toMatchObject(once);
  });

  it('refunds twice without a key if the response after the refund is the lost one', async () => {
    expect(await playedWithSagas(mcpSagaHandshakeLate, fault)).toMatchObject(twice);
  });

  it('refunds twice with a plain handler of the SDK', async () => {
    const outcome = await played(plainSdk, fault, async (provider) => {
      const served = await plainSdk.open({ provider, database: '', keys: '', load: async () => 0 });
      if (!('fetch' in served)) throw new Error('The SDK answers by fetch.');
      return served.fetch;
    });
    expect(outcome).toMatchObject(twice);
  });
});

it('a table says what the second call got, when, and which contenders are missing', () => {
  const outcomes = [
    { ...once, seconds: 0.1 },
    { ...twice, seconds: 60 },
    { requests: 1, refunds: 1, answers: ['It failed. Nobody knows.'], seconds: 0 },
  ];
  const missing = { contender: { ...plainSdk, name: 'Other' }, outcomes: [], notRun: 'offline' };
  const tables = toTables([{ contender: plainSdk, outcomes }, missing]);
  expect(tables).toContain(
    '| MCP SDK | 1 / 1, `re_1` | 2 / **2**, `re_2`, after 60 s | 1 / 1, "It failed." |',
  );
  expect(tables).toContain('\n- Other was not run: offline');
});
