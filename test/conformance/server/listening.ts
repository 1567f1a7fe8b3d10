import { serve } from 'srvx';

/** A server on a port of its own. */
export interface Listening {
  readonly url: string;
  close(): Promise<void>;
}

/** Serves on a free port of 127.0.0.1. */
export async function listen(fetch: (request: Request) => Promise<Response>): Promise<Listening> {
  const server = serve({
    fetch,
    hostname: '127.0.0.1',
    port: 0,
    silent: true,
    gracefulShutdown: false,
  });
  await server.ready();
  return { url: new URL('/mcp', server.url).href, close: () => server.close(true) };
}
