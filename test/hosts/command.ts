import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Running } from './host.ts';

/** Options of a program without a terminal. */
export interface CommandOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
}

// The end of the output is enough to see why a program stopped.
const keptCharacters = 4_000;

/** Runs a program without a terminal. */
export function runCommand({ command, args, cwd, env }: CommandOptions): Running {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit').then(() => undefined);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-keptCharacters);
    });
  return {
    get output() {
      return output;
    },
    ended,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
