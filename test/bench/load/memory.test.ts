import { afterEach, describe, expect, it } from 'vitest';
import { bytesOfEach, interpreted } from './bytes-of-each.ts';
import { inRounds } from './clients/rounds.ts';
import { inSession } from './clients/session.ts';
import { startServer, type ServerName, type ServerProcess } from './server-process.ts';

// Thousands of requests to an interpreted process take long.
const timeout = 240_000;
const servers: ServerProcess[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map(async (server) => await server.stop()));
});

async function serve(name: ServerName): Promise<ServerProcess> {
  const server = await startServer(name, { flags: interpreted });
  servers.push(server);
  return server;
}

describe('a serving process', () => {
  it(
    '[P2] keeps no memory of suspended sagas, and continues them',
    async () => {
      const server = await serve('saga');
      const first = await inRounds(server.url);
      // The smallest possible leak of a saga, its ID in a set, takes 50 bytes.
      expect(await bytesOfEach(server, inRounds, [1000, 2000, 3000, 4000])).toBeLessThan(32);
      const time = expect.any(Number) as number;
      expect(await first.next()).toEqual({ latencies: [time] });
      const told = 'web goes to production at 22:00.';
      expect(await first.next()).toEqual({ latencies: [time, time], told });
    },
    timeout,
  );

  it(
    'is measured with the memory of a session and its open call',
    async () => {
      const server = await serve('sessions');
      expect(await bytesOfEach(server, inSession, [50, 100, 150])).toBeGreaterThan(1024);
    },
    timeout,
  );
});
