import type { Sources } from '../model/session.ts';

/** Loads the code that `mcp-saga dev` serves. Returns `before` while the version is the same, or without an answer. */
export async function loadSources(before?: Sources): Promise<Sources | undefined> {
  const response = await fetch(`sources?after=${before?.version ?? ''}`);
  return response.status === 200 ? ((await response.json()) as Sources) : before;
}
