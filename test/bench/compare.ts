import type { FigureId } from './figures.ts';
import { measure, type Candidate, type Effort } from './harness.ts';
import type { Finding } from './row.ts';

/** Measures candidates for a figure: ours first, then its peers. */
export async function compare(
  figure: FigureId,
  candidates: readonly [Candidate, ...Candidate[]],
  effort: Effort,
): Promise<Finding> {
  const timings = await measure(candidates, effort);
  const [ours, ...peers] = candidates;
  const { cpu, wall } = timings.of(ours.name);
  return {
    figure,
    ours: cpu,
    wall,
    peers: peers.map(({ name }) => ({ name, value: timings.peerOf(ours.name, name) })),
  };
}
