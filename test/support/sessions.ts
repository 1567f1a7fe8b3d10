/** Handles the requests of one session: a transport of either SDK version. */
export interface SessionTransport {
  handleRequest(request: Request): Promise<Response>;
}

/** Options of a transport with sessions. */
export interface SessionOptions {
  readonly sessionIdGenerator: () => string;
  readonly onsessioninitialized: (id: string) => void;
}

/**
 * Sessions of 2025, in which the server asks. Each session has its own server, which stores the
 * client's capabilities.
 */
export function sessions(
  start: (options: SessionOptions) => Promise<SessionTransport>,
): (request: Request) => Promise<Response> {
  const started = new Map<string, SessionTransport>();
  return async (request) => {
    const known = started.get(request.headers.get('mcp-session-id') ?? '');
    if (known !== undefined) return await known.handleRequest(request);
    const transport = await start({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void started.set(id, transport),
    });
    return await transport.handleRequest(request);
  };
}
