import type * as Built from '#examples/others.js';
import type { Code, Example, LoadedCode, Session } from '../model/session.ts';
import type { CaseView, Cell } from '../model/view.ts';
import type { EngineWorker } from '../parts/engine-client.ts';

/** Case of the crash matrix, and its run; undefined while it runs. */
export type ShownCase = { readonly cell: Cell; readonly run?: CaseView | undefined };

/** What the ladder shows: a lane of the session, or a case. */
export type Shown = { readonly lane: number } | ShownCase;

/** Where the page is: on a site, or served by `mcp-saga dev`. */
export interface Home {
  readonly examples: readonly Example[];
  readonly startWorker: () => EngineWorker;
  /** Loads other examples, too. Absent if the code is on a disk: the page only reads it, and its steps may have real effects. */
  readonly loadCompiler?: () => Promise<typeof Built | undefined>;
}

/** Adds the arguments of the person to a saga without a script. */
export function withInput(code: Code, { input }: Session): Code {
  return Array.isArray(code) || input === undefined ? code : { ...(code as LoadedCode), input };
}
