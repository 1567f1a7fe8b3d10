import type { Duration } from '@mcp-saga/core';

/** Required methods of a `redis` (node-redis) client, pool, or cluster. */
export interface NodeRedisLike {
  eval(script: string, options: ScriptInput): Promise<unknown>;
  evalSha(sha1: string, options: ScriptInput): Promise<unknown>;
}

/** Input of a script, for `redis`. */
export interface ScriptInput {
  readonly keys: string[];
  readonly arguments: string[];
}

/** Required methods of an `ioredis` client or cluster. */
export interface IoRedisLike {
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** Required methods of a client of `@upstash/redis`, which sends each command over HTTP. */
export interface UpstashRedisLike {
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
  evalsha(sha1: string, keys: string[], args: string[]): Promise<unknown>;
  createScript(script: string): unknown;
}

/**
 * A connected client of `redis` or `ioredis`, or a client of `@upstash/redis`. No library is
 * imported.
 */
export type RedisClient = NodeRedisLike | IoRedisLike | UpstashRedisLike;

/** Options of {@link redisStore}. */
export interface RedisOptions {
  /**
   * Prefix of all keys, without braces. Hosts that share sagas use the same prefix; other services
   * need different ones.
   * @default 'mcp-saga:'
   */
  readonly prefix?: string;
  /**
   * Maximum time to wait for a reply. The clients alone would wait until Redis is
   * connected again.
   * @default '2s'
   */
  readonly timeout?: Duration;
}

/** Runs a Lua script atomically. */
export type RunScript = (
  lua: string,
  keys: readonly string[],
  values: readonly string[],
) => Promise<unknown>;

/** Script calls of any client library. */
export interface Scripting {
  byText(lua: string, keys: readonly string[], values: readonly string[]): Promise<unknown>;
  bySha(sha1: string, keys: readonly string[], values: readonly string[]): Promise<unknown>;
  /** Changes the text of a script, before it is sent or digested. */
  readonly textOf: (lua: string) => string;
}
