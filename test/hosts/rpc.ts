import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Running } from './host.ts';

/** A message of a program that speaks JSON-RPC over standard input and output. */
export interface RpcMessage {
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
  readonly result?: unknown;
  readonly error?: unknown;
}

/**
 * Connection to a started program by JSON-RPC over standard input and output, one message a line.
 */
export interface Rpc extends Running {
  request(method: string, params: object): Promise<unknown>;
  notify(method: string): void;
}

/** Options of a started program. */
export interface RpcOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** Answers a request of the program. */
  readonly answer: (request: RpcMessage) => object;
}

// The newest lines are enough to see why a program stopped.
const keptLines = 40;

/** Starts a program that speaks JSON-RPC over standard input and output. */
export function startRpc({ command, args, cwd, env, answer }: RpcOptions): Rpc {
  const child = spawn(command, args, { cwd, env, stdio: 'pipe' });
  const ended = once(child, 'exit').then(() => undefined);
  const lines: string[] = [];
  const open = new Map<string | number, (message: RpcMessage) => void>();
  let count = 0;
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify(message)}\n`);
  child.stdin.on('error', () => undefined);
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line.slice(0, 500));
      if (lines.length > keptLines) lines.shift();
      if (stream === child.stderr) return;
      const message = JSON.parse(line) as RpcMessage;
      if (message.id === undefined) return;
      if (message.method !== undefined) send({ id: message.id, result: answer(message) });
      else open.get(message.id)?.(message);
    });
  }
  return {
    get output() {
      return lines.join('\n');
    },
    ended,
    stop: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    notify: (method) => send({ method }),
    request: async (method, params) => {
      count += 1;
      const id = count;
      const answered = new Promise<RpcMessage>((resolve) => open.set(id, resolve));
      send({ id, method, params });
      const message = await Promise.race([answered, ended]);
      if (message?.error !== undefined || message === undefined)
        throw new Error(`${method} failed: ${JSON.stringify(message?.error)}\n${lines.join('\n')}`);
      return message.result;
    },
  };
}
