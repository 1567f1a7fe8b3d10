import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { drive, type Job, type Outcome, type Peer, type Way } from './peer.ts';

/** Imports a package of the client by its name, or a file of it by its path in `node_modules`. */
export type Load = (name: string) => Promise<unknown>;

/**
 * Does the jobs that the parent process sends, with a client of the folder given as the argument,
 * and sends back the outcome of each. The process loads the client once for all of its jobs, since
 * that takes longer than a job.
 *
 * @param end - runs when the parent process has no more jobs, or has ended
 */
export function runPeer(
  connect: (way: Way, load: Load) => Promise<Peer>,
  end: () => Promise<void> = async () => undefined,
): void {
  const [folder = ''] = process.argv.slice(2);
  const { resolve } = createRequire(`${folder}/`);
  const load: Load = (name) => {
    const file = name.endsWith('.js') ? join(folder, 'node_modules', name) : resolve(name);
    return import(pathToFileURL(file).href);
  };
  const run = async (job: Job): Promise<Outcome> => {
    try {
      const peer = await connect(job.way, load);
      try {
        return { report: await drive(peer, job) };
      } finally {
        await peer.close();
      }
    } catch (error) {
      return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) };
    }
  };
  process.on('message', (job: Job) => void run(job).then((outcome) => process.send?.(outcome)));
  process.once('disconnect', () => void end().finally(() => process.exit()));
}
