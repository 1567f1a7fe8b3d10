import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { node } from '../../runtimes/runtime.ts';
import { root } from '../../support/command.ts';
import { install } from '../../support/install.ts';
import type { Job, Outcome, Report } from '../peers/peer.ts';

/** A client in a process of its own, which does one job after the other. */
export interface PeerProcess {
  run(job: Job): Promise<Report>;
  stop(): Promise<void>;
}

/**
 * Installs a client, and starts its file from `peers`.
 *
 * Clients need Node 22 or later, which also runs TypeScript.
 */
export async function startPeer(
  file: string,
  ...packages: readonly string[]
): Promise<PeerProcess> {
  const [execPath, folder] = await Promise.all([
    node('24.21.0').executable(),
    install('interop', ...packages),
  ]);
  const child = fork(fileURLToPath(new URL(`../peers/${file}`, import.meta.url)), [folder], {
    execPath,
    execArgv: [],
    // Later runs start from the compiled code of this one.
    env: { ...process.env, NODE_COMPILE_CACHE: join(root, 'node_modules/.cache/compiled') },
  });
  const ended = once(child, 'exit');
  return {
    run: async (job) => {
      const answered = once(child, 'message') as Promise<[Outcome]>;
      child.send(job);
      const [outcome] = await Promise.race([answered, ended]);
      if (typeof outcome !== 'object') throw new Error(`${file} ended before it answered`);
      if ('error' in outcome) throw new Error(`${file}: ${outcome.error}`);
      return outcome.report;
    },
    stop: async () => {
      if (child.connected) child.disconnect();
      await ended;
    },
  };
}
