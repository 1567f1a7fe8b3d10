import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryStore, type SagaStore } from '@mcp-saga/server';

/** Store that both server processes use over HTTP. */
export interface SharedStore {
  readonly url: string;
  close(): Promise<void>;
}

/** A call of a method of the store. */
interface Call {
  readonly method: Exclude<keyof SagaStore, 'remembersSince'>;
  readonly args: readonly unknown[];
}

/** Serves a store on a free port of 127.0.0.1. */
export async function startStore(): Promise<SharedStore> {
  const store = memoryStore();
  const perform = async ({ method, args }: Call): Promise<unknown> =>
    await (Reflect.apply(store[method], store, args) as unknown);
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const result = await perform(JSON.parse(Buffer.concat(chunks).toString()) as Call);
      outgoing.end(JSON.stringify({ result }));
    })().catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

/** Returns the store that another process serves. */
export function storeAt(url: string): SagaStore {
  const ask =
    (method: Call['method']) =>
    async (...args: readonly unknown[]): Promise<never> => {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify({ method, args }) });
      return ((await response.json()) as { readonly result: unknown }).result as never;
    };
  return {
    write: ask('write'),
    remove: ask('remove'),
    read: ask('read'),
    append: ask('append'),
    list: ask('list'),
    discard: ask('discard'),
    close: ask('close'),
  };
}
