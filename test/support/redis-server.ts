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
  /** Starts it again on its port, empty. */
  restart(): Promise<void>;
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
 * @param options - `cluster`: it is a cluster of one node, whose slots the test assigns. Default false
 */
export async function startRedis({ cluster = false } = {}): Promise<RedisServer> {
  // Another process may take a port between the two moments that it is found free and taken.
  for (let tries = 1; ; tries += 1) {
    // oxlint-disable-next-line no-await-in-loop -- once, as a rule
    const port = await freePort();
    // oxlint-disable-next-line no-await-in-loop -- once, as a rule
    let child = await serverAt(port, cluster).catch((error: unknown) => {
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
        child = await serverAt(port, cluster);
      },
    };
  }
}

async function serverAt(port: number, cluster: boolean): Promise<ChildProcess> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-redis-'));
  const inMemory = ['--save', '', '--appendonly', 'no', '--dir', folder];
  const mode = cluster ? ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] : [];
  const child = spawn(command, ['--port', String(port), '--bind', '127.0.0.1', ...inMemory, ...mode], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  // A test that is killed leaves no server behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('close', () => {
    process.off('exit', kill);
    rmSync(folder, { recursive: true, force: true });
  });
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
