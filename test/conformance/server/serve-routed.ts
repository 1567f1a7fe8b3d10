import { isLegacyRequest } from '@modelcontextprotocol/server';
import { serveSessions, version2 } from './serve-sessions.ts';
import { serveStateless } from './serve-stateless.ts';

/** Serves clients of 2025 in sessions, and those of 2026 without. */
export async function serveRouted(): Promise<(request: Request) => Promise<Response>> {
  const stateless = await serveStateless();
  const sessions = serveSessions(version2);
  return async (request) =>
    (await isLegacyRequest(request)) ? await sessions(request) : await stateless(request);
}
