import { optionError } from '@mcp-saga/core/shared';
import type {
  IoRedisLike,
  NodeRedisLike,
  RedisClient,
  ScriptInput,
  Scripting,
  UpstashRedisLike,
} from './redis-client.ts';
import { upstashScripting } from './upstash.ts';

/** Adapts a client of any supported library. Throws TypeError for other clients. */
export function scriptingOf(client: RedisClient): Scripting {
  if (isMethod(client, 'createScript')) return upstashScripting(client as UpstashRedisLike);
  if (isMethod(client, 'internal_send_command'))
    throw optionError(unsupported("'redis' before version 4"));
  if (isMethod(client, 'evalSha')) {
    const node = client as NodeRedisLike;
    return {
      byText: (lua, keys, values) => node.eval(lua, input(keys, values)),
      bySha: (sha1, keys, values) => node.evalSha(sha1, input(keys, values)),
      textOf: (lua) => lua,
    };
  }
  if (isMethod(client, 'evalsha')) {
    const io = client as IoRedisLike;
    return {
      byText: (lua, keys, values) => io.eval(lua, keys.length, ...keys, ...values),
      bySha: (sha1, keys, values) => io.evalsha(sha1, keys.length, ...keys, ...values),
      textOf: (lua) => lua,
    };
  }
  throw optionError(unsupported(nameOf(client)));
}

function unsupported(name: string): string {
  return (
    `Unsupported Redis client: ${name}. Pass a connected client of 'redis' (createClient) or 'ioredis' (new Redis), or a client of ` +
    "'@upstash/redis'."
  );
}

/** Class of a value, for an error. */
function nameOf(client: unknown): string {
  if (client === null || typeof client !== 'object')
    return client === null ? 'null' : typeof client;
  const { constructor } = client as { readonly constructor?: { readonly name: string } };
  return constructor?.name ?? 'object';
}

function input(keys: readonly string[], values: readonly string[]): ScriptInput {
  return { keys: [...keys], arguments: [...values] };
}

function isMethod(client: unknown, name: string): boolean {
  return typeof (Object(client) as { readonly [name: string]: unknown })[name] === 'function';
}
