import type { Code, Session } from './session.ts';
import type { CaseView, Cell, Lane, LensView, Misfit } from './view.ts';

/** Code, and what the person does with it. */
export type Run = { readonly code: Code; readonly session: Session };

export type Request =
  | ({ readonly type: 'play' } & Run)
  | ({ readonly type: 'upgrade'; readonly next: Code } & Run)
  | ({ readonly type: 'record'; readonly lane: number } & Run)
  | ({ readonly type: 'lens'; readonly lane: number; readonly point: number } & Run)
  | { readonly type: 'explore'; readonly code: Code }
  | { readonly type: 'case'; readonly code: Code; readonly cell: Cell };

/** Last message of a worker about a request. */
export type LastReply = { readonly type: 'failed'; readonly message: string } | { readonly type: 'done' };

/** Result of each request but `explore`. */
export interface Results {
  readonly play: readonly Lane[];
  readonly upgrade: readonly Misfit[];
  readonly record: string;
  readonly lens: LensView;
  readonly case: CaseView;
}

/** Message before the last one: of `explore` a cell, or a mistake in the undisturbed run. `started`: the time of the code begins. */
export type Reply =
  | { readonly type: 'started' }
  | { readonly type: 'cell'; readonly cell: Cell }
  | { readonly type: 'baseline'; readonly message: string }
  | { readonly type: 'result'; readonly result: Results[keyof Results] };
