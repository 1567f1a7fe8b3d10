/**
 * A minimal payment provider, which signs its webhooks by Standard Webhooks, and a warehouse. Both
 * honor idempotency keys.
 */
import { createHmac, randomUUID } from 'node:crypto';
import { serve } from 'srvx';

export interface Checkout {
  readonly checkout: string;
  readonly order: string;
  readonly cents: number;
  readonly webhook: string;
}

export interface World {
  readonly url: string;
  /** Created checkouts, without repeated requests. */
  readonly checkouts: readonly Checkout[];
  /** Orders whose goods are reserved. */
  readonly reserved: ReadonlySet<string>;
  /** Shipped orders, with one entry for each parcel. */
  readonly shipped: readonly string[];
  /** Posts an event of the provider to a webhook. Returns the status of the response. */
  notify(webhook: string, event: object, secret: string): Promise<number>;
  stop(): Promise<void>;
}

/** Serves both on a free port of 127.0.0.1. */
export async function startWorld(): Promise<World> {
  const checkouts: Checkout[] = [];
  const reserved = new Set<string>();
  const shipped: string[] = [];
  const answers = new Map<string, object>();
  const act = (what: string, body: Omit<Checkout, 'checkout'>): object => {
    const { order } = body;
    switch (what) {
      case '/checkouts': {
        const checkout = `checkout-${checkouts.length + 1}`;
        checkouts.push({ ...body, checkout });
        return { checkout };
      }
      case '/reserve':
        reserved.add(order);
        return {};
      case '/release':
        reserved.delete(order);
        return {};
      default:
        reserved.delete(order);
        shipped.push(order);
        return { parcel: `parcel-${shipped.length}` };
    }
  };
  const server = serve({
    hostname: '127.0.0.1',
    port: 0,
    silent: true,
    fetch: async (request) => {
      const key = request.headers.get('idempotency-key') ?? randomUUID();
      const body = (await request.json()) as Omit<Checkout, 'checkout'>;
      const answer = answers.get(key) ?? act(new URL(request.url).pathname, body);
      answers.set(key, answer);
      return Response.json(answer);
    },
  });
  await server.ready();
  return {
    url: server.url ?? '',
    checkouts,
    reserved,
    shipped,
    notify,
    stop: () => server.close(true),
  };
}

async function notify(webhook: string, event: object, secret: string): Promise<number> {
  const body = JSON.stringify(event);
  const id = randomUUID();
  const at = String(Math.floor(Date.now() / 1_000));
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64');
  const { status } = await fetch(webhook, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': at,
      'webhook-signature': `v1,${signature}`,
    },
    body,
  });
  return status;
}

/** Clients of the provider and of the warehouse, for server steps. */
export const provider = {
  checkout: (
    request: Omit<Checkout, 'checkout'>,
    key: string,
    signal: AbortSignal,
  ): Promise<unknown> => post('/checkouts', request, key, signal),
};
export const warehouse = {
  reserve: (order: string, key: string, signal: AbortSignal): Promise<unknown> =>
    post('/reserve', { order }, key, signal),
  release: (order: string, key: string, signal: AbortSignal): Promise<unknown> =>
    post('/release', { order }, key, signal),
  ship: async (order: string, key: string, signal: AbortSignal): Promise<string> =>
    ((await post('/ship', { order }, key, signal)) as { readonly parcel: string }).parcel,
};

async function post(
  path: string,
  body: object,
  key: string,
  signal: AbortSignal,
): Promise<unknown> {
  const response = await fetch(new URL(path, process.env['WORLD_URL']), {
    method: 'POST',
    headers: { 'idempotency-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw new Error(`${path} responded with ${response.status}`);
  return await response.json();
}
