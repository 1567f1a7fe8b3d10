import type { DurableObjectNamespaceLike } from '@mcp-saga/cloudflare';
import type { D1Like } from '@mcp-saga/sql';

// Bindings of a Worker, for a server on Node. Each call is an HTTP request to
// `load/workers/stores.ts`.

/** Returns a D1 binding. */
export function d1At(url: string): D1Like {
  const all = async (body: object): Promise<{ readonly results: readonly unknown[] }> => {
    const response = await post(new URL('/statement', url), JSON.stringify(body));
    return (await response.json()) as { readonly results: readonly unknown[] };
  };
  return {
    prepare: (sql) => ({ bind: (...values) => ({ all: () => all({ sql, values }) }) }),
    batch: () => undefined,
  };
}

/** Returns a Durable Objects binding. */
export function objectsAt(url: string): DurableObjectNamespaceLike {
  return {
    idFromName: (name) => name,
    get: (object: string) => ({
      fetch: (_, { body, signal }) =>
        post(new URL(`/?object=${encodeURIComponent(object)}`, url), body, signal),
    }),
  };
}

/** Sets the URL that receives the queue messages of the objects. */
export async function deliverTo(host: string, url: string): Promise<void> {
  await post(new URL('/host', url), host);
}

/** @throws Error if the Worker fails */
async function post(url: URL, body: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(url, { method: 'POST', body, ...(signal && { signal }) });
  if (!response.ok)
    throw new Error(`workerd answered ${response.status}: ${await response.text()}`);
  return response;
}
