import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** Name of the queue of the fleet. */
export const queueName = 'sagas';

/** What a server process did to the world. */
export interface NewEntry {
  readonly kind: 'hold' | 'release' | 'refund' | 'link' | 'reminder' | 'end';
  /** Order; for `end`, the ID of the saga. */
  readonly order: string;
  /** Idempotency key: a repeated effect has the same key, and counts once. */
  readonly key: string;
  readonly to?: string;
  readonly url?: string;
  readonly sagaId?: string;
}

/** Ledger of all effects, which outlives the server processes. */
export interface Ledger {
  readonly url: string;
  /** All attempts of effects of an order, in the order of their arrival. */
  attempts(order: string, ...kinds: readonly NewEntry['kind'][]): readonly NewEntry[];
  /** Effects of an order: attempts with the same key count as one. */
  of(order: string, ...kinds: readonly NewEntry['kind'][]): readonly NewEntry[];
  /** Link that was sent to a recipient. Undefined: not yet. */
  linkOf(order: string, to: string): string | undefined;
  /** Number of times that the saga of an order ended. */
  countEnds(order: string): number;
  close(): void;
}

/** Starts the ledger in this process. */
export async function startLedger(): Promise<Ledger> {
  const entries: NewEntry[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      entries.push(JSON.parse(body) as NewEntry);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const attempts: Ledger['attempts'] = (order, ...kinds) =>
    entries.filter((entry) => entry.order === order && kinds.includes(entry.kind));
  const of: Ledger['of'] = (order, ...kinds) => {
    const keys = new Set<string>();
    return attempts(order, ...kinds).filter(({ kind, key }) => {
      const id = `${kind} ${key}`;
      const isNew = !keys.has(id);
      keys.add(id);
      return isNew;
    });
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    attempts,
    of,
    linkOf: (order, to) => of(order, 'link').find((entry) => entry.to === to)?.url,
    countEnds: (order) =>
      of(order, 'hold').flatMap(({ sagaId = '' }) => attempts(sagaId, 'end')).length,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
