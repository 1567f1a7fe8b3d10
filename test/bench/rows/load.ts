import { sizes, type FigureId } from '../figures.ts';
import { Timings, type Effort, type Timing } from '../harness.ts';
import { inCalls } from '../load/clients/calls.ts';
import type { Board } from '../load/clients/flight.ts';
import { inRounds } from '../load/clients/rounds.ts';
import { inSession } from '../load/clients/session.ts';
import { Fleet } from '../load/fleet.ts';
import { startServer, type ServerName, type ServerProcess } from '../load/server-process.ts';
import { inTurn, timed, warmUp } from '../load/timed.ts';
import type { Finding, Row } from '../row.ts';

type Size = (typeof sizes)[number];

interface Contender {
  readonly name: string;
  readonly serves: ServerName;
  readonly board: Board;
  /** Number of concurrent requests. Default: all sizes. */
  readonly only?: Size;
}

const contenders = {
  saga: { name: 'mcp-saga', serves: 'saga', board: inRounds },
  byHand: { name: 'by hand, SDK codec, signed only', serves: 'by-hand', board: inRounds },
  memoized: { name: 'by hand, with memoized schemas', serves: 'by-hand-memoized', board: inRounds },
  trivial: { name: "the SDK's trivial tool", serves: 'trivial', board: inCalls },
  floor: { name: 'node:http', serves: 'node-http', board: inCalls },
  thousand: { name: 'with 1,000 sagas', serves: 'saga-1000', board: inRounds, only: 100 },
  sessions: {
    name: 'by hand, sessions, calls left open',
    serves: 'sessions',
    board: inSession,
    only: 100,
  },
} as const satisfies Record<string, Contender>;

type Name = keyof typeof contenders;

/**
 * Processor time of a server per HTTP request, with 1, 100, and 2,000 concurrent requests. The tool
 * asks two questions in sequence. The candidates are a saga, the SDK with its codec, and the SDK
 * with a session whose handler waits on the server. A tool without questions and a bare HTTP server
 * show the minimum.
 */
export const load: Row = async ({ effort }) => {
  const timings = await findTimings(effort);
  const finding = (figure: FigureId, size: Size, names: readonly [Name, ...Name[]]): Finding => {
    const [name, ...others] = names;
    const ours = timings.of(`${name} ${size}`);
    const peers = others.map((other) => ({
      name: contenders[other].name,
      value: timings.peerOf(`${name} ${size}`, `${other} ${size}`),
    }));
    return { figure, ours: ours.cpu, wall: ours.wall, peers };
  };
  return [
    ...sizes.map((size) =>
      finding(`load-by-hand-${size}`, size, ['saga', 'byHand', 'memoized', 'floor']),
    ),
    ...sizes.map((size) => finding(`load-trivial-${size}`, size, ['saga', 'trivial'])),
    finding('load-sessions', 100, ['saga', 'sessions']),
    finding('load-sagas', 100, ['thousand', 'saga']),
  ];
};

const ordered: readonly Size[] = [100, 1, 2000];

interface Running {
  readonly id: string;
  readonly only: Size | undefined;
  readonly server: ServerProcess;
  readonly fleet: Fleet;
}

/** Measures the time per request, by candidate and size. */
async function findTimings(effort: Effort): Promise<Timings> {
  const running: Running[] = [];
  const found = new Map<string, Timing[]>();
  try {
    await inTurn(Object.entries<Contender>(contenders), async ([id, { serves, board, only }]) => {
      const server = await startServer(serves);
      running.push({ id, only, server, fleet: new Fleet(server.url, board) });
    });
    await warmUp(
      running.map(({ fleet }) => fleet),
      effort,
    );
    // First the size of all servers: V8 drops code of a server that idles while another size is
    // measured.
    await inTurn(ordered, async (size) => {
      const all = running.filter(({ only = size }) => only === size);
      const atOnce = inFlight(size, effort);
      await inTurn(all, async ({ fleet }) => {
        await fleet.growTo(atOnce);
        // Opens the connections.
        await fleet.drive(0, atOnce);
      });
      // The candidates take turns, so that a disturbance of the machine affects all of them alike.
      // A round with 2,000 concurrent requests contains as many requests as all rounds of another
      // size.
      const rounds = Math.ceil(effort.rounds / (size > 100 ? 8 : 3));
      const turns = Array.from({ length: rounds }, () => all).flat();
      await inTurn(turns, async ({ id, server, fleet }) => {
        const key = `${id} ${size}`;
        const timing = await timed(server, fleet, { ms: effort.turnMs * 15, atOnce });
        found.set(key, [...(found.get(key) ?? []), timing]);
      });
    });
  } finally {
    await Promise.all(running.map(async ({ server }) => await server.stop()));
  }
  return new Timings(found);
}

/** Number of users; smaller for the minimum effort of the tests. */
function inFlight(size: Size, { rounds }: Effort): number {
  return Math.min(size, rounds * 100);
}
