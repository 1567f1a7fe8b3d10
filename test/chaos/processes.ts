import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A process that serves on loopback, and may be killed at any time. */
export interface Process {
  readonly name: string;
  /** Where it serves. */
  readonly url: URL;
  /** Ends it as a machine that loses its power does (SIGKILL), and waits until it is gone. */
  kill(): Promise<void>;
}

/** What a process is given. */
export interface ProcessOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** Each line it prints after it has said where it serves, and each on standard error. */
  readonly onLine: (line: string) => void;
}

/**
 * Starts a bundled program, and waits until it says where it serves: the first line that it prints.
 *
 * @throws Error with what it said, where it ends before that
 */
export async function startProcess(
  name: string,
  program: string,
  { environment, onLine }: ProcessOptions,
): Promise<Process> {
  const child = spawn(process.execPath, [program], {
    env: { ...process.env, ...environment, NAME: name },
    stdio: 'pipe',
  });
  const gone = once(child, 'exit');
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    onLine(line);
  });
  const url = await Promise.race([
    firstLine(child, onLine),
    gone.then((): never => {
      throw new Error(`Process ${name} ended before it served.\n${said.join('\n')}`);
    }),
  ]);
  return {
    name,
    url: new URL(url),
    kill: async () => {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

async function firstLine({ stdout }: ChildProcess, onLine: (line: string) => void): Promise<string> {
  if (stdout === null) throw new TypeError('The standard output of a process is not a pipe.');
  const lines = createInterface({ input: stdout });
  const [url] = (await once(lines, 'line')) as [string];
  lines.on('line', onLine);
  return url;
}
