import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { drive, type Job, type Peer, type Way } from './peer.ts';

/**
 * Does the job given as the second argument with a client of the folder given as the first, and
 * prints the report as the last line.
 */
export async function runPeer(
  connect: (way: Way, load: (name: string) => Promise<unknown>) => Promise<Peer>,
): Promise<void> {
  const [folder = '', text = ''] = process.argv.slice(2);
  const job = JSON.parse(text) as Job;
  const { resolve } = createRequire(`${folder}/`);
  const peer = await connect(job.way, (name) => import(pathToFileURL(resolve(name)).href));
  const report = await drive(peer, job);
  await peer.close();
  console.log(JSON.stringify(report));
}
