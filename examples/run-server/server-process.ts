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
  /** The folder of the example, as a URL: its `server.ts` is started. */
  readonly folder: URL;
  /** Its environment, beside this process's own: `SAGA_KEYS`, which processes that serve a saga in turns share. */
  readonly environment: { readonly SAGA_KEYS: string; readonly [name: string]: string };
  /** Each line it prints on standard error. */
  readonly onLine?: (line: string) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
}

/**
 * Starts the `server.ts` of an example in a process of its own, on a free port of 127.0.0.1.
 *
 * @throws Error with what the process said when it ends before it serves
 */
export async function startServer(name: string, options: ServerProcessOptions): Promise<ServerProcess> {
  const { folder, environment, onLine, signal } = options;
  signal?.throwIfAborted();
  const child = spawn(
    process.execPath,
    [
      '--import',
      import.meta.resolve('tsx'),
      '--import',
      import.meta.resolve('./end-with-parent.ts'),
      'server.ts',
    ],
    {
      cwd: fileURLToPath(folder),
      env: { ...process.env, ...environment, PORT: '0' },
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
