import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateKey, type SagaHost, type StepAnswer, type SuspendedTurn } from '@mcp-saga/server';
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest';
import { startFakeUpstash } from '../support/fake-upstash.ts';
import { ask, type Fetches } from '../../packages/server/test/fixtures/raw.ts';
import { startD1 } from '../../packages/sql/test/support/d1.ts';
import { bundleForWorkerd } from '../support/bundle-for-workerd.ts';
import { start } from '../support/command.ts';
import { startMiniflare } from '../support/miniflare.ts';
import {
  describeWithPostgres,
  startPostgres,
  type PostgresServer,
} from '../support/postgres-server.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../support/redis-server.ts';
import { node } from '../runtimes/runtime.ts';
import { expectLogs } from '../support/logs.ts';
import { rejectionLog } from '../support/known-logs.ts';

expectLogs(rejectionLog('used'));

const sure = (isSure: boolean): StepAnswer[] => [
  { stepId: 'sure', result: { action: 'accept', content: { sure: isSure } } },
];

/** The host of a page counts each token once. */
async function expectGuarded(host: SagaHost): Promise<void> {
  const { token } = (await host.start('buy', {})) as SuspendedTurn;
  expect(await host.resume(token, sure(true))).toMatchObject({ result: 'On its way' });
  await expect(host.resume(token, sure(false))).rejects.toMatchObject({ reason: 'used' });
}

/** Sends requests to a server in another process. */
const at = (url: URL): Fetches => ({
  fetch: async (request) =>
    await fetch(url, { method: 'POST', headers: request.headers, body: await request.text() }),
});

/** The server of a page counts each token once. */
async function expectServed(
  server: Fetches,
  order: object = {},
  text: string = 'On its way',
): Promise<void> {
  const begun = await ask(server, 'modern', 'tools/callSaga', { name: 'buy', arguments: order });
  // The first response has a token only, before the first effect.
  const { last } = await ask(server, 'modern', 'tools/resumeSaga', {
    sagaToken: begun.last.result?.['sagaToken'],
  });
  const sagaToken = last.result?.['sagaToken'];
  const resume = async (isSure: boolean) =>
    (await ask(server, 'modern', 'tools/resumeSaga', { sagaToken, completedSteps: sure(isSure) }))
      .last;
  const sent = { content: [{ text }] };
  expect((await resume(true)).result).toMatchObject(sent);
  expect((await resume(false)).error).toMatchObject({ code: -32602 });
  expect((await resume(true)).result).toMatchObject(sent);
}

describeWithPostgres('the page on stores, PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  it('[T13] the page on stores shows a host with stores in PostgreSQL', async () => {
    vi.stubEnv('DATABASE_URL', server.url);
    vi.stubEnv('SAGA_KEYS', generateKey());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { host, pool } = await import('./postgres.ts');
    onTestFinished(() => pool.end());
    await expectGuarded(host);
  });
});

describeWithRedis('the page on stores, Upstash', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.kill());

  it('[T13] the page on stores shows a host with stores at Upstash', async () => {
    const { url, token, close } = await startFakeUpstash(server.url);
    onTestFinished(close);
    vi.stubEnv('UPSTASH_REDIS_REST_URL', url);
    vi.stubEnv('UPSTASH_REDIS_REST_TOKEN', token);
    vi.stubEnv('SAGA_KEYS', generateKey());
    onTestFinished(() => void vi.unstubAllEnvs());
    const { host } = await import('./upstash.ts');
    await expectGuarded(host);
  });
});

it('[T13] the page on stores shows a server with its store in a file of SQLite', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-sqlite-'));
  const program = fileURLToPath(new URL('../docs/guides/sqlite-server.ts', import.meta.url));
  // If TEST or CI is set, srvx does not print its address.
  const env = { SAGA_KEYS: generateKey('k1'), PORT: '0', TEST: undefined, CI: undefined };
  const server = start(await node('24.21.0').executable(), [program], env, folder);
  onTestFinished(async () => {
    process.kill(server.pid, 'SIGKILL');
    await server.ended;
    rmSync(folder, { recursive: true });
  });
  const [, address = ''] = await server.printed(/Listening on: (\S+)/);
  const url = new URL('/mcp', address);
  await expectServed(at(url), { item: 'Lamp', amount: 20 }, 'Shipped Lamp.');
  expect(readdirSync(folder)).toContain('sagas.db');
});

it('[T13] the page on stores shows a Worker with its guard in D1, after its migrations', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mcp-saga-migrations-'));
  const before = process.cwd();
  mkdirSync(join(folder, 'migrations'));
  process.chdir(folder);
  onTestFinished(() => {
    process.chdir(before);
    rmSync(folder, { recursive: true });
  });
  await import('./migrations.ts');
  const { database, close } = await startD1();
  onTestFinished(close);
  const statements = readFileSync('migrations/0001_sagas.sql', 'utf8').split(';\n').slice(0, -1);
  for (const statement of statements) {
    await database.prepare(statement).bind().all();
  }
  const { default: worker } = await import('./d1.ts');
  const env = { SAGA_KEYS: generateKey(), DB: database };
  const server = { fetch: (request: Request) => worker.fetch(request, env) };
  await expectServed(server);
});

it('[T13] the page on stores shows a Worker with its stores and its queue in Durable Objects', async () => {
  const entry = fileURLToPath(new URL('durable-objects.ts', import.meta.url));
  const worker = await startMiniflare(await bundleForWorkerd(entry), {
    durableObjects: { SAGAS: { className: 'Sagas', useSQLite: true } },
    bindings: { SAGA_KEYS: generateKey() },
  });
  onTestFinished(() => worker.dispose());
  await expectServed(at(new URL('/mcp', await worker.ready)));
});
