import { fileURLToPath } from 'node:url';
import { generateKey } from '@mcp-saga/server';
import { startCloud, type Cloud } from '../../examples/provision/cloud.ts';
import { startServer, type ServerProcess } from '../../examples/run-server/index.ts';
import { bundleForNode, runBundles } from '../support/bundle-for-node.ts';

/** Two server processes with one key, a cloud, and their effects. */
export interface World {
  readonly urls: readonly [URL, URL];
  readonly cloud: Cloud;
  /** The server steps that ran, in either process or over stdio. */
  readonly ran: string[];
  /** Command that starts a stdio server, by SDK version. */
  readonly stdio: (version: 1 | 2) => StdioCommand;
  stop(): Promise<void>;
}

/** A command in the format of the SDKs' stdio transports. */
export interface StdioCommand {
  readonly command: string;
  readonly args: string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly stderr: 'pipe';
}

const folder = new URL('.', import.meta.url);

/** Starts the processes and the cloud. */
export async function startWorld(): Promise<World> {
  const cloud = await startCloud();
  const ran: string[] = [];
  const environment = { SAGA_KEYS: generateKey(), CLOUD_URL: cloud.url, NODE_ENV: 'production' };
  const onLine = (line: string): void => {
    if (line.startsWith('ran ')) ran.push(line.slice('ran '.length));
    else if (line.startsWith('error')) throw new Error(`A server said: ${line}`);
  };
  await bundleForNode('test/matrix/server.ts');
  const servers: readonly ServerProcess[] = await Promise.all([
    startServer('A', { folder, environment, execArgv: runBundles, onLine }),
    startServer('B', { folder, environment, execArgv: runBundles, onLine }),
  ]);
  const [a, b] = servers as [ServerProcess, ServerProcess];
  return {
    urls: [a.url, b.url],
    cloud,
    ran,
    stdio: (version) => ({
      command: process.execPath,
      args: [...runBundles, 'server.ts', `stdio-${version}`],
      cwd: fileURLToPath(folder),
      env: { ...(process.env as Record<string, string>), ...environment },
      stderr: 'pipe',
    }),
    stop: async () => {
      await Promise.all([...servers.map((server) => server.stop()), cloud.stop()]);
    },
  };
}
