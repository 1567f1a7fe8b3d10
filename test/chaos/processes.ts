import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A process that serves on loopback. Tests may kill it at any time. */
export interface Process {
  readonly name: string;
  /** URL of the server. */
  readonly url: URL;
  /** Kills the process without a shutdown (SIGKILL), and waits for its exit. */
  kill(): Promise<void>;
}

/** Options of a process. */
export interface ProcessOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** Gets each line on standard output after the URL, and each line on standard error. */
  readonly onLine: (line: string) => void;
}

/**
 * Starts a bundled program, and waits for its first line, which contains its URL.
 *
 * @throws Error with the output, if the program ends first
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

async function firstLine(
  { stdout }: ChildProcess,
  onLine: (line: string) => void,
): Promise<string> {
  if (stdout === null) throw new TypeError('The standard output of a process is not a pipe.');
  const lines = createInterface({ input: stdout });
  const [url] = (await once(lines, 'line')) as [string];
  lines.on('line', onLine);
  return url;
}
