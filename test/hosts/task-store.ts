import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { memoryTaskStore } from '@mcp-saga/server';

/** Task store that both server processes use over HTTP. */
export interface SharedTaskStore {
  readonly url: string;
  close(): Promise<void>;
}

interface Operation {
  readonly read?: string;
  readonly write?: string;
  readonly sealed?: string;
  readonly expected?: number;
}

/** Serves a task store on a free port of 127.0.0.1. */
export async function startTaskStore(): Promise<SharedTaskStore> {
  const store = memoryTaskStore();
  const perform = async ({
    read,
    write = '',
    sealed = '',
    expected = 0,
  }: Operation): Promise<unknown> =>
    read === undefined
      ? await store.write(write, sealed, expected, Number.MAX_SAFE_INTEGER)
      : await store.read(read);
  const server = createServer((incoming, outgoing) => {
    void (async () => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk as Buffer);
      const result = await perform(JSON.parse(Buffer.concat(chunks).toString()) as Operation);
      outgoing.end(JSON.stringify(result ?? null));
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
