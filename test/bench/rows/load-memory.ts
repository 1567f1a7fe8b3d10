import type { FigureId } from '../figures.ts';
import type { Effort } from '../harness.ts';
import { bytesOfEach, interpreted } from '../load/bytes-of-each.ts';
import type { Board } from '../load/clients/flight.ts';
import { inRounds } from '../load/clients/rounds.ts';
import { inSession } from '../load/clients/session.ts';
import { Fleet } from '../load/fleet.ts';
import { startServer, type ServerName } from '../load/server-process.ts';
import type { Usage } from '../load/usage.ts';
import type { Finding, Row } from '../row.ts';

const sizes = [1, 100, 1000] as const;
type Size = (typeof sizes)[number];

const contenders: readonly {
  readonly name: string;
  readonly serves: ServerName;
  readonly board: Board;
}[] = [
  { name: 'mcp-saga', serves: 'saga', board: inRounds },
  { name: 'by hand, SDK codec, signed only', serves: 'by-hand', board: inRounds },
  { name: 'by hand, sessions, calls left open', serves: 'sessions', board: inSession },
];

/** Measurements of a candidate. */
interface Subject {
  readonly name: string;
  readonly memory: Readonly<Record<Size, Usage>>;
  /** Bytes held per call in flight. */
  readonly each: number;
}

/**
 * Memory of a server process, by the number of calls in flight, each of which waits for its user.
 */
export const loadMemory: Row = async ({ effort }) => {
  const subjects: Subject[] = [];
  for (const { name, serves, board } of contenders) {
    const memory = await memoryOf(serves, board, effort);
    subjects.push({ name, memory, each: await heldForEach(serves, board, effort) });
  }
  const finding = (figure: FigureId, valueOf: (subject: Subject) => number): Finding => {
    const [ours, ...peers] = subjects.map((subject) => ({
      name: subject.name,
      value: valueOf(subject),
    }));
    return { figure, ours: ours?.value ?? Number.NaN, peers };
  };
  return [
    ...sizes.map((size) => finding(`load-heap-${size}`, ({ memory }) => memory[size].heap / 1e6)),
    ...sizes.map((size) => finding(`load-rss-${size}`, ({ memory }) => memory[size].rss / 1e6)),
    finding('load-saga', ({ each }) => each),
  ];
};

async function memoryOf(
  serves: ServerName,
  board: Board,
  effort: Effort,
): Promise<Record<Size, Usage>> {
  const server = await startServer(serves);
  try {
    const fleet = new Fleet(server.url, board);
    const found: Partial<Record<Size, Usage>> = {};
    for (const size of sizes) {
      await fleet.growTo(Math.min(size, effort.rounds * 50));
      await fleet.drive(effort.turnMs * 60, 16);
      found[size] = await server.memory();
    }
    return found as Record<Size, Usage>;
  } finally {
    await server.stop();
  }
}

async function heldForEach(serves: ServerName, board: Board, { rounds }: Effort): Promise<number> {
  const step = Math.max(10, rounds * 10);
  const server = await startServer(serves, { flags: interpreted });
  try {
    return await bytesOfEach(server, board, [step, 2 * step, 3 * step, 4 * step]);
  } finally {
    await server.stop();
  }
}
