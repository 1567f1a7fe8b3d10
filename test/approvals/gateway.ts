import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Load balancer with the public URL of the fleet. Each request goes to the next process. */
export interface Gateway {
  readonly url: string;
  /** Sets the processes that get requests. */
  route(targets: readonly URL[]): void;
  close(): void;
}

/** Starts a load balancer in this process. */
export async function startGateway(): Promise<Gateway> {
  let targets: readonly URL[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const target = targets[requests % targets.length];
    if (target === undefined) {
      response.writeHead(503).end();
      return;
    }
    const { method, url: path, headers } = request;
    const { hostname, port } = target;
    const upstream = send({ hostname, port, path, method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    upstream.on('error', () => response.destroy());
    request.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    route: (next) => void (targets = next),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
