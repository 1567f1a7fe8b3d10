import type { Code, Fork, Session } from './session.ts';
import type { CaseView, Cell, Lane, LensView, Misfit } from './view.ts';

export type Run = { readonly code: Code; readonly session: Session };

export type Request =
  | ({ readonly type: 'play' } & Run)
  | ({ readonly type: 'upgrade'; readonly next: Code } & Run)
  | ({ readonly type: 'record'; readonly lane: number } & Run)
  | ({ readonly type: 'lens'; readonly isChanged: boolean } & Pick<Fork, 'lane' | 'point'> & Run)
  | { readonly type: 'explore'; readonly code: Code }
  | { readonly type: 'case'; readonly code: Code; readonly cell: Cell };

export type Failed = { readonly type: 'failed'; readonly message: string };

/** Last message of a worker about a request. */
export type LastReply = Failed | { readonly type: 'done'; readonly result?: unknown };

/** Result of each request but `explore`. */
export interface Results {
  readonly play: readonly Lane[];
  readonly upgrade: readonly Misfit[];
  readonly record: string;
  readonly lens: LensView;
  readonly case: CaseView;
}

/**
 * Message before the last one: of `explore` a cell, or a mistake in the undisturbed run. `started`:
 * the time of the code begins.
 */
export type Reply =
  | { readonly type: 'started' }
  | { readonly type: 'cell'; readonly cell: Cell }
  | { readonly type: 'baseline'; readonly message: string };
