/** A shop with an API: orders in pages, and a search whose index lags behind new products. */
import { serve } from 'srvx';

const orders = Array.from(
  { length: 100 },
  (_, index) => `order ${index + 1}: ${(index * 7) % 31} pieces`,
);
const pageLength = 20;
const searchesUntilFound = 4;

export interface Shop {
  readonly url: string;
  /** Number of requests for each path. */
  readonly asked: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/** Serves the shop's API on a free port of 127.0.0.1. */
export async function startShop(): Promise<Shop> {
  const asked = new Map<string, number>();
  const products = new Map<string, string>();
  const server = serve({
    hostname: '127.0.0.1',
    port: 0,
    silent: true,
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const path = `${request.method} ${pathname}${searchParams.has('after') ? `?after=${searchParams.get('after')}` : ''}`;
      const times = (asked.get(path) ?? 0) + 1;
      asked.set(path, times);
      const name = decodeURIComponent(pathname.split('/').at(-1) ?? '');
      if (request.method === 'POST') {
        const key = request.headers.get('idempotency-key') ?? '';
        if (!products.has(key)) products.set(key, name);
        return Response.json({ id: `product-${products.size}` });
      }
      if (pathname.startsWith('/search/')) {
        return Response.json({
          found: times >= searchesUntilFound && [...products.values()].includes(name),
        });
      }
      const after = Number(searchParams.get('after'));
      const end = after + pageLength;
      const lines = orders.slice(after, end);
      return Response.json({ lines, ...(end < orders.length ? { next: end } : {}) });
    },
  });
  await server.ready();
  return { url: server.url ?? '', asked, stop: () => server.close(true) };
}

/** One page of orders, and the start of the next page. */
export interface Page {
  readonly lines: readonly string[];
  readonly next?: number;
}

/** Client of the shop, for server steps. */
export const shop = {
  orders: (after: number, signal: AbortSignal) =>
    call(`/orders?after=${after}`, { signal }) as Promise<Page>,
  add: (name: string, idempotencyKey: string, signal: AbortSignal) =>
    call(`/products/${encodeURIComponent(name)}`, {
      method: 'POST',
      headers: { 'idempotency-key': idempotencyKey },
      signal,
    }) as Promise<{ readonly id: string }>,
  search: (name: string, signal: AbortSignal) =>
    call(`/search/${encodeURIComponent(name)}`, { signal }) as Promise<{ readonly found: boolean }>,
};

async function call(path: string, init: RequestInit): Promise<unknown> {
  const response = await fetch(new URL(path, process.env['SHOP_URL']), init);
  return await response.json();
}
