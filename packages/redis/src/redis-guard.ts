import type { Fence, GuardVerdict, SagaGuard } from '@mcp-saga/server';
import { begin, claim, finish, letGo } from './guard-scripts.ts';
import { keysOf } from './keys.ts';
import type { RedisClient, RedisOptions } from './redis-client.ts';
import { callId, scriptRunner } from './run-script.ts';

/**
 * A guard in Redis, for hosts of any number of processes. Leases run by the clock of Redis alone. What it keeps goes by
 * itself when it has expired; Redis may not evict it sooner (`maxmemory-policy noeviction`), and should write it to disk
 * (`appendonly yes`): what it has lost is a token that can be used again. Redis 5 or newer, Valkey, Redis Cluster.
 *
 * @param client - connected; it stays the caller's, to close as well
 * @throws TypeError or RangeError where the client or the options cannot be meant
 */
export function redisGuard(client: RedisClient, options: RedisOptions = {}): SagaGuard {
  const keys = keysOf(options);
  const run = scriptRunner(client, options);
  const end = async ({ sagaId, turn, number }: Fence, ranNothing: boolean): Promise<void> => {
    const [turnKey, , requestKey] = keys.turn(sagaId, turn);
    await run(letGo, [turnKey, requestKey], [String(number), ranNothing ? '1' : '0']);
  };
  return {
    begin: async (asked) => {
      const { sagaId, turn, jti, action, digest, follows, ends, leaseMs, expiresAt } = asked;
      const respondsUntil = Math.min(asked.respondsUntil ?? expiresAt, expiresAt);
      const request = [jti, action, digest, follows === true ? '1' : '0'];
      const times = [String(Math.ceil(leaseMs)), whole(expiresAt), whole(respondsUntil)];
      const [next] = keys.turn(sagaId, turn + 1);
      const host = asked.now === undefined ? '' : whole(asked.now);
      const values = [...request, ...times, callId(), asked.request ?? '', ends === true ? '1' : '0', host];
      const reply = await run(begin, [...keys.turn(sagaId, turn), next], values);
      return verdictOf(reply, { sagaId, turn });
    },
    finish: async ({ sagaId, turn, number }, sealedResponse) =>
      isOne(await run(finish, keys.turn(sagaId, turn), [String(number), sealedResponse])),
    release: (fence) => end(fence, false),
    forget: (fence) => end(fence, true),
    claim: async (key, expiresAt) => isOne(await run(claim, [keys.claim(key)], [whole(expiresAt), callId()])),
  };
}

function verdictOf(reply: unknown, of: Pick<Fence, 'sagaId' | 'turn'>): GuardVerdict {
  const [word, value, more, other] = (Array.isArray(reply) ? reply : []).map(String);
  if (word === 'busy' || word === 'conflict') return word;
  if (word === 'run') {
    const fence = { ...of, number: Number(value) };
    return more === undefined ? { run: fence } : { run: fence, begun: more };
  }
  if (word === 'response' && value !== undefined) {
    return { response: value, wentOn: isOne(more), ...(isOne(other) ? { other: true } : {}) };
  }
  throw new TypeError('Redis gave an answer that is none of the guard.');
}

/** Numbers may come as text, as a client is set up to read them. */
export function isOne(reply: unknown): boolean {
  return Number(reply) === 1;
}

/** A time as Redis reads it. */
export function whole(time: number): string {
  return String(Math.ceil(time));
}
