import type { FigureId } from './figures.ts';
import type { Effort } from './harness.ts';
import type { Peers } from './peers/peers.ts';

/** What a row is given. */
export interface RowContext {
  readonly effort: Effort;
  /** The libraries to compare with; undefined where they are not installed, and then their places stay empty. */
  readonly peers: Peers | undefined;
}

/** What one run found for one figure. Times are processor times. */
export interface Finding {
  readonly figure: FigureId;
  readonly ours: number;
  /** Our time on the clock, if the figure is a time. */
  readonly wall?: number;
  /** The same of others; the first is the one that a ratio is taken to. */
  readonly peers: readonly { readonly name: string; readonly value: number }[];
}

/** One row of the bench: it finds what one or a few figures are about. */
export type Row = (context: RowContext) => Promise<readonly Finding[]>;
