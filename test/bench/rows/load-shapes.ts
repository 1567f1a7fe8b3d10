import type { FigureId } from '../figures.ts';
import { Timings, type Effort, type Timing } from '../harness.ts';
import { inCalls, inCallsOf2025, inCallsWithProgress } from '../load/clients/calls.ts';
import type { Board } from '../load/clients/flight.ts';
import { inRounds, inRoundsWithProgress } from '../load/clients/rounds.ts';
import { Fleet } from '../load/fleet.ts';
import { startServer, type ServerName, type ServerProcess } from '../load/server-process.ts';
import { clocked, inTurn, warmUp } from '../load/timed.ts';
import type { Finding, Row } from '../row.ts';

const users = 2000;
const requests = 20_000;
/** Parts in which a server gets its requests. The servers take turns. */
const rounds = 5;

const names = {
  saga: 'mcp-saga',
  trivial: "the SDK's trivial tool",
  byHand: 'by hand',
} as const;
type Name = keyof typeof names;

/** A server, and the client of its users. */
type Contender = readonly [serves: ServerName, board: Board];

/**
 * Shapes of requests. A client of MCP 2025 without a session cannot be asked, so its tools come to
 * their end in one call.
 */
const shapes = {
  plain: {
    saga: ['saga', inRounds],
    trivial: ['trivial', inCalls],
    byHand: ['by-hand', inRounds],
  },
  progress: {
    saga: ['saga', inRoundsWithProgress],
    trivial: ['trivial', inCallsWithProgress],
    byHand: ['by-hand', inRoundsWithProgress],
  },
  '2025': {
    saga: ['saga-at-once', inCallsOf2025],
    trivial: ['trivial', inCallsOf2025],
    byHand: ['by-hand-at-once', inCallsOf2025],
  },
} as const satisfies Record<string, Readonly<Record<Name, Contender>>>;

/**
 * 2,000 users who send 20,000 requests in each shape that hosts send: the errors, the processor time
 * of the server for each request, and the 99th percentile of the time that a user waits for a
 * response. A user sends the next request as soon as the response is there.
 */
export const loadShapes: Row = async ({ effort }) => {
  const findings: Finding[] = [];
  const errors: Record<Name, number> = { saga: 0, trivial: 0, byHand: 0 };
  for (const shape of ['plain', 'progress', '2025'] as const) {
    const found = await measureShape(shapes[shape], effort);
    const finding = (figure: FigureId, valueOf: (name: Name) => number): Finding => ({
      figure,
      ours: valueOf('saga'),
      peers: peersOf(valueOf),
    });
    const { cpu, wall } = found.timings.of('saga');
    findings.push(
      {
        ...finding(`load-shape-${shape}`, (name) =>
          name === 'saga' ? cpu : found.timings.peerOf('saga', name),
        ),
        wall,
      },
      finding(`load-shape-${shape}-p99`, (name) => percentile(found.latencies[name], 0.99)),
    );
    for (const name of eachName) errors[name] += found.errors[name].length;
    // The figure counts them; what they were is for the person who runs the bench.
    const [first] = eachName.flatMap((name) => found.errors[name]);
    if (first !== undefined) console.error(`A request in the shape '${shape}' failed:`, first);
  }
  const peers = peersOf((name) => errors[name]);
  return [...findings, { figure: 'load-shapes-errors', ours: errors.saga, peers }];
};

const eachName = Object.keys(names) as readonly Name[];

function peersOf(valueOf: (name: Name) => number): Finding['peers'] {
  return eachName
    .filter((name) => name !== 'saga')
    .map((name) => ({ name: names[name], value: valueOf(name) }));
}

interface Found {
  readonly timings: Timings;
  readonly latencies: Readonly<Record<Name, number[]>>;
  readonly errors: Readonly<Record<Name, unknown[]>>;
}

async function measureShape(
  contenders: Readonly<Record<Name, Contender>>,
  effort: Effort,
): Promise<Found> {
  const timings = new Map<Name, Timing[]>(eachName.map((name) => [name, []]));
  const latencies: Found['latencies'] = { saga: [], trivial: [], byHand: [] };
  const errors: Found['errors'] = { saga: [], trivial: [], byHand: [] };
  const running: { readonly name: Name; readonly server: ServerProcess; readonly fleet: Fleet }[] =
    [];
  try {
    for (const name of eachName) {
      const [serves, board] = contenders[name];
      const server = await startServer(serves);
      running.push({ name, server, fleet: new Fleet(server.url, board) });
    }
    // These servers get another 20,000 requests each, so half of the warm-up is enough.
    const few = { ...effort, warmUpMs: effort.warmUpMs / 2 };
    await warmUp(
      running.map(({ fleet }) => fleet),
      few,
    );
    const size = Math.ceil(users * effort.share);
    await inTurn(running, async ({ fleet }) => {
      await fleet.growTo(size);
      // Opens the connections.
      await fleet.drive(0);
    });
    const turns = Array.from({ length: rounds }, () => running).flat();
    await inTurn(turns, async ({ name, server, fleet }) => {
      const sent = (requests * effort.share) / rounds;
      const driven = await clocked(server, () => fleet.send(sent));
      timings.get(name)?.push(driven.timing);
      latencies[name].push(...driven.latencies);
      errors[name].push(...driven.errors);
    });
  } finally {
    await Promise.all(running.map(async ({ server }) => await server.stop()));
  }
  return { timings: new Timings(timings), latencies, errors };
}

/** Smallest value that the given part of all values does not exceed. */
function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil(sorted.length * part) - 1] ?? Number.NaN;
}
