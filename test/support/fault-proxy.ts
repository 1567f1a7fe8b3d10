import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/**
 * Faults of a connection:
 *
 * - `cutRequest`: the next request is cut before the server receives it
 * - `cutReply`: the server receives the next request, and the connection is cut before the reply
 * - `hold`: replies are held back until the fault ends
 */
export type Fault = 'none' | 'cutRequest' | 'cutReply' | 'hold';

/** A proxy between clients and a local server that disturbs their connections. */
export interface FaultProxy {
  readonly port: number;
  /** Sets the fault of all connections. `none` also releases the replies held back. */
  set(fault: Fault): void;
  close(): void;
}

/** Starts a proxy to a local port. */
export async function startFaultProxy(port: number): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let held: (() => void)[] = [];
  let fault: Fault = 'none';
  const server = createServer((client) => {
    const upstream = connect(port, '127.0.0.1');
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        sockets.delete(socket);
        cut();
      });
    }
    client.on('data', (bytes) => {
      if (fault === 'cutRequest') cut();
      else upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (fault === 'cutReply') cut();
      else if (fault === 'hold') held.push(() => void client.write(bytes));
      else client.write(bytes);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    port: address.port,
    set: (next) => {
      fault = next;
      if (next !== 'none') return;
      const due = held;
      held = [];
      for (const handOn of due) handOn();
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
