import type { Sources } from '../model/session.ts';

/**
 * Loads the code that `mcp-saga dev` serves. Returns `before` while nothing has changed, or without
 * an answer.
 */
export async function loadSources(before?: Sources): Promise<Sources | undefined> {
  const after = `${before?.version} ${before?.problem}`;
  const response = await fetch(`sources?${new URLSearchParams({ after })}`);
  return response.status === 200 ? ((await response.json()) as Sources) : before;
}
