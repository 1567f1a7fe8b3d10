import type { EntryKey } from '@mcp-saga/server/stores';
import { optionError, rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import type { RedisClient, RedisOptions, RunScript } from './redis-client.ts';
import { scriptRunner } from './run-script.ts';

const optionNames: NamesOf<RedisOptions> = {
  prefix: true,
  timeout: true,
};

/** A client that runs scripts, and the keys of a store. */
export interface Connection {
  readonly keys: Keys;
  readonly run: RunScript;
}

/**
 * Checks the client and the options of a store.
 * @throws TypeError or RangeError if the client or an option is invalid
 */
export function connect(client: RedisClient, options: RedisOptions): Connection {
  rejectUnknownOption('redisStore', options, optionNames);
  return { keys: keysOf(options), run: scriptRunner(client, options) };
}

/** Redis keys. The saga ID is in braces, so all keys of a saga are on one cluster node. */
export interface Keys {
  /** Keys of an entry and its body. */
  entry(key: EntryKey): readonly [entry: string, body: string];
  /** Key of the list of a group. */
  list(group: string): string;
  /** Key of the stored bytes of a principal. */
  charges(principal: string): string;
}

/** @throws TypeError if the prefix contains a brace */
export function keysOf({ prefix = 'mcp-saga:' }: RedisOptions): Keys {
  if (/[{}]/.test(prefix))
    throw optionError(
      'prefix must not contain braces, because they choose the cluster node of a key.',
    );
  return {
    entry: ({ group, name }) => [`${prefix}{${group}}:${name}`, `${prefix}{${group}}:${name}:body`],
    list: (group) => `${prefix}{${group}}list`,
    charges: (principal) => `${prefix}{${principal}}:charges`,
  };
}
