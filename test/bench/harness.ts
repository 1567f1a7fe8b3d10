import { performance } from 'node:perf_hooks';

/** How long to measure. The tests use the smallest there is; a figure needs the rounds. */
export interface Effort {
  /** How often every candidate gets its turn. */
  readonly rounds: number;
  /** Milliseconds of one turn: long enough to hold its share of garbage collection. */
  readonly turnMs: number;
  /** Milliseconds for which each candidate is run before anything counts. */
  readonly warmUpMs: number;
}

/** Effort of one run. The bench takes three. */
export const fullEffort: Effort = { rounds: 24, turnMs: 8, warmUpMs: 300 };
export const leastEffort: Effort = { rounds: 1, turnMs: 0, warmUpMs: 0 };

/** One of the things compared: does its work `times` times. */
export interface Candidate {
  readonly name: string;
  readonly run: (times: number) => void | Promise<void>;
}

/** Microseconds for one piece of work. */
export interface Timing {
  /** Processor time of all threads, by which figures are judged: other processes do not change it. */
  readonly cpu: number;
  /** Time on the clock. */
  readonly wall: number;
}

/** Timings of candidates in all rounds, by their names. */
export class Timings {
  readonly #rounds: ReadonlyMap<string, readonly Timing[]>;

  constructor(rounds: ReadonlyMap<string, readonly Timing[]>) {
    this.#rounds = rounds;
  }

  /** The medians of a candidate. */
  of(name: string): Timing {
    return medianOf(this.#rounds.get(name) ?? []);
  }

  /**
   * The processor time of a peer by the median of the ratios of all rounds. A disturbance of the machine affects both candidates
   * of a round.
   */
  peerOf(name: string, peer: string): number {
    const peers = this.#rounds.get(peer) ?? [];
    const ratios = (this.#rounds.get(name) ?? []).map(
      ({ cpu }, round) => cpu / (peers[round]?.cpu ?? Number.NaN),
    );
    return this.of(name).cpu / median(ratios);
  }
}

/**
 * Measures one piece of work of each candidate. The candidates take turns, round after round, so that the rest of the machine
 * affects all of them alike. The median of all rounds counts.
 */
export async function measure(candidates: readonly Candidate[], effort: Effort): Promise<Timings> {
  const measured: { readonly candidate: Candidate; readonly times: number; readonly rounds: Timing[] }[] = [];
  for (const candidate of candidates) {
    // oxlint-disable-next-line no-await-in-loop -- two at once would measure each other
    measured.push({ candidate, times: await warmUp(candidate, effort), rounds: [] });
  }
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const { candidate, times, rounds } of measured) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      const { cpu, wall } = await timed(candidate, times);
      rounds.push({ cpu: cpu / times, wall: wall / times });
    }
  }
  return new Timings(new Map(measured.map(({ candidate, rounds }) => [candidate.name, rounds])));
}

/** Runs a candidate until it is compiled, and finds how often it has to run to fill a turn. */
async function warmUp(candidate: Candidate, effort: Effort): Promise<number> {
  const until = performance.now() + effort.warmUpMs;
  let times = 1;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- the next number follows from this one
    const { wall } = await timed(candidate, times);
    const ms = wall / 1000;
    const isOver = performance.now() >= until;
    if (isOver) return Math.max(1, Math.round((times * effort.turnMs) / ms));
    if (ms < effort.turnMs) times *= 2;
  }
}

async function timed(candidate: Candidate, times: number): Promise<Timing> {
  const start = performance.now();
  const before = process.cpuUsage();
  const running = candidate.run(times);
  // A candidate that returns nothing does not pay for a promise.
  if (running !== undefined) await running;
  const { user, system } = process.cpuUsage(before);
  return { cpu: Math.max(user + system, 1e-3), wall: Math.max((performance.now() - start) * 1000, 1e-3) };
}

/** The median of the processor times, and that of the times on the clock. */
export function medianOf(timings: readonly Timing[]): Timing {
  return { cpu: median(timings.map(({ cpu }) => cpu)), wall: median(timings.map(({ wall }) => wall)) };
}

/** The value in the middle. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
