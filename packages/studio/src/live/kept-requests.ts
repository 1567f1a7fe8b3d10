import type { Sent } from './sent-requests.ts';

/** State of the page that outlives a reload. The browser drops it with the tab. */
export interface Kept {
  readonly shown?: string | undefined;
  readonly lane: number;
  readonly sent: readonly Sent[];
}

const name = 'mcp-saga studio';

export function readKept(): Kept {
  return JSON.parse(sessionStorage.getItem(name) ?? '{"lane":0,"sent":[]}') as Kept;
}

/** Keeps the newest requests: their tokens must fit the quota of a tab. */
export function keep(kept: Kept): void {
  sessionStorage.setItem(name, JSON.stringify({ ...kept, sent: kept.sent.slice(-50) }));
}
