/**
 * `mcp-saga dev` is two processes. The worker runs the code of the user, and may be killed at any
 * time. The supervisor starts another worker then, and keeps what a database would keep elsewhere:
 * the store, the messages of the queue, and what the studio has seen. Ctrl-C ends both.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import inspector from 'node:inspector';
import type { Supervisor } from './model/supervisor.ts';

/** Variable that makes a process a worker. */
const workerVariable = 'MCP_SAGA_WORKER';

/** Message of a worker. Each but `kill` gets a reply with its number. */
type Asked = { readonly number: number } & (
  | { readonly type: 'begin' | 'ready' | 'kill' }
  | { readonly type: 'keep'; readonly name: string; readonly value: unknown }
  | { readonly type: 'store'; readonly method: string; readonly given: readonly unknown[] }
);

/** Reply of the supervisor, or `stop`, which stands for Ctrl-C. */
type Told =
  | { readonly type: 'stop' }
  | { readonly type: 'reply'; readonly number: number; readonly result?: unknown }
  | { readonly type: 'reply'; readonly number: number; readonly failure: string };

/** `true` if this process has a supervisor. */
export const isWorker: boolean = process.env[workerVariable] !== undefined;

type Method = (...given: readonly unknown[]) => unknown;

/** What outlives a worker. */
class Memory {
  readonly kept = new Map<string, unknown>();
  #store: Promise<Readonly<Record<string, Method>>> | undefined;

  async callStore(method: string, given: readonly unknown[]): Promise<unknown> {
    this.#store ??= import('@mcp-saga/server').then(
      ({ memoryStore }) => memoryStore() as unknown as Readonly<Record<string, Method>>,
    );
    return await (await this.#store)[method]?.(...given);
  }

  keep(name: string, value: unknown): void {
    // The newest value comes last.
    this.kept.delete(name);
    if (value !== undefined) this.kept.set(name, value);
  }
}

/**
 * Runs this program in a worker, and in another one after each kill.
 * @param stopWithinMs - time that a worker has to end by Ctrl-C, in milliseconds
 * @returns the exit code of the last worker
 */
export async function supervise(stopWithinMs: number): Promise<number> {
  // The debugger belongs to the process with the code of the user.
  inspector.close();
  const memory = new Memory();
  let worker: ChildProcess | undefined;
  let isStopped = false;
  process.on('SIGINT', () => {
    isStopped = true;
    // A terminal sends Ctrl-C to the worker, too. Another program that ends this one does not.
    if (worker?.connected === true) worker.send({ type: 'stop' } satisfies Told);
    // Endless code of the user reads no message.
    setTimeout(() => worker?.kill('SIGKILL'), stopWithinMs);
  });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => {
      // Endless code would never notice that this process has gone.
      worker?.kill('SIGKILL');
      process.kill(process.pid, signal);
    });
  for (let replaced: number | undefined; ; replaced = worker.pid) {
    worker = spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
      stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
      serialization: 'advanced',
      env: { ...process.env, [workerVariable]: '1' },
    });
    const { code, signal, wasReady } = await serveWorker(worker, memory, replaced);
    if (signal !== 'SIGKILL' || isStopped || !wasReady) return code;
  }
}

interface EndedWorker {
  readonly code: number;
  readonly signal: NodeJS.Signals | null;
  readonly wasReady: boolean;
}

async function serveWorker(
  worker: ChildProcess,
  memory: Memory,
  replaced: number | undefined,
): Promise<EndedWorker> {
  let wasReady = false;
  const answer = async (asked: Asked): Promise<unknown> => {
    switch (asked.type) {
      case 'begin':
        return { kept: memory.kept, replaced };
      case 'ready':
        wasReady = true;
        return undefined;
      case 'kill':
        worker.kill('SIGKILL');
        return undefined;
      case 'keep':
        return memory.keep(asked.name, asked.value);
      case 'store':
        return await memory.callStore(asked.method, asked.given);
    }
  };
  const tell = (told: Told): void => {
    // It may have been killed meanwhile.
    if (worker.connected) worker.send(told, () => undefined);
  };
  worker.on('message', (message) => {
    const asked = message as Asked;
    const { number } = asked;
    answer(asked).then(
      (result) => tell({ type: 'reply', number, result }),
      (error: unknown) => tell({ type: 'reply', number, failure: (error as Error).message }),
    );
  });
  return await new Promise((resolve) => {
    worker.once('exit', (code, signal) => {
      resolve({ code: code ?? (signal === 'SIGINT' ? 130 : 137), signal, wasReady });
    });
  });
}

/**
 * Connects a worker to its supervisor, without which it ends.
 * @param onStop - called for Ctrl-C
 */
export async function supervisorOf(onStop: () => void): Promise<Supervisor> {
  // Programs that the code of the user starts are no workers.
  delete process.env[workerVariable];
  const waiting = new Map<number, (told: Told & { type: 'reply' }) => void>();
  process.on('disconnect', () => process.exit(1));
  process.on('message', (message) => {
    const told = message as Told;
    if (told.type === 'stop') onStop();
    else waiting.get(told.number)?.(told);
  });
  let asks = 0;
  const ask = async (asked: object): Promise<unknown> => {
    const number = ++asks;
    const told = await new Promise<Told & { type: 'reply' }>((resolve) => {
      waiting.set(number, resolve);
      process.send?.({ ...asked, number });
    });
    waiting.delete(number);
    if ('failure' in told) throw new Error(told.failure);
    return told.result;
  };
  const begun = (await ask({ type: 'begin' })) as Pick<Supervisor, 'kept' | 'replaced'>;
  return {
    ...begun,
    keep: async (name, value) => void (await ask({ type: 'keep', name, value })),
    callStore: (method, given) => ask({ type: 'store', method, given }),
    ready: async () => void (await ask({ type: 'ready' })),
    kill: () => void ask({ type: 'kill' }),
  };
}
