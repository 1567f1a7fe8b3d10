import { Redis } from '@upstash/redis';
import { expect, it } from 'vitest';
import { isRefusal } from '../src/redis-values.ts';
import { upstashScripting } from '../src/upstash.ts';

/** The error that the store sees if a proxy before Redis answers a script with a text. */
async function errorOf(status: number, text: string): Promise<unknown> {
  const real = globalThis.fetch;
  globalThis.fetch = () => Promise.resolve(new Response(text, { status }));
  try {
    const redis = new Redis({ url: 'https://redis.example', token: 't', retry: false });
    return await upstashScripting(redis as never)
      .byText('return 1', ['k'], ['v'])
      .catch((error: unknown) => error);
  } finally {
    globalThis.fetch = real;
  }
}

it.each([
  [504, 'GATEWAY TIMEOUT '],
  [504, 'HTTP 504: the upstream did not answer in time'],
  [502, 'BAD GATEWAY (upstream)'],
])('a reply of a proxy is not a refusal of Redis: %i %s', async (status, text) => {
  const error = await errorOf(status, text);
  expect(error).toBeInstanceOf(Error);
  expect(isRefusal(error)).toBe(false);
});

it.each([
  'OOM command not allowed when used memory > maxmemory.',
  'ERR max request size exceeded',
  'MCPSAGA ahead',
])('an error that Redis replied is a refusal: %s', async (text) => {
  expect(isRefusal(await errorOf(400, JSON.stringify({ error: text })))).toBe(true);
});

// As node-redis, ioredis, undici, Node.js, and OpenSSL name them.
it.each([
  'read ECONNRESET',
  'connect ETIMEDOUT',
  'connect ECONNREFUSED 127.0.0.1:6379',
  'getaddrinfo EAI_AGAIN redis',
  'write EPIPE',
  'Socket closed unexpectedly',
  'Command timed out',
  'Connection is closed.',
  'Reached the max retries per request limit (which is 20). Refer to "maxRetriesPerRequest" option for details.',
  'The operation was aborted due to timeout',
  'fetch failed',
  'Redis did not reply within 2000 ms. Check the connection, or raise timeout.',
])('a missing reply is not a refusal: %s', (text) => {
  expect(isRefusal(new Error(text))).toBe(false);
});
