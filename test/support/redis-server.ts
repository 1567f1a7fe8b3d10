import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from './describe-with.ts';

/** A Redis server of a test's own: on a free port of 127.0.0.1, in memory only. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Kills it as a power cut does: what it knew is gone. */
  kill(): Promise<void>;
  /** Starts it again on its port: empty, or with its data if it persists. */
  restart(): Promise<void>;
  /** Stops the process for a while (SIGSTOP): connections stay open and nothing is answered. */
  pause(ms: number): Promise<void>;
}

const command = 'redis-server';

/** Whether there is a Redis server on this machine. */
export function hasRedisServer(): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * Tests that need a Redis server. Where it is missing they are skipped, by a name that says so; in CI they fail.
 */
export function describeWithRedis(name: string, tests: () => void): void {
  describeWith(name, hasRedisServer() ? undefined : `${command} is not in the PATH`, tests);
}

/**
 * Starts a Redis server. Whoever starts it kills it.
 *
 * @param options - `cluster`: it is a cluster of one node, whose slots the test assigns. Default false. `persists`: each
 * write is on disk before it is acknowledged (`appendfsync always`), and a restart loses nothing. Default false
 */
export async function startRedis({ cluster = false, persists = false } = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-redis-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const options = { cluster, persists, folder };
  // Another process may take a port between the two moments that it is found free and taken.
  for (let tries = 1; ; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- once, as a rule
    const port = await freePort();
    // oxlint-disable-next-line no-await-in-loop -- once, as a rule
    let child = await serverAt(port, options).catch((error: unknown) => {
      if (tries < 5) return undefined;
      throw error;
    });
    if (child === undefined) continue;
    return {
      port,
      url: `redis://127.0.0.1:${port}`,
      kill: async () => {
        if (child === undefined) return;
        const ended = once(child, 'close');
        child.kill('SIGKILL');
        child = undefined;
        await ended;
      },
      restart: async () => {
        child = await serverAt(port, options);
      },
      pause: async (ms) => {
        child?.kill('SIGSTOP');
        await new Promise((resolve) => setTimeout(resolve, ms));
        child?.kill('SIGCONT');
      },
    };
  }
}

async function serverAt(
  port: number,
  {
    cluster,
    persists,
    folder,
  }: { readonly cluster: boolean; readonly persists: boolean; readonly folder: string },
): Promise<ChildProcess> {
  const durable = persists ? ['--appendonly', 'yes', '--appendfsync', 'always'] : ['--appendonly', 'no'];
  const storage = ['--save', '', ...durable, '--dir', folder];
  const mode = cluster ? ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] : [];
  const child = spawn(command, ['--port', String(port), '--bind', '127.0.0.1', ...storage, ...mode], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test that is killed leaves no server behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('Ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`${command} ended:\n${output}`)));
  });
  return child;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
