import { afterEach, describe, expect, it } from 'vitest';
import { bytesOfEach, interpreted } from './bytes-of-each.ts';
import { inRounds } from './clients/rounds.ts';
import { inSession } from './clients/session.ts';
import { startServer, type ServerName, type ServerProcess } from './server-process.ts';

// Thousands of requests, to a process that compiles nothing.
const timeout = 240_000;
const servers: ServerProcess[] = [];

afterEach(async () => {
  await Promise.all(servers.splice(0).map(async (server) => await server.stop()));
});

async function serve(name: ServerName): Promise<ServerProcess> {
  const server = await startServer(name, interpreted);
  servers.push(server);
  return server;
}

describe('a process that serves', () => {
  it(
    '[P2] keeps nothing of sagas that are suspended, and goes on with them',
    async () => {
      const server = await serve('saga');
      const first = await inRounds(server.url);
      // The least that a saga could leave behind, its id in a set, is 50 bytes.
      expect(await bytesOfEach(server, inRounds, [1000, 2000, 3000, 4000])).toBeLessThan(32);
      expect(await first.next()).toEqual({ requests: 1 });
      expect(await first.next()).toEqual({ requests: 2, told: 'web goes to production at 22:00.' });
    },
    timeout,
  );

  it(
    'is seen to keep what it keeps: a session and its open call',
    async () => {
      const server = await serve('sessions');
      expect(await bytesOfEach(server, inSession, [50, 100, 150])).toBeGreaterThan(1024);
    },
    timeout,
  );
});
