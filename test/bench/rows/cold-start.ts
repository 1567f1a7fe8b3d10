import { performance } from 'node:perf_hooks';
import { medianOf, type Timing } from '../harness.ts';
import { inRounds } from '../load/clients/rounds.ts';
import { bundleServer, forkServer, type ServerName } from '../load/server-process.ts';
import type { Row } from '../row.ts';

/** Processor time of a process that starts and answers one call: as a saga, and by hand. */
export const coldStart: Row = async ({ effort }) => {
  const servers: readonly ServerName[] = ['saga', 'by-hand'];
  const timings = servers.map((): Timing[] => []);
  for (let round = 0; round < Math.ceil(effort.rounds / 4); round += 1) {
    for (const [index, server] of servers.entries()) {
      timings[index]?.push(await startAndAnswer(server));
    }
  }
  const [ours, byHand] = timings.map(medianOf) as [Timing, Timing];
  const peers = [{ name: 'by hand', value: byHand.cpu / 1000 }];
  return [{ figure: 'cold-start', ours: ours.cpu / 1000, wall: ours.wall / 1000, peers }];
};

async function startAndAnswer(name: ServerName): Promise<Timing> {
  const file = await bundleServer(name);
  const start = performance.now();
  const server = await forkServer(file);
  try {
    await inRounds(server.url);
    const wall = (performance.now() - start) * 1000;
    const { cpu } = await server.usage();
    return { cpu, wall };
  } finally {
    await server.stop();
  }
}
