import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from './describe-with.ts';
import { startOnFreePort } from './free-port.ts';

/** A Redis server for one test, on a free port of 127.0.0.1 and in memory only. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** ID of the running process. */
  readonly pid: number | undefined;
  /** Kills it like a power failure: unsaved data is lost. */
  kill(): Promise<void>;
  /** Restarts the server on the same port, empty unless it persists its data. */
  restart(): Promise<void>;
  /** Pauses the process for a while (SIGSTOP): connections stay open, but get no replies. */
  pause(ms: number): Promise<void>;
}

const command = 'redis-server';

/** `true` if this machine has a Redis server. */
export function hasRedisServer(): boolean {
  return missingRedis() === undefined;
}

/** Says in words that this machine has no Redis server. Undefined if it has one. */
export function missingRedis(): string | undefined {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return `${command} is not in the PATH (apt-get install redis-server)`;
  }
}

/**
 * Declares tests that need a Redis server. Without one they are skipped with a reason, but fail in
 * CI.
 */
export function describeWithRedis(name: string, tests: () => void): void {
  describeWith(name, missingRedis(), tests);
}

/**
 * Starts a Redis server. The caller kills it.
 *
 * @param options - `cluster`: it is a cluster of one node, whose slots the test assigns. Default
 * false. `persists`: each write is on disk before it is acknowledged (`appendfsync always`), and a
 * restart loses nothing. Default false
 */
export async function startRedis({ cluster = false, persists = false } = {}): Promise<RedisServer> {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-redis-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const options = { cluster, persists, folder };
  const { port, started } = await startOnFreePort((free) => serverAt(free, options));
  let child: ChildProcess | undefined = started;
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child?.pid;
    },
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

async function serverAt(
  port: number,
  {
    cluster,
    persists,
    folder,
  }: { readonly cluster: boolean; readonly persists: boolean; readonly folder: string },
): Promise<ChildProcess> {
  const durable = persists
    ? ['--appendonly', 'yes', '--appendfsync', 'always']
    : ['--appendonly', 'no'];
  const storage = ['--save', '', ...durable, '--dir', folder];
  const mode = cluster ? ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'] : [];
  const child = spawn(
    command,
    ['--port', String(port), '--bind', '127.0.0.1', ...storage, ...mode],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  // An aborted test leaves no server behind.
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
