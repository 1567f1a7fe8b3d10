import { Redis as Upstash } from '@upstash/redis';
import { Redis as IoRedis } from 'ioredis';
import { Redis as IoRedis5 } from 'ioredis-5';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis-5';
import type { RedisClient } from '@mcp-saga/redis';
import { startFakeUpstash } from '../../../../test/support/fake-upstash.ts';

/** A client that is connected, and how it is closed. */
export interface Connected {
  readonly client: RedisClient;
  readonly close: () => unknown;
}

const ignore = (): void => undefined;

interface NodeClient {
  on(event: 'error', listener: () => void): unknown;
  connect(): Promise<unknown>;
  destroy(): void;
}

async function node(client: RedisClient & NodeClient): Promise<Connected> {
  // Without a listener, a closed connection is an uncaught error.
  client.on('error', ignore);
  await client.connect();
  return { client, close: () => client.destroy() };
}

interface IoClient {
  on(event: 'error', listener: () => void): unknown;
  ping(): Promise<unknown>;
  disconnect(): void;
}

async function io(client: RedisClient & IoClient): Promise<Connected> {
  client.on('error', ignore);
  await client.ping();
  return { client, close: () => client.disconnect() };
}

async function upstash(url: string): Promise<Connected> {
  const { close, ...credentials } = await startFakeUpstash(url);
  return { client: new Upstash({ ...credentials, enableTelemetry: false }), close };
}

const atOnce = { disableOfflineQueue: true };
const soon = { retryStrategy: () => 20 };

/** Connects a client of each library, in the latest two versions. */
export const clients: { readonly [name: string]: (url: string) => Promise<Connected> } = {
  'redis 6': (url) => node(createClient({ url, ...atOnce })),
  'redis 5': (url) => node(createClient5({ url, ...atOnce })),
  'ioredis 6': (url) => io(new IoRedis(url, soon)),
  'ioredis 5': (url) => io(new IoRedis5(url, soon)),
  '@upstash/redis': upstash,
};
