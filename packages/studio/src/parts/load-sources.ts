import type { Sources } from '../model/session.ts';

/** Loads the code that `mcp-saga dev` serves; undefined if the page has this version. */
export async function loadSources(after?: number): Promise<Sources | undefined> {
  const response = await fetch(`sources?after=${after ?? ''}`);
  return response.status === 200 ? ((await response.json()) as Sources) : undefined;
}
