/** What answers the requests of one session: a transport of either version of the SDK. */
export interface SessionTransport {
  handleRequest(request: Request): Promise<Response>;
}

/** What a transport is told, to keep a session. */
export interface SessionOptions {
  readonly sessionIdGenerator: () => string;
  readonly onsessioninitialized: (id: string) => void;
}

/** Sessions of 2025, in which the server asks: a server for each, which remembers its client. */
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
