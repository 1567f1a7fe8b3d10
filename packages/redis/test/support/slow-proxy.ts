import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** Stands between clients and Redis, and can hold back what Redis answers. */
export interface SlowProxy {
  readonly url: string;
  /** From here on it holds back. */
  hold(): void;
  /** Passes the delayed data on. */
  letGo(): void;
  close(): void;
}

/** Starts a proxy to a port of this machine. */
export async function startSlowProxy(port: number): Promise<SlowProxy> {
  const sockets: Socket[] = [];
  const held: (() => void)[] = [];
  let holds = false;
  const server = createServer((client) => {
    const redis = connect(port, '127.0.0.1');
    sockets.push(client, redis);
    client.pipe(redis);
    redis.on('data', (bytes) => {
      const handOn = (): void => void client.write(bytes);
      if (holds) held.push(handOn);
      else handOn();
    });
    for (const [one, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    hold: () => void (holds = true),
    letGo: () => {
      holds = false;
      for (const handOn of held.splice(0)) handOn();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
