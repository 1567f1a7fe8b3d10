import { startServer, type ServerProcess } from '@mcp-saga/example-run-server';
import { generateKey } from '@mcp-saga/server';
import { bundleForNode, runBundles } from '../support/bundle-for-node.ts';
import type { Backend } from './backends.ts';
import { startGateway } from './gateway.ts';
import { startLedger, type Ledger } from './ledger.ts';

/** Three server processes behind a load balancer. They share keys, a store, and a queue. */
export interface Fleet {
  readonly url: string;
  readonly ledger: Ledger;
  /** Kills all processes at once (SIGKILL). */
  kill(): Promise<void>;
  /** Starts three processes. */
  start(): Promise<void>;
  /** Lets the time of all waiting messages pass. */
  passWaits(): Promise<void>;
  /** Number of messages in the queue. */
  countMessages(): Promise<number>;
  close(): Promise<void>;
}

/** Starts the databases, the ledger, the load balancer, and three server processes. */
export async function startFleet(startBackend: () => Promise<Backend>): Promise<Fleet> {
  const [backend, ledger, gateway] = await Promise.all([
    startBackend(),
    startLedger(),
    startGateway(),
    bundleForNode('test/approvals/server/server.ts'),
  ]);
  const environment = {
    ...backend.environment,
    SAGA_KEYS: generateKey(),
    LEDGER_URL: ledger.url,
    PUBLIC_URL: gateway.url,
  };
  const folder = new URL('server/', import.meta.url);
  let processes: readonly ServerProcess[] = [];
  const start = async (): Promise<void> => {
    processes = await Promise.all(
      ['one', 'two', 'three'].map((name) =>
        startServer(name, { folder, environment, execArgv: runBundles }),
      ),
    );
    gateway.route(processes.map(({ url }) => url));
  };
  const kill = async (): Promise<void> => {
    gateway.route([]);
    await Promise.all(processes.map((one) => one.stop()));
    processes = [];
    await backend.passDeliveries();
  };
  await start();
  return {
    url: gateway.url,
    ledger,
    kill,
    start,
    passWaits: () => backend.passWaits(),
    countMessages: () => backend.countMessages(),
    close: async () => {
      await kill();
      await backend.close();
      gateway.close();
      ledger.close();
    },
  };
}
