import type { CompiledFile, Session } from './session.ts';
import type { CaseView, Cell, Explorer, Lane, LensView, Misfit } from './view.ts';

/** Code, and what the person does with it. */
export interface Run {
  readonly files: readonly CompiledFile[];
  readonly session: Session;
}

/** Request to the worker. */
export type Request =
  | ({ readonly type: 'play' } & Run)
  | ({ readonly type: 'upgrade'; readonly next: readonly CompiledFile[] } & Run)
  | ({ readonly type: 'record'; readonly lane: number } & Run)
  | ({ readonly type: 'lens' | 'tamper'; readonly lane: number; readonly point: number } & Run)
  | { readonly type: 'explore'; readonly files: readonly CompiledFile[] }
  | { readonly type: 'case'; readonly files: readonly CompiledFile[]; readonly cell: Cell };

/** What the client and the operator see of a changed token. */
export interface Refusal {
  readonly client: string;
  readonly operator: string;
}

/** Last message of a worker about a request. */
export type LastReply = { readonly type: 'failed'; readonly message: string } | { readonly type: 'done' };

/** Message of the worker before the last one. */
export type Reply =
  | { readonly type: 'lanes'; readonly lanes: readonly Lane[] }
  | { readonly type: 'cell'; readonly cell: Cell }
  | { readonly type: 'baseline'; readonly explorer: Explorer; readonly message: string }
  | { readonly type: 'case'; readonly case: CaseView }
  | { readonly type: 'lens'; readonly lens: LensView }
  | { readonly type: 'refusal'; readonly refusal: Refusal }
  | { readonly type: 'misfits'; readonly misfits: readonly Misfit[] }
  | { readonly type: 'recording'; readonly text: string };
