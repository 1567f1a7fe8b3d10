import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

/** The folder of the whole workspace. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** How a command ended. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** A running command. */
export interface Command {
  readonly pid: number;
  readonly stdin: NodeJS.WritableStream;
  /** All it has printed so far, on either stream. */
  readonly output: string;
  /** Waits until it has printed something that matches, colours and the like left out. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

// Shorter than the time a test has, so that a command that hangs does not outlive its test.
const longest = 50_000;

/** Starts a command in a folder, that of the workspace unless told. It is killed after 50 seconds. */
export function start(
  file: string,
  args: readonly string[],
  env: { readonly [name: string]: string | undefined } = {},
  cwd: string = root,
): Command {
  const child: ChildProcessWithoutNullStreams = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout: longest,
    killSignal: 'SIGKILL',
  });
  let output = '';
  let isOver = false;
  let onOutput = ignore;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      onOutput();
    });
  }
  const ended = once(child, 'close').then(([code, signal]): Ended => {
    isOver = true;
    onOutput();
    return { code, signal, output };
  });
  return {
    pid: child.pid!,
    stdin: child.stdin,
    get output() {
      return output;
    },
    printed: (pattern) =>
      new Promise((resolve, reject) => {
        onOutput = () => {
          const match = pattern.exec(stripVTControlCharacters(output));
          if (match) resolve(match);
          else if (isOver) reject(new Error(`Ended without printing ${pattern}:\n${output}`));
        };
        onOutput();
      }),
    ended,
  };
}

function ignore(): void {
  // Nobody waits for output yet.
}

/** The ids of a process's parent and process group. */
export function processOf(pid: number): { readonly parent: number; readonly group: number } {
  const [parent = 0, group = 0] = ps('ppid=,pgid=', pid).trim().split(/\s+/).map(Number);
  return { parent, group };
}

/** Whether a process runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A process that has ended but was not yet reaped by whoever adopted it can still be signalled.
  return !ps('stat=', pid).startsWith('Z');
}

function ps(columns: string, pid: number): string {
  return execFileSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8' });
}
