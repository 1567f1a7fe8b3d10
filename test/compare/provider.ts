import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** The API of a payment provider. */
export interface Refunds {
  /** Refunds money. With a key that it has seen, returns the refund of that key. */
  refund(order: string, euros: number, key?: string): Promise<{ readonly id: string }>;
  /** Takes a refund back. */
  cancel(id: string): Promise<void>;
}

/** A fake payment provider, which counts. */
export class Provider implements Refunds {
  /** Requests to refund, also those with a key that was seen before. */
  requests = 0;
  /** Called when money has moved, before the reply. The reply waits for its end. */
  onRefund: () => Promise<void> = async () => undefined;
  #made = 0;
  readonly #refunds = new Set<string>();
  readonly #byKey = new Map<string, string>();

  /** Refunds that were made and not taken back. */
  get refunds(): number {
    return this.#refunds.size;
  }

  async refund(_order: string, _euros: number, key?: string): Promise<{ readonly id: string }> {
    this.requests += 1;
    const known = key === undefined ? undefined : this.#byKey.get(key);
    const id = known ?? `re_${(this.#made += 1)}`;
    if (known === undefined) this.#refunds.add(id);
    if (key !== undefined) this.#byKey.set(key, id);
    await this.onRefund();
    return { id };
  }

  async cancel(id: string): Promise<void> {
    this.#refunds.delete(id);
  }
}

interface Sent {
  readonly order: string;
  readonly euros: number;
  readonly key?: string;
  readonly cancels?: string;
}

/** Serves a provider to other processes. */
export async function serveProvider(
  provider: Provider,
): Promise<{ readonly url: string; readonly stop: () => void }> {
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const { order, euros, key, cancels } = (await json(incoming)) as Sent;
      const reply =
        cancels === undefined
          ? await provider.refund(order, euros, key)
          : await provider.cancel(cancels);
      outgoing.end(JSON.stringify(reply ?? {}));
    })().catch((error: unknown) => outgoing.destroy(error as Error));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The provider, for a server in another process. */
export function providerAt(url: string): Refunds {
  const send = async (body: object): Promise<unknown> => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) });
    return await response.json();
  };
  return {
    refund: async (order, euros, key) =>
      (await send({ order, euros, key })) as { readonly id: string },
    cancel: async (id) => void (await send({ cancels: id })),
  };
}
