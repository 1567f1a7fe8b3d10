import type { RedisOptions } from './redis-client.ts';

/** The names of what is kept. All that belongs to one saga has its id in braces, and so one node of a cluster. */
export interface Keys {
  /** What is known of a turn, the response that was made in it, and the request that it is made for. */
  turn(sagaId: string, turn: number): readonly [turn: string, response: string, request: string];
  /** A key that was claimed, `<saga id>:<what>`. */
  claim(key: string): string;
  task(id: string): string;
  /** Bytes that are kept for a principal, on a node of its own. */
  owner(id: string): string;
}

/** @throws TypeError when the prefix has a brace */
export function keysOf({ prefix = 'mcp-saga:' }: RedisOptions): Keys {
  if (/[{}]/.test(prefix)) throw new TypeError('prefix may not have braces: they choose nodes of a cluster.');
  return {
    turn: (sagaId, turn) => [
      `${prefix}{${sagaId}}:turn:${turn}`,
      `${prefix}{${sagaId}}:response:${turn}`,
      `${prefix}{${sagaId}}:request:${turn}`,
    ],
    claim: (key) => {
      const end = key.indexOf(':');
      const [sagaId, what] = end === -1 ? [key, ''] : [key.slice(0, end), key.slice(end + 1)];
      return `${prefix}{${sagaId}}:once:${what}`;
    },
    task: (id) => `${prefix}{${id}}:task`,
    owner: (id) => `${prefix}{${id}}:kept`,
  };
}
