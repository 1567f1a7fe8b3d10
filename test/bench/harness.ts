import { performance } from 'node:perf_hooks';

/** Duration of a measurement. Tests use the minimum; a meaningful figure needs all rounds. */
export interface Effort {
  /** Number of turns per candidate. */
  readonly rounds: number;
  /** Milliseconds of one turn: long enough to hold its share of garbage collection. */
  readonly turnMs: number;
  /** Time for which each candidate runs before the measurement, in milliseconds. */
  readonly warmUpMs: number;
  /** Part of the users, requests, or sagas of a count that the figure names. */
  readonly share: number;
}

/** Effort of one run. The bench makes three runs. */
export const fullEffort: Effort = { rounds: 24, turnMs: 8, warmUpMs: 300, share: 1 };
export const leastEffort: Effort = { rounds: 1, turnMs: 0, warmUpMs: 0, share: 0.01 };

/** A compared candidate: runs its work `times` times. */
export interface Candidate {
  readonly name: string;
  readonly run: (times: number) => void | Promise<void>;
}

/** Time per unit of work, in microseconds. */
export interface Timing {
  /** Processor time of all threads. Figures use it because other processes do not affect it. */
  readonly cpu: number;
  /** Wall-clock time. */
  readonly wall: number;
}

/** Timings of all rounds, by candidate name. */
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
   * Processor time of a peer, from the median ratio over all rounds. A disturbance of the machine
   * affects both candidates of a round, so it does not change the ratio.
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
 * Measures one unit of work of each candidate, and returns the median of all rounds. The candidates
 * take turns, so that a disturbance of the machine affects all of them alike.
 */
export async function measure(candidates: readonly Candidate[], effort: Effort): Promise<Timings> {
  const measured: {
    readonly candidate: Candidate;
    readonly times: number;
    readonly rounds: Timing[];
  }[] = [];
  for (const candidate of candidates) {
    measured.push({ candidate, times: await warmUp(candidate, effort), rounds: [] });
  }
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const { candidate, times, rounds } of measured) {
      const { cpu, wall } = await timed(candidate, times);
      rounds.push({ cpu: cpu / times, wall: wall / times });
    }
  }
  return new Timings(new Map(measured.map(({ candidate, rounds }) => [candidate.name, rounds])));
}

/** Runs a candidate until it is compiled, and finds the number of repetitions that fills a turn. */
async function warmUp(candidate: Candidate, effort: Effort): Promise<number> {
  const until = performance.now() + effort.warmUpMs;
  let times = 1;
  for (;;) {
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
  // A synchronous candidate does not pay for a promise.
  if (running !== undefined) await running;
  const { user, system } = process.cpuUsage(before);
  return {
    cpu: Math.max(user + system, 1e-3),
    wall: Math.max((performance.now() - start) * 1000, 1e-3),
  };
}

/** Medians of the processor times and of the wall-clock times. */
export function medianOf(timings: readonly Timing[]): Timing {
  return {
    cpu: median(timings.map(({ cpu }) => cpu)),
    wall: median(timings.map(({ wall }) => wall)),
  };
}

/** Median of some values. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}
