/** What is used of a client of `redis` (node-redis): one client, a pool, or a cluster. */
export interface NodeRedisLike {
  eval(script: string, options: ScriptInput): Promise<unknown>;
  evalSha(sha1: string, options: ScriptInput): Promise<unknown>;
}

interface ScriptInput {
  readonly keys: string[];
  readonly arguments: string[];
}

/** What is used of a client of `ioredis`: one client, or a cluster. */
export interface IoRedisLike {
  eval(script: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
  evalsha(sha1: string, keyCount: number, ...keysAndArguments: string[]): Promise<unknown>;
}

/** A connected client of `redis` or of `ioredis`, known by its structure: neither is imported. */
export type RedisClient = NodeRedisLike | IoRedisLike;

/** How something is kept in Redis. */
export interface RedisOptions {
  /**
   * What all keys begin with. Hosts that share sagas share it; no two services with keys of their own may. No braces:
   * they would move the keys of a saga to different nodes of a cluster. Default `mcp-saga:`.
   */
  readonly prefix?: string;
  /**
   * After how long an answer of Redis is no longer waited for, in milliseconds: both clients would wait for as long as
   * it takes to connect again. Default 2 s.
   */
  readonly timeoutMs?: number;
}

/** Runs a script of Redis on what it is given, at once and with nothing between. */
export type RunScript = (lua: string, keys: readonly string[], values: readonly string[]) => Promise<unknown>;

/** The calls of either client, in one form. */
export interface Scripting {
  byText(lua: string, keys: readonly string[], values: readonly string[]): Promise<unknown>;
  bySha(sha1: string, keys: readonly string[], values: readonly string[]): Promise<unknown>;
}

/** Detects the library of a client. Throws TypeError for another library; the message names `@upstash/redis`. */
export function scriptingOf(client: RedisClient): Scripting {
  if (isMethod(client, 'createScript')) {
    throw new TypeError(
      "This is a client of '@upstash/redis', which takes the arguments of a script in another form. Give it a connected client of " +
        "'redis' or 'ioredis' for the rediss:// URL of the database.",
    );
  }
  if (isMethod(client, 'evalSha')) {
    const node = client as NodeRedisLike;
    return {
      byText: (lua, keys, values) => node.eval(lua, input(keys, values)),
      bySha: (sha1, keys, values) => node.evalSha(sha1, input(keys, values)),
    };
  }
  if (isMethod(client, 'evalsha')) {
    const io = client as IoRedisLike;
    return {
      byText: (lua, keys, values) => io.eval(lua, keys.length, ...keys, ...values),
      bySha: (sha1, keys, values) => io.evalsha(sha1, keys.length, ...keys, ...values),
    };
  }
  throw new TypeError("Give it a connected client of 'redis' (createClient) or of 'ioredis' (new Redis).");
}

function input(keys: readonly string[], values: readonly string[]): ScriptInput {
  return { keys: [...keys], arguments: [...values] };
}

function isMethod(client: unknown, name: string): boolean {
  return typeof (Object(client) as { readonly [name: string]: unknown })[name] === 'function';
}
