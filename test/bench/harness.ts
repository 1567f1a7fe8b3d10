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

export const fullEffort: Effort = { rounds: 60, turnMs: 8, warmUpMs: 400 };
export const leastEffort: Effort = { rounds: 1, turnMs: 0, warmUpMs: 0 };

/** One of the things compared: does its work `times` times. */
export interface Candidate {
  readonly name: string;
  readonly run: (times: number) => void | Promise<void>;
}

/**
 * Microseconds for one piece of work of each candidate. The candidates take turns, round after round, so that what
 * else the machine does meets all alike; of all rounds the tenth percentile counts, which noise cannot push down.
 */
export async function measure(
  candidates: readonly Candidate[],
  effort: Effort,
): Promise<ReadonlyMap<string, number>> {
  const measured: { readonly candidate: Candidate; readonly times: number; readonly rounds: number[] }[] = [];
  for (const candidate of candidates) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, or they would measure each other
    measured.push({ candidate, times: await warmUp(candidate, effort), rounds: [] });
  }
  for (let round = 0; round < effort.rounds; round += 1) {
    for (const { candidate, times, rounds } of measured) {
      // oxlint-disable-next-line no-await-in-loop -- as above
      rounds.push((await timed(candidate, times)) / times);
    }
  }
  return new Map(measured.map(({ candidate, rounds }) => [candidate.name, tenthPercentile(rounds) * 1000]));
}

/** Runs a candidate until it is compiled, and finds how often it has to run to fill a turn. */
async function warmUp(candidate: Candidate, effort: Effort): Promise<number> {
  const until = performance.now() + effort.warmUpMs;
  let times = 1;
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- the next number follows from this one
    const ms = await timed(candidate, times);
    const isOver = performance.now() >= until;
    if (isOver) return Math.max(1, Math.round((times * effort.turnMs) / ms));
    if (ms < effort.turnMs) times *= 2;
  }
}

async function timed(candidate: Candidate, times: number): Promise<number> {
  const start = performance.now();
  const running = candidate.run(times);
  // Nothing to await, nothing to pay for it.
  if (running !== undefined) await running;
  return Math.max(performance.now() - start, 1e-6);
}

/** The value below which a tenth of them lie. */
export function tenthPercentile(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor((sorted.length - 1) / 10)] ?? Number.NaN;
}
