import type { FigureId } from '../figures.ts';
import type { Effort } from '../harness.ts';
import { bytesOfEach, interpreted } from '../load/bytes-of-each.ts';
import type { Board } from '../load/clients/flight.ts';
import { inRounds } from '../load/clients/rounds.ts';
import { inSession } from '../load/clients/session.ts';
import { Fleet } from '../load/fleet.ts';
import { startServer, type ServerName, type ServerProcess } from '../load/server-process.ts';
import type { Finding, Row } from '../row.ts';

const sizes = [1, 100, 1000] as const;
type Size = (typeof sizes)[number];

/**
 * A tool that asks two questions, one after the other, over HTTP: requests a second and memory of one process, by how
 * many calls are in flight, each of which waits for its user. As a saga; written by hand with the SDK's words and its
 * signing codec; and written by hand for sessions, where the handler waits on the server.
 */
export const load: Row = async ({ effort }) => {
  const subjects = contenders.map(toSubject);
  await findSpeed(subjects, effort);
  // In other processes: to collect what is garbage is to throw away compiled code as well.
  await inTurn(subjects, async (subject) => await findMemory(subject, effort));
  await inTurn(subjects, async (subject) => await findEach(subject, effort));
  return [
    ...sizes.map((size) => finding(`load-requests-${size}`, subjects, ({ rates }) => median(rates[size]))),
    ...sizes.map((size) => finding(`load-cpu-${size}`, subjects, ({ cpu }) => median(cpu[size]))),
    ...sizes.map((size) => finding(`load-heap-${size}`, subjects, ({ heap }) => heap[size] / 1e6)),
    ...sizes.map((size) => finding(`load-rss-${size}`, subjects, ({ rss }) => rss[size] / 1e6)),
    finding('load-saga', subjects, ({ each }) => each),
  ];
};

interface Contender {
  readonly name: string;
  readonly serves: ServerName;
  readonly board: Board;
}

const contenders: readonly Contender[] = [
  { name: 'mcp-saga', serves: 'saga', board: inRounds },
  { name: 'by hand, SDK codec, signed only', serves: 'by-hand', board: inRounds },
  { name: 'by hand, sessions, calls left open', serves: 'sessions', board: inSession },
];

/** What was found of a contender. */
interface Subject extends Contender {
  /** Requests a second, in each round. */
  readonly rates: Record<Size, number[]>;
  /** Microseconds of processor time that a request took, in each round. */
  readonly cpu: Record<Size, number[]>;
  /** Bytes, once nothing is held that is not needed. */
  readonly heap: Record<Size, number>;
  readonly rss: Record<Size, number>;
  /** Bytes that are held for each call in flight. */
  each: number;
}

function toSubject(contender: Contender): Subject {
  const none = { 1: Number.NaN, 100: Number.NaN, 1000: Number.NaN };
  return {
    ...contender,
    rates: { 1: [], 100: [], 1000: [] },
    cpu: { 1: [], 100: [], 1000: [] },
    heap: { ...none },
    rss: { ...none },
    each: Number.NaN,
  };
}

async function findSpeed(subjects: readonly Subject[], effort: Effort): Promise<void> {
  const running: { readonly subject: Subject; readonly server: ServerProcess; readonly fleet: Fleet }[] = [];
  try {
    await inTurn(subjects, async (subject) => {
      const server = await startServer(subject.serves);
      running.push({ subject, server, fleet: new Fleet(server.url, subject.board) });
    });
    await inTurn(running, async ({ fleet }) => await warmUp(fleet, effort));
    await inTurn(sizes, async (size) => {
      await inTurn(running, async ({ fleet }) => await fleet.growTo(inFlight(size, effort)));
      // They take turns, so that what else the machine does meets all alike.
      const rounds = Array.from({ length: Math.ceil(effort.rounds / 6) }, () => running).flat();
      await inTurn(rounds, async ({ subject, server, fleet }) => {
        const before = await server.usage();
        const { requests, ms } = await fleet.drive(effort.turnMs * 30);
        const after = await server.usage();
        subject.rates[size].push((requests / ms) * 1000);
        subject.cpu[size].push((after.cpu - before.cpu) / requests);
      });
    });
  } finally {
    await Promise.all(running.map(async ({ server }) => await server.stop()));
  }
}

/** So many calls; fewer where next to nothing is to be measured, as in the tests. */
function inFlight(size: Size, { rounds }: Effort): number {
  return Math.min(size, rounds * 20);
}

/** As many requests as it takes until the compiler has nothing more to do: with 8,000, what one costs no longer falls. */
async function warmUp(fleet: Fleet, { warmUpMs }: Effort): Promise<void> {
  await fleet.growTo(1);
  for (let requests = 0; requests < warmUpMs * 20;) {
    // oxlint-disable-next-line no-await-in-loop -- until it is warm
    requests += (await fleet.drive(100)).requests;
  }
}

async function findMemory({ serves, board, heap, rss }: Subject, effort: Effort): Promise<void> {
  await withServer(await startServer(serves), async (server) => {
    const fleet = new Fleet(server.url, board);
    await inTurn(sizes, async (size) => {
      await fleet.growTo(inFlight(size, effort));
      await fleet.drive(effort.turnMs * 60);
      const memory = await server.memory();
      heap[size] = memory.heap;
      rss[size] = memory.rss;
    });
  });
}

async function findEach(subject: Subject, { rounds }: Effort): Promise<void> {
  const step = Math.max(10, rounds * 4);
  await withServer(await startServer(subject.serves, interpreted), async (server) => {
    subject.each = await bytesOfEach(server, subject.board, [step, 2 * step, 3 * step, 4 * step]);
  });
}

async function withServer(
  server: ServerProcess,
  use: (server: ServerProcess) => Promise<void>,
): Promise<void> {
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}

/** One after the other: two at once would measure each other. */
async function inTurn<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  for (const item of items) {
    // oxlint-disable-next-line no-await-in-loop -- this is what it is for
    await run(item);
  }
}

function finding(
  figure: FigureId,
  subjects: readonly Subject[],
  valueOf: (subject: Subject) => number,
): Finding {
  const [ours, ...peers] = subjects.map((subject) => ({ name: subject.name, value: valueOf(subject) }));
  return { figure, ours: ours?.value ?? Number.NaN, peers };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
