import { Timings, type Effort, type Timing } from '../harness.ts';
import { inRounds } from '../load/clients/rounds.ts';
import {
  hasDatabase,
  startDatabase,
  storeNames,
  type Database,
  type StoreName,
} from '../load/databases.ts';
import { Fleet } from '../load/fleet.ts';
import { startServer, type ServerProcess } from '../load/server-process.ts';
import { inTurn, timed, warmUp } from '../load/timed.ts';
import type { Row } from '../row.ts';

const atOnce = 20;

interface Running {
  /** Name of a store. The peer has the prefix `bare `. */
  readonly name: string;
  readonly server: ServerProcess;
  readonly fleet: Fleet;
}

/**
 * Processor time of a server for one request over HTTP under each guard, and the time on the clock,
 * with 20 requests at once. The tool asks two questions: of its three requests, two run under the
 * guard. The peer of a guard in a database is a guard in memory that makes a bare round trip to the
 * same database in each call: the goal is at most 30 % more, and 60 % in SQLite, whose statements
 * run in the server.
 */
export const guards: Row = async ({ effort }) => {
  const names = storeNames.filter(hasDatabase);
  const databases = await Promise.all(names.map(startDatabase));
  try {
    const timings = await findTimings(databases, effort);
    return names.map((name) => ({
      figure: `guards-${name}` as const,
      ours: timings.of(name).cpu,
      wall: timings.of(name).wall,
      peers: [
        {
          name: name === 'memory' ? 'no guard' : 'bare round trips',
          value: timings.peerOf(name, bare(name)),
        },
      ],
    }));
  } finally {
    await Promise.all(databases.map(({ close }) => close()));
  }
};

const bare = (name: StoreName): string => `bare ${name}`;

async function findTimings(databases: readonly Database[], effort: Effort): Promise<Timings> {
  const running: Running[] = [];
  const found = new Map<string, Timing[]>();
  const servers: ServerProcess[] = [];
  try {
    await inTurn(databases, async ({ environment }) => {
      const server = await startServer('guarded', { environment });
      servers.push(server);
      const name = environment.BENCH_STORE;
      running.push(
        { name, server, fleet: new Fleet(server.url, inRounds) },
        { name: bare(name), server, fleet: new Fleet(`${server.url}?bare`, inRounds) },
      );
    });
    // Both candidates run the same code, and requests with a guard take longer. The warm-up
    // therefore needs fewer requests.
    const few = { ...effort, warmUpMs: effort.warmUpMs / 10 };
    await inTurn(running, async ({ fleet }) => await warmUp([fleet], few));
    await inTurn(running, async ({ fleet }) => await fleet.growTo(atOnce));
    const turns = Array.from({ length: Math.ceil(effort.rounds / 3) }, () => running).flat();
    await inTurn(turns, async ({ name, server, fleet }) => {
      const timing = await timed(server, fleet, { ms: effort.turnMs * 25, atOnce });
      found.set(name, [...(found.get(name) ?? []), timing]);
    });
  } finally {
    await Promise.all(servers.map(async (server) => await server.stop()));
  }
  return new Timings(found);
}
