import { durationOption } from '@mcp-saga/core/shared';
import type { RedisClient, RedisOptions, RunScript } from './redis-client.ts';
import { scriptingOf } from './scripting.ts';

const defaultTimeout = 2_000;

/**
 * Returns a function that runs scripts by digest, or by text if Redis has not cached the script.
 * Every script can be repeated after a dropped connection. Bytes that are counted twice by that
 * count until they expire.
 * @throws TypeError or RangeError if the client or an option is invalid
 */
export function scriptRunner(
  client: RedisClient,
  { timeout = defaultTimeout }: RedisOptions,
): RunScript {
  const scripting = scriptingOf(client);
  const timeoutMs = durationOption('timeout', timeout);
  const scripts = new Map<string, Promise<Script>>();
  const scriptOf = (lua: string): Promise<Script> => {
    const known = scripts.get(lua) ?? digested(scripting.textOf(lua));
    scripts.set(lua, known);
    return known;
  };
  return async (lua, keys, values) => {
    const { text, digest } = await scriptOf(lua);
    const run = async (): Promise<unknown> => {
      try {
        return await scripting.bySha(digest, keys, values);
      } catch (error) {
        // `@upstash/redis` puts its own words before the error of Redis.
        if (!(error instanceof Error && /^(?:[^:]*: )?NOSCRIPT/.test(error.message))) throw error;
        return await scripting.byText(text, keys, values);
      }
    };
    return await within(timeoutMs, run());
  };
}

/** Rejects if a reply takes too long. The script may still run. */
async function within<T>(timeout: number, answer: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () =>
        reject(
          new Error(
            `Redis did not reply within ${timeout} ms. Check the connection, or raise timeout.`,
          ),
        ),
      timeout,
    );
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A script as it is sent. */
interface Script {
  readonly text: string;
  readonly digest: string;
}

// Redis identifies scripts by SHA-1, which is not a security measure here.
async function digested(text: string): Promise<Script> {
  const digest = await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text));
  return { text, digest: hex(new Uint8Array(digest)) };
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
