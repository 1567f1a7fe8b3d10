import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Starts a server that cannot choose a port itself. Tries other ports if it fails: another process
 * may take the free port first.
 *
 * @throws the error of the fifth start
 */
export async function startOnFreePort<T>(
  start: (port: number) => Promise<T>,
): Promise<{ readonly port: number; readonly started: T }> {
  for (let tries = 1; ; tries += 1) {
    const port = await freePort();
    try {
      return { port, started: await start(port) };
    } catch (error) {
      if (tries === 5) throw error;
    }
  }
}

/** Finds an unused port of 127.0.0.1. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
