import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { bundleForNode, runBundles } from '../../../../test/support/bundle-for-node.ts';
import type { Reply, Request } from './host-process.ts';

/** A host in a process of its own. */
export interface HostProcess {
  /** The idempotency keys under which it was asked to ship. */
  readonly shipped: string[];
  /** Resolves when it ships. */
  readonly ships: Promise<void>;
  ask(request: Request): Promise<Reply>;
  /** As a power cut does. */
  kill(): Promise<void>;
}

type Message = { readonly ready: true } | { readonly shipped: string } | { readonly reply: Reply };

let bundled: Promise<void> | undefined;

/** Starts a host. It asks one thing at a time. */
export async function startHost(
  args: readonly [url: string, prefix: string, keys: string, mode?: 'hangs'],
) {
  await (bundled ??= bundleForNode('packages/redis/test/support/host-process.ts'));
  const program = fileURLToPath(new URL('host-process.ts', import.meta.url));
  const child = fork(program, args.map(String), { execArgv: [...runBundles] });
  const shipped: string[] = [];
  let onReply: ((reply: Reply) => void) | undefined;
  let onShip = (): void => undefined;
  const ships = new Promise<void>((resolve) => (onShip = resolve));
  const host: HostProcess = {
    shipped,
    ships,
    ask: (request) =>
      new Promise((resolve) => {
        onReply = resolve;
        child.send(request);
      }),
    kill: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error('The host ended.')));
    child.on('message', (message: Message) => {
      if ('ready' in message) resolve();
      else if ('reply' in message) onReply?.(message.reply);
      else {
        shipped.push(message.shipped);
        onShip();
      }
    });
  });
  return host;
}
