import type { FigureId } from './figures.ts';
import type { Effort } from './harness.ts';
import type { Peers } from './peers/peers.ts';

/** Input of a row. */
export interface RowContext {
  readonly effort: Effort;
  /** The compared libraries. Undefined if they are not installed; their cells then stay empty. */
  readonly peers: Peers | undefined;
}

/** Result of one run for one figure. Times are processor times. */
export interface Finding {
  readonly figure: FigureId;
  readonly ours: number;
  /** Our wall-clock time, if the figure is a time. */
  readonly wall?: number;
  /** Values of the peers. The ratio uses the first peer. */
  readonly peers: readonly { readonly name: string; readonly value: number }[];
}

/** One row of the bench: measures one or more figures. */
export type Row = (context: RowContext) => Promise<readonly Finding[]>;
