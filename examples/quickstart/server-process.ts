import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A server that runs in a process of its own and ends with this one. */
export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  readonly url: URL;
  /** Kills it and waits until it is gone. There is nothing it would have to save. */
  stop(): Promise<void>;
}

export interface ServerProcessOptions {
  /** `SAGA_KEYS`: what the processes that serve a saga in turns have in common. */
  readonly keys: string;
  /** Each line it prints on standard error. */
  readonly onLine?: (line: string) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/**
 * Starts `server.ts` in a process of its own, on a free port of 127.0.0.1.
 *
 * @throws Error with what the process said when it ends before it serves
 */
export async function startServer(name: string, options: ServerProcessOptions): Promise<ServerProcess> {
  const { keys, onLine, signal } = options;
  signal?.throwIfAborted();
  const child = spawn(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), '--import', './end-with-parent.ts', 'server.ts'],
    {
      cwd: fileURLToPath(new URL('.', import.meta.url)),
      env: { ...process.env, PORT: '0', SAGA_KEYS: keys },
      stdio: 'pipe',
    },
  );
  const gone = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await gone;
  };
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    onLine?.(line);
  });
  const lines = createInterface({ input: child.stdout });
  try {
    const ended = gone.then((): never => {
      throw new Error(`Server process ${name} ended before it served.\n${said.join('\n')}`);
    });
    const served = once(lines, 'line', signal === undefined ? {} : { signal });
    const [line] = (await Promise.race([served, ended])) as [string];
    const url = /http:\S+/.exec(line)?.[0];
    if (url === undefined || child.pid === undefined) {
      throw new Error(`Server process ${name} did not say where it serves, but: ${line}`);
    }
    return { name, pid: child.pid, url: new URL(url), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
