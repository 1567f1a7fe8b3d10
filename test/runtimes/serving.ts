import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { root } from '../support/command.ts';

/** A server that runs on a runtime. */
export interface Serving {
  /** URL of the server, without a path. */
  readonly url: URL;
  stop(): Promise<void>;
}

/** Options for starting a server. */
export interface ServingOptions {
  readonly executable: string;
  readonly args: readonly string[];
  /** Working directory. Default: the folder of the workspace. */
  readonly cwd?: string;
  readonly keys: string;
  /** Matches the port in the output, on standard output or on the third pipe. */
  readonly port: RegExp;
  /** Signal that stops the server. @default 'SIGKILL' */
  readonly stopSignal?: NodeJS.Signals;
}

/**
 * Starts a server, and waits until it serves.
 *
 * @throws Error with its output, if it ends first
 */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const child = spawn(options.executable, options.args, {
    cwd: options.cwd ?? root,
    env: { ...process.env, PORT: '0', SAGA_KEYS: options.keys, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const printed: string[] = [];
  // An aborted test leaves no server behind.
  const kill = (): void => void child.kill('SIGKILL');
  process.once('exit', kill);
  const gone = once(child, 'close').finally(() => process.off('exit', kill));
  const port = new Promise<string>((resolve, reject) => {
    for (const stream of child.stdio.slice(1) as Readable[]) {
      createInterface({ input: stream }).on('line', (line) => {
        printed.push(line);
        const found = options.port.exec(line)?.[1];
        if (found !== undefined) resolve(found);
      });
    }
    gone.then(
      () =>
        reject(new Error(`${options.executable} ended before it served:\n${printed.join('\n')}`)),
      reject,
    );
  });
  const stop = async (): Promise<void> => {
    child.kill(options.stopSignal ?? 'SIGKILL');
    await gone;
  };
  return { url: new URL(`http://127.0.0.1:${await port}/`), stop };
}
