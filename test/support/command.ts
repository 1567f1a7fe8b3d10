import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { longestWait } from './patience.ts';

/** Root folder of the workspace. */
export const root: string = fileURLToPath(new URL('../..', import.meta.url));

/** Result of an ended command. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

/** A running command. */
export interface Command {
  readonly pid: number;
  readonly stdin: NodeJS.WritableStream;
  /** All output so far, from both streams. */
  readonly output: string;
  /** Waits until the output matches. Ignores colors and other escape sequences. */
  printed(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<Ended>;
}

/**
 * Starts a command in a folder, by default the workspace. Kills it after some time, so that a
 * command that hangs does not outlive its test.
 */
export function start(
  file: string,
  args: readonly string[],
  env: { readonly [name: string]: string | undefined } = {},
  cwd: string = root,
  timeout: number = longestWait,
): Command {
  const child: ChildProcessWithoutNullStreams = spawn(file, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout: timeout,
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
  // The output is not used.
}

/** The ids of a process's parent and process group. */
export function processOf(pid: number): { readonly parent: number; readonly group: number } {
  const [parent = 0, group = 0] = ps('ppid=,pgid=', pid).trim().split(/\s+/).map(Number);
  return { parent, group };
}

/** `true` if the process runs. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // An ended process whose parent has not reaped it can still receive a signal.
    return !ps('stat=', pid).startsWith('Z');
  } catch {
    return false;
  }
}

function ps(columns: string, pid: number): string {
  return execFileSync('ps', ['-o', columns, '-p', String(pid)], { encoding: 'utf8' });
}
