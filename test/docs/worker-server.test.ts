import { generateKey } from '@mcp-saga/server';
import { expect, it, onTestFinished } from 'vitest';
import { bundleForNode, runBundles } from '../support/bundle-for-node.ts';
import { start, type Command } from '../support/command.ts';
import { startOnFreePort } from '../support/free-port.ts';
import { describeWithPostgres, startPostgres } from '../support/postgres-server.ts';
import { describeWithRedis, startRedis } from '../support/redis-server.ts';

/**
 * Starts a server of the page twice on one port: the second process ends, and SIGTERM ends the
 * first.
 */
async function endsInOrder(
  program: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  await bundleForNode(program);
  // If TEST or CI is set, srvx does not print its address.
  const env = { ...environment, SAGA_KEYS: generateKey('k1'), TEST: undefined };
  const run = (port: number): Command =>
    start(process.execPath, [...runBundles, program], { ...env, PORT: String(port) });
  const { port, started: first } = await startOnFreePort(async (free) => {
    const command = run(free);
    await command.printed(/Listening on/);
    return command;
  });
  const second = await run(port).ended;
  expect(second).toMatchObject({ code: 1, output: expect.stringContaining('EADDRINUSE') });
  process.kill(first.pid, 'SIGTERM');
  expect(await first.ended).toMatchObject({ code: 0, signal: null });
}

describeWithRedis('the server of the page on queue adapters', () => {
  it('ends on SIGTERM, and does not stay as a worker if its port is taken', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.kill());
    await endsInOrder('test/docs/guides/worker-server.ts', { REDIS_URL: redis.url });
  });
});

describeWithPostgres('the server of the page on queue adapters, with PostgreSQL', () => {
  it('ends on SIGTERM, and does not stay as a worker if its port is taken', async () => {
    const postgres = await startPostgres();
    onTestFinished(() => postgres.remove());
    await endsInOrder('test/docs/guides/pg-boss-server.ts', { DATABASE_URL: postgres.url });
  });
});
