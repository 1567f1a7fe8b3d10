import { setImmediate } from 'node:timers/promises';
import { FastResponse, serve } from 'srvx';
import type { Question, Usage } from '../usage.ts';

/** Maximum number of connections that wait for accept: thousands may arrive at once. */
export const backlog = { backlog: 4096 };

/** Serves over HTTP on a free port, and reports the URL and the usage to the parent process. */
export async function serveMeasured(fetch: (request: Request) => Promise<Response>): Promise<void> {
  // For all servers alike, as docs/operate/node.md recommends.
  globalThis.Response = FastResponse;
  const server = serve({
    fetch,
    hostname: '127.0.0.1',
    port: 0,
    silent: true,
    // Sockets stay open, otherwise the bench would measure opening and closing connections.
    node: { keepAliveTimeout: 3_600_000, ...backlog },
  });
  await server.ready();
  reportUsage(server.url ?? '');
}

/** Tells the parent process the URL of the server, and answers its questions. */
export function reportUsage(url: string): void {
  process.on(
    'message',
    (question: Question) => void usage(question).then((told) => process.send?.(told)),
  );
  // The parent process has ended.
  process.on('disconnect', () => process.exit());
  process.send?.({ url });
}

async function usage(question: Question): Promise<Usage> {
  if (question === 'memory') await collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return { heap: heapUsed + external, rss, cpu: user + system };
}

/** Runs several garbage collections, because finalized objects are only freed in the next one. */
async function collect(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    await setImmediate();
    globalThis.gc?.();
  }
}
