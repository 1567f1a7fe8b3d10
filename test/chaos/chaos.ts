import { join } from 'node:path';
import { bundlePrograms } from './bundle.ts';
import { ways } from './clients/ways.ts';
import { Crowd, type CrowdFigures } from './crowd.ts';
import { judge, type CallReport, type DeliveryReport, type EarlyRows } from './judge.ts';
import { Monkey, type MonkeyFigures } from './monkey.ts';
import { Outside, type OutsideReport } from './outside/outside.ts';
import { startProcess } from './processes.ts';
import type { LedgerRows, QueuedRow } from './provider/ledger.ts';
import { Provider, type Faults } from './provider/provider-process.ts';
import { Proxy, type ProxyFigures } from './proxy/proxy.ts';
import { mostOutsideSkew } from './outside/times.ts';
import { between, seeded } from './seeded.ts';
import type { Release } from './server/sagas.ts';
import { startDatabases, type StoreKind } from './stores.ts';

/** Options of a chaos run. */
export interface ChaosOptions {
  /**
   * Number of calls that end among faults, at least; each dialect completes one of them. Calls in
   * flight then finish without faults.
   */
  readonly calls: number;
  /** Seed of the faults, the users, and their answers. Their timing depends on the machine. */
  readonly seed: number;
  /** Where used tokens, tasks, and answers are kept. Default `redis`. */
  readonly store?: StoreKind;
  /** Number of sagas in flight. Default 200. */
  readonly inFlight?: number;
  /** Gets each unexpected line that a process prints. */
  readonly onLine?: (line: string) => void;
}

/** Result of a run. */
export interface Chaos {
  /** All problems found. */
  readonly problems: readonly string[];
  readonly calls: readonly CallReport[];
  readonly crowd: CrowdFigures;
  readonly monkey: MonkeyFigures;
  readonly proxy: ProxyFigures;
  readonly provider: Faults;
  readonly ledger: LedgerRows;
  /** Ledger from before the queue delivered the messages of the sagas that were left behind. */
  readonly early: EarlyRows;
  /** Deliveries of these messages, in their order. */
  readonly deliveries: readonly DeliveryReport[];
  readonly outside: OutsideReport;
  /** Numbers of rejected tokens, by internal reason. */
  readonly rejected: Readonly<Record<string, number>>;
}

const names = ['A', 'B', 'C', 'D'];
const mostSkew = 4_000;
/** Calls in flight for each client that leaves its saga to other people. */
const visitorShare = 6;
// After the expiry of all tokens, except for messages of the queue, which live a month longer.
const nextWeek = 8 * 24 * 60 * 60 * 1000;

/** Runs 200 sagas while processes die, sockets are cut, and keys change. Then judges the result. */
export async function chaos({
  calls,
  seed,
  store = 'redis',
  inFlight = 200,
  onLine = ignore,
}: ChaosOptions): Promise<Chaos> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const programs = await bundlePrograms();
    ends.push(() => programs.remove());
    const databases = await startDatabases(store);
    ends.push(() => databases.end());
    const provider = new Provider(
      programs.provider,
      join(programs.folder, 'ledger.sqlite'),
      seed,
      onLine,
    );
    ends.push(() => provider.kill());
    await provider.start();
    const proxy = await Proxy.listen(seeded(seed));
    const { origin } = proxy.url;
    const rejected: Record<string, number> = {};
    const startServer = (name: string, keys: string, more: Readonly<Record<string, string>> = {}) =>
      startProcess(name, programs.server, {
        environment: {
          ...databases.environment,
          PROVIDER_URL: provider.url.href,
          OUTSIDE_URL: origin,
          SAGA_KEYS: keys,
          ...more,
        },
        onLine: (line) => {
          const [, reason, count] = /^rejected (\S+) (\d+)$/.exec(line) ?? [];
          if (reason === undefined) onLine(`${name}: ${line}`);
          else rejected[reason] = (rejected[reason] ?? 0) + Number(count);
        },
      });
    const skew = seeded(seed + 3);
    const places = names.map((name) => ({
      name,
      start: (keys: string, release: Release) => {
        // Clock offset of a process, within the clock tolerance of tokens.
        const offset = between(skew, -mostSkew, mostSkew);
        const outsideOffset = Math.round((offset * mostOutsideSkew) / mostSkew);
        return startServer(name, keys, {
          RELEASE: release,
          CLOCK_OFFSET: String(offset),
          // Smaller offset, because these sagas wait only seconds.
          OUTSIDE_OFFSET: String(outsideOffset),
        });
      },
    }));
    const monkey = new Monkey(seeded(seed + 1), places, proxy, {
      restartProvider: (ms) => provider.restart(ms),
      refuseEffects: (ms) => provider.post('/outage', { ms }),
      crashDatabase: () => databases.crash(),
      pauseDatabase: (ms) => databases.pause(ms),
    });
    ends.push(() => monkey.end());
    await monkey.begin();

    const crowd = new Crowd(seeded(seed + 2), proxy.url, ways, inFlight);
    const outside = new Outside(seed + 4, proxy.url, databases.redisPort, (id) =>
      provider.notesAfter(id),
    );
    ends.push(() => outside.close());
    const over = new AbortController();
    const raging = monkey.rage(over.signal);
    // The error reaches the caller that awaits the promise later.
    raging.catch(() => undefined);
    crowd.call(over.signal);
    outside.begin(Math.ceil(inFlight / visitorShare), over.signal);
    await crowd.ended(0.4 * calls);
    monkey.deploy();
    const haveEnded = await crowd.ended(calls);
    over.abort();
    await raging;
    proxy.calm();
    await provider.post('/calm');
    await Promise.all([crowd.settled(), outside.settled()]);
    // Also waits for requests without a caller.
    await proxy.close();
    await monkey.end();

    const { effects, undos } = await provider.ledger();
    const early = { effects, undos };
    const keys = monkey.keys.join(',');
    const offset = String(nextWeek);
    const drain = await startServer('drain', keys, {
      CLOCK_OFFSET: offset,
      OUTSIDE_OFFSET: offset,
    });
    ends.push(() => drain.kill());
    const deliveries = await deliverAll(drain.url, provider);
    const drained = await outside.drained();
    const { faults, ...ledger } = await provider.ledger();
    return {
      problems: [
        ...(haveEnded ? [] : [`Fewer than ${calls} calls ended among the faults.`]),
        ...judge({ ...ledger, ...drained, calls: crowd.reports, deliveries, early }),
      ],
      calls: crowd.reports,
      crowd: crowd.figures(),
      monkey: monkey.figures,
      proxy: proxy.figures,
      provider: faults,
      ledger,
      early,
      deliveries,
      outside: drained,
      rejected,
    };
  } finally {
    // Ends everything in reverse order of its start.
    for (const end of ends.toReversed()) {
      await end();
    }
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Rounds of deliveries after which a message is never done. */
const mostRounds = 300;

/**
 * Delivers all messages of the queue, and those that they lead to. The clock of the process moves on
 * to their times between two rounds, so that no turn runs meanwhile.
 */
async function deliverAll(url: URL, provider: Provider): Promise<readonly DeliveryReport[]> {
  const reports: DeliveryReport[] = [];
  for (let round = 1; ; round += 1) {
    const { queued } = await provider.ledger();
    if (queued.length === 0) return reports;
    if (round > mostRounds) {
      const ids = queued.map(({ sagaId }) => sagaId);
      throw new Error(`Messages of the queue are never done, of ${ids.join(', ')}`);
    }
    const now = Math.max(...queued.map(({ at }) => at));
    const left = [...queued];
    const worker = async (): Promise<void> => {
      for (let row = left.pop(); row !== undefined; row = left.pop()) {
        reports.push(await delivered(url, row, now));
        await provider.post('/queue/delivered', row);
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
    // A lease of a dead process ends by the clock of the store, which does not move on.
    await after(250);
  }
}

// 75 s: longer than any lease.
const mostDeliveries = 300;

/** Delivers a message until its delivery does not fail. */
async function delivered(url: URL, row: QueuedRow, now: number): Promise<DeliveryReport> {
  const { sagaId, turn, token } = row;
  for (let times = 1; ; times += 1) {
    const response = await fetch(new URL('/deliver', url), {
      method: 'POST',
      body: JSON.stringify({ message: { sagaId, turn, token }, now }),
    });
    const answer = (await response.json()) as DeliveryAnswer;
    const { status, reason = '' } = answer;
    if (status !== 'later') return { sagaId, status, reason };
    if (times === mostDeliveries) throw new Error(`A message of the queue always fails: ${reason}`);
    await after(250);
  }
}

interface DeliveryAnswer {
  readonly status: DeliveryReport['status'] | 'later';
  readonly reason?: string;
}

function ignore(): void {
  // The output is not needed.
}
