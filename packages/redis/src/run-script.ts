import { scriptingOf, type RedisClient, type RedisOptions, type RunScript } from './redis-client.ts';

const defaultTimeout = 2_000;

/**
 * Makes what runs scripts on a client: by their digest, and by their text where Redis does not know them, as after a
 * restart. A script that a connection was lost under may have run; each bears to be run again.
 *
 * @throws TypeError or RangeError where the client or the options cannot be meant
 */
export function scriptRunner(client: RedisClient, { timeoutMs = defaultTimeout }: RedisOptions): RunScript {
  const scripting = scriptingOf(client);
  if (!(timeoutMs > 0)) throw new RangeError('timeoutMs must be more than 0 milliseconds.');
  const digests = new Map<string, Promise<string>>();
  const digestOf = (lua: string): Promise<string> => {
    const known = digests.get(lua) ?? sha1(lua);
    digests.set(lua, known);
    return known;
  };
  return async (lua, keys, values) => {
    const digest = await digestOf(lua);
    const run = async (): Promise<unknown> => {
      try {
        return await scripting.bySha(digest, keys, values);
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith('NOSCRIPT'))) throw error;
        return await scripting.byText(lua, keys, values);
      }
    };
    return await within(timeoutMs, run());
  };
}

/** Rejects when an answer takes too long. What was asked may happen all the same. */
async function within<T>(timeout: number, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Redis did not answer within ${timeout} ms.`)), timeout);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

// The name by which Redis knows a script; it protects nothing.
async function sha1(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
  return hex(new Uint8Array(digest));
}

/** A name that no other call has: a call that a client sends twice, its connection lost, is known by it. */
export function callId(): string {
  return hex(crypto.getRandomValues(new Uint8Array(8)));
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
