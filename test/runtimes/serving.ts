import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { root } from '../support/command.ts';

/** A server that runs under some runtime. */
export interface Serving {
  /** Where it serves, without a path. */
  readonly url: URL;
  stop(): Promise<void>;
}

/** How a server is started. */
export interface ServingOptions {
  readonly executable: string;
  readonly args: readonly string[];
  /** Default: the folder of the workspace. */
  readonly cwd?: string;
  readonly keys: string;
  /** Reads the port from what it prints, on standard output and on a third pipe of its own. */
  readonly port: RegExp;
}

/**
 * Starts a server and waits until it serves.
 *
 * @throws Error with all it has printed when it ends instead
 */
export async function startServing(options: ServingOptions): Promise<Serving> {
  const child = spawn(options.executable, options.args, {
    cwd: options.cwd ?? root,
    env: { ...process.env, PORT: '0', SAGA_KEYS: options.keys, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const printed: string[] = [];
  // A test that is stopped leaves no server behind.
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
      () => reject(new Error(`${options.executable} ended before it served:\n${printed.join('\n')}`)),
      reject,
    );
  });
  const stop = async (): Promise<void> => {
    kill();
    await gone;
  };
  return { url: new URL(`http://127.0.0.1:${await port}/`), stop };
}
