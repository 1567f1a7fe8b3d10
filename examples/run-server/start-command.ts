import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';

/** A server in a separate process, which ends with this process. */
export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  readonly url: URL;
  /** Ends the server, and waits until the process is gone. */
  stop(): Promise<void>;
}

export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Environment variables, in addition to those of this process. */
  readonly environment: { readonly [name: string]: string };
  /** Finds the address in a line of the output. @default the first URL */
  readonly served?: RegExp;
  /** Receives each line of standard error. */
  readonly onLine?: (line: string) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
  /**
   * Signal that ends the server. Use `SIGTERM` for a server with child processes. @default
   * 'SIGKILL'
   */
  readonly end?: 'SIGTERM' | 'SIGKILL';
}

/**
 * Starts a server by any command, and waits until the output contains its address.
 *
 * @throws Error with the output if the process ends before the server is ready
 */
export async function startCommand(name: string, options: CommandOptions): Promise<ServerProcess> {
  const { command, args, cwd, environment, onLine, signal, end = 'SIGKILL' } = options;
  signal?.throwIfAborted();
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...environment },
    stdio: 'pipe',
  });
  const kill = (): void => {
    child.kill(end);
  };
  process.once('exit', kill);
  const gone = once(child, 'exit').finally(() => process.off('exit', kill));
  const stop = async (): Promise<void> => {
    kill();
    await gone;
  };
  const said: string[] = [];
  const served = new Promise<URL>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (coloured) => {
        const line = stripVTControlCharacters(coloured);
        said.push(line);
        if (stream === child.stderr) onLine?.(line);
        const [address] = (options.served ?? /http:\S+/).exec(line) ?? [];
        if (address !== undefined) resolve(new URL('/mcp', address));
      });
    }
  });
  const ended = gone.then((): never => {
    throw new Error(`Server process ${name} ended before it served.\n${said.join('\n')}`);
  });
  const aborted = new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    const url = await Promise.race([served, ended, aborted]);
    if (child.pid === undefined) throw new Error(`Server process ${name} has no id`);
    return { name, pid: child.pid, url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
