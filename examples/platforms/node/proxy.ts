import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createProxyServer } from 'httpxy';

/** A load balancer in front of server processes. */
export interface Proxy {
  readonly url: URL;
  stop(): void;
}

/** Alternates requests between `servers`. The list may change at any time. */
export async function startProxy(servers: readonly { readonly url: URL }[]): Promise<Proxy> {
  const proxy = createProxyServer();
  let requests = 0;
  const front = createServer((request, response) => {
    const target = servers[requests++ % servers.length]?.url.origin ?? '';
    proxy.web(request, response, { target }).catch(() => response.writeHead(502).end());
  });
  await once(front.listen(0, '127.0.0.1'), 'listening');
  return {
    url: new URL(`http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`),
    stop: () => {
      front.close();
      front.closeAllConnections();
    },
  };
}
