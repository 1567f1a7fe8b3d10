import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';

/** A server that runs in a process of its own and ends with this one. */
export interface ServerProcess {
  readonly name: string;
  readonly pid: number;
  readonly url: URL;
  /** Ends it and waits until it is gone. There is nothing it would have to save. */
  stop(): Promise<void>;
}

export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Its environment, beside this process's own. */
  readonly environment: { readonly [name: string]: string };
  /** Finds in a line it prints, on either stream, the address it serves at. Default: the first line with one. */
  readonly served?: RegExp;
  /** Each line it prints on standard error. */
  readonly onLine?: (line: string) => void;
  /** Aborts the start. */
  readonly signal?: AbortSignal;
  /** How it is ended. `SIGTERM` for one that has to end processes of its own. Default `SIGKILL`. */
  readonly end?: 'SIGTERM' | 'SIGKILL';
}

/**
 * Starts a server by any command, and waits until it says at which address of this machine it serves.
 *
 * @throws Error with what the process said when it ends before it serves
 */
export async function startCommand(name: string, options: CommandOptions): Promise<ServerProcess> {
  const { command, args, cwd, environment, onLine, signal, end = 'SIGKILL' } = options;
  signal?.throwIfAborted();
  const child = spawn(command, args, { cwd, env: { ...process.env, ...environment }, stdio: 'pipe' });
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
