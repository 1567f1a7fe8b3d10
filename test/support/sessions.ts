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
 * client's capabilities. Another process knows none of them.
 * @param makeId - default: a random ID
 */
export function sessions(
  start: (options: SessionOptions) => Promise<SessionTransport>,
  makeId: () => string = () => crypto.randomUUID(),
): (request: Request) => Promise<Response> {
  const started = new Map<string, SessionTransport>();
  return async (request) => {
    const known = request.headers.get('mcp-session-id');
    if (known !== null)
      return (
        (await started.get(known)?.handleRequest(request)) ?? new Response(null, { status: 404 })
      );
    const transport = await start({
      sessionIdGenerator: makeId,
      onsessioninitialized: (id) => void started.set(id, transport),
    });
    return await transport.handleRequest(request);
  };
}
