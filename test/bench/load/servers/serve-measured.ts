import { setImmediate } from 'node:timers/promises';
import { serve } from 'srvx';
import type { Question, Usage } from '../usage.ts';

/** Connections that wait to be accepted: thousands may come at once. */
export const backlog = { backlog: 4096 };

/** Serves over HTTP on a free port, and tells the process that started this one where, and what it costs so far. */
export async function serveMeasured(fetch: (request: Request) => Promise<Response>): Promise<void> {
  const server = serve({
    fetch,
    hostname: '127.0.0.1',
    port: 0,
    silent: true,
    // Sockets stay as many as they are, or their coming and going is measured.
    node: { keepAliveTimeout: 3_600_000, ...backlog },
  });
  await server.ready();
  reportUsage(server.url ?? '');
}

/** Tells the parent process the URL of the server, and answers its questions. */
export function reportUsage(url: string): void {
  process.on('message', (question: Question) => void usage(question).then((told) => process.send?.(told)));
  // The parent process is gone.
  process.on('disconnect', () => process.exit());
  process.send?.({ url });
}

async function usage(question: Question): Promise<Usage> {
  if (question === 'memory') await collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  return { heap: heapUsed + external, rss, cpu: user + system };
}

/** Several times, since what is finalized in one round is only free in the next. */
async function collect(): Promise<void> {
  for (let round = 0; round < 4; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other
    await setImmediate();
    globalThis.gc?.();
  }
}
