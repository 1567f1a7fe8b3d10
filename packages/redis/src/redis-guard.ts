import type { Fence, GuardVerdict, SagaGuard } from '@mcp-saga/server/stores';
import { connect } from './connect.ts';
import { begin, claim, count, finish, letGo } from './guard-scripts.ts';
import type { RedisClient, RedisOptions } from './redis-client.ts';
import { callId } from './run-script.ts';

/**
 * Creates a guard in Redis, for hosts of any number of processes. Supports Redis 5 or newer,
 * Valkey, and Redis Cluster. Leases use the Redis clock. Entries expire automatically. If Redis
 * loses an entry earlier, a used token is accepted again: set `maxmemory-policy noeviction` and
 * `appendonly yes`.
 * @param client - connected client; the caller closes it
 * @throws TypeError or RangeError if the client or an option is invalid
 * @example
 * ```ts
 * declare const redis: RedisClient; // a connected client of `redis` or `ioredis`
 *
 * const guard = redisGuard(redis, { prefix: 'shop:' });
 * ```
 */
export function redisGuard(client: RedisClient, options: RedisOptions = {}): SagaGuard {
  const { keys, run } = connect('redisGuard', client, options);
  const end = async ({ sagaId, turn, number }: Fence, ranNothing: boolean): Promise<boolean> => {
    const [turnKey, , requestKey] = keys.turn(sagaId, turn);
    return isOne(await run(letGo, [turnKey, requestKey], [String(number), ranNothing ? '1' : '0']));
  };
  const add = async (
    { owner, until }: Counted,
    bytes: number,
    maxBytes: number = Number.MAX_SAFE_INTEGER,
  ): Promise<boolean> =>
    isOne(await run(count, [keys.owner(owner)], [String(bytes), whole(until), String(maxBytes)]));
  return {
    begin: async (asked) => {
      const { sagaId, turn, jti, action, digest, follows, ends, awaits, leaseMs, expiresAt } =
        asked;
      const respondsUntil = Math.min(asked.respondsUntil ?? expiresAt, expiresAt);
      const request = [jti, action, digest, follows === true ? '1' : '0'];
      const times = [String(Math.ceil(leaseMs)), whole(expiresAt), whole(respondsUntil)];
      const [next] = keys.turn(sagaId, turn + 1);
      const host = asked.now === undefined ? '' : whole(asked.now);
      const values = [
        ...request,
        ...times,
        callId(),
        asked.request ?? '',
        ends === true ? '1' : '0',
        host,
        awaits === true ? '1' : '0',
      ];
      const reply = await run(begin, [...keys.turn(sagaId, turn), next], values);
      const verdict = verdictOf(reply, { sagaId, turn });
      if (asked.owner === undefined || typeof verdict === 'string' || !('run' in verdict))
        return verdict;
      const { id, maxBytes } = asked.owner;
      const counted = { owner: id, until: respondsUntil, bytes: asked.request?.length ?? 0 };
      // An interrupted turn is already counted, and can always end.
      if (verdict.interrupted !== undefined)
        return { ...verdict, run: withCounted(verdict.run, { ...counted, bytes: 0 }) };
      if (await add(counted, counted.bytes, maxBytes))
        return { run: withCounted(verdict.run, counted) };
      await end(verdict.run, true);
      return 'full';
    },
    finish: async (fence: CountedFence, sealedResponse) => {
      const { sagaId, turn, number, counted } = fence;
      const [done] = await Promise.all([
        run(finish, keys.turn(sagaId, turn), [String(number), sealedResponse]),
        counted === undefined ? undefined : add(counted, sealedResponse.length - counted.bytes),
      ]);
      return isOne(done);
    },
    release: async (fence) => void (await end(fence, false)),
    forget: (fence) => end(fence, true),
    claim: async (key, expiresAt) =>
      isOne(await run(claim, [keys.claim(key)], [whole(expiresAt), callId()])),
  };
}

/** Stored bytes of a principal, counted at the start of a turn. */
interface Counted {
  /** Digest of the principal. */
  readonly owner: string;
  /** Time of expiry, in milliseconds since the epoch. */
  readonly until: number;
  readonly bytes: number;
}

interface CountedFence extends Fence {
  readonly counted?: Counted;
}

function withCounted(fence: Fence, counted: Counted): CountedFence {
  return { ...fence, counted };
}

function verdictOf(reply: unknown, of: Pick<Fence, 'sagaId' | 'turn'>): GuardVerdict {
  const [word, value, more, other] = (Array.isArray(reply) ? reply : []).map(String);
  if (word === 'busy' || word === 'conflict') return word;
  if (word === 'run') {
    const fence = { ...of, number: Number(value) };
    if (more === undefined) return { run: fence };
    return { run: fence, interrupted: more, ...(isOne(other) ? { other: true } : {}) };
  }
  if (word === 'response' && value !== undefined) {
    return { response: value, wentOn: isOne(more), ...(isOne(other) ? { other: true } : {}) };
  }
  throw new TypeError('Unexpected reply from the Redis guard script.');
}

/** Reads a reply of 1. Clients can be configured to return numbers as text. */
export function isOne(reply: unknown): boolean {
  return Number(reply) === 1;
}

/** Formats a time for Redis. */
export function whole(time: number): string {
  return String(Math.ceil(time));
}
