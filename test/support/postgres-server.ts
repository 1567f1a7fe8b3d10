import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeWith } from './describe-with.ts';
import { startOnFreePort } from './free-port.ts';

/** A PostgreSQL server for one test, on a free port of 127.0.0.1 and in a temporary folder. */
export interface PostgresServer {
  readonly port: number;
  readonly url: string;
  /** ID of the running process, which starts a process for each connection. */
  readonly pid: number | undefined;
  /** Kills the server like a crash. Committed data remains. */
  kill(): Promise<void>;
  /** Restarts the server on the same port, with its data. */
  restart(): Promise<void>;
  /** Kills the server, and removes its data. */
  remove(): Promise<void>;
}

/** Finds the folder of the PostgreSQL programs, which are not on the PATH in Debian. */
function programs(): string | undefined {
  const versions = '/usr/lib/postgresql';
  const folders = existsSync(versions)
    ? readdirSync(versions).map((name) => join(versions, name, 'bin'))
    : [];
  const path = (process.env['PATH'] ?? '').split(':');
  return [...path, ...folders.toReversed()].find((folder) => existsSync(join(folder, 'initdb')));
}

/** `true` if this machine has a PostgreSQL server. */
export function hasPostgresServer(): boolean {
  return missingPostgres() === undefined;
}

/** Says in words that this machine has no PostgreSQL server. Undefined if it has one. */
export function missingPostgres(): string | undefined {
  if (programs() !== undefined) return undefined;
  return 'there is no initdb of PostgreSQL (apt-get install postgresql)';
}

/**
 * Declares tests that need a PostgreSQL server. Without one they are skipped with a reason, but
 * fail in CI.
 */
export function describeWithPostgres(name: string, tests: () => void): void {
  describeWith(name, missingPostgres(), tests);
}

// The server refuses to run as root. The package of Debian makes this user.
function userOfServer(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** Starts a PostgreSQL server. The caller removes it. */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = programs() ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'mcp-saga-postgres-'));
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true });
  process.once('exit', removeFolder);
  const user = userOfServer();
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  const settings = [
    '--username=saga',
    '--auth=trust',
    '--encoding=UTF8',
    '--no-sync',
    '--no-locale',
  ];
  execFileSync(join(bin, 'initdb'), ['--pgdata', data, ...settings], {
    stdio: 'ignore',
    cwd: folder,
    ...user,
  });
  const program = join(bin, 'postgres');
  const { port, started } = await startOnFreePort((free) => serverAt(program, data, free, user));
  let child: ChildProcess | undefined = started;
  const kill = async (): Promise<void> => {
    if (child === undefined) return;
    const ended = once(child, 'close');
    // The immediate shutdown: no checkpoint, as in a crash, but the processes of connections end.
    child.kill('SIGQUIT');
    child = undefined;
    await ended;
  };
  return {
    port,
    url: `postgres://saga@127.0.0.1:${port}/postgres`,
    get pid() {
      return child?.pid;
    },
    kill,
    restart: async () => {
      child = await serverAt(program, data, port, user);
    },
    remove: async () => {
      await kill();
      process.off('exit', removeFolder);
      removeFolder();
    },
  };
}

async function serverAt(
  program: string,
  data: string,
  port: number,
  user: ReturnType<typeof userOfServer>,
): Promise<ChildProcess> {
  const listens = [`unix_socket_directories=${data}`, 'listen_addresses=127.0.0.1'];
  const settings = ['fsync=off', 'max_connections=200', ...listens].flatMap((setting) => [
    '-c',
    setting,
  ]);
  const args = ['-D', data, '-p', String(port), ...settings];
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: data, ...user });
  // An aborted test leaves no server behind.
  const kill = (): void => void child.kill('SIGQUIT');
  process.once('exit', kill);
  child.once('close', () => process.off('exit', kill));
  let output = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('database system is ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`postgres ended:\n${output}`)));
  });
  return child;
}
