import { join } from 'node:path';
import { bundlePrograms } from './bundle.ts';
import { ways } from './clients/ways.ts';
import { Crowd, type CrowdFigures } from './crowd.ts';
import { judge, type CallReport, type CancelReport, type EarlyRows } from './judge.ts';
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
  /** Ledger from before the queue cancelled what was left behind. */
  readonly early: EarlyRows;
  readonly cancelled: readonly CancelReport[];
  readonly outside: OutsideReport;
  /** Numbers of rejected tokens, by internal reason. */
  readonly rejected: Readonly<Record<string, number>>;
}

const names = ['A', 'B', 'C', 'D'];
const mostSkew = 4_000;
/** Calls in flight for each client that leaves its saga to other people. */
const visitorShare = 6;
// After the expiry of all tokens, except for cancel tokens, which live a month longer.
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
    const cancelled = await deliverAll(drain.url, async () => (await provider.ledger()).queued);
    const drained = await outside.drained();
    const { faults, ...ledger } = await provider.ledger();
    return {
      problems: [
        ...(haveEnded ? [] : [`Fewer than ${calls} calls ended among the faults.`]),
        ...judge({ ...ledger, ...drained, calls: crowd.reports, cancelled, early }),
      ],
      calls: crowd.reports,
      crowd: crowd.figures(),
      monkey: monkey.figures,
      proxy: proxy.figures,
      provider: faults,
      ledger,
      early,
      cancelled,
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

/** Delivers all messages of the queue as if they were due, including new ones. */
async function deliverAll(
  url: URL,
  queued: () => Promise<readonly QueuedRow[]>,
): Promise<readonly CancelReport[]> {
  const reports: CancelReport[] = [];
  const known = new Set<string>();
  for (;;) {
    const left = (await queued()).filter(({ cancelToken }) => !known.has(cancelToken));
    if (left.length === 0) return reports;
    const worker = async (): Promise<void> => {
      for (let row = left.pop(); row !== undefined; row = left.pop()) {
        known.add(row.cancelToken);
        reports.push(await delivered(url, row));
      }
    };
    await Promise.all(Array.from({ length: 16 }, worker));
  }
}

// 75 s: a turn of the drain may leave a token that is valid a minute later.
const mostDeliveries = 300;

/** Delivers a message until the response says that it is done. */
async function delivered(url: URL, { sagaId, cancelToken }: QueuedRow): Promise<CancelReport> {
  for (let times = 1; ; times += 1) {
    const response = await fetch(new URL('/cancel', url), {
      method: 'POST',
      body: JSON.stringify({ cancelToken }),
    });
    const answer = (await response.json()) as CancelAnswer;
    const { status, reason = '', compensated = [], uncompensated = [] } = answer;
    if (status !== 'later') return { sagaId, status, compensated, uncompensated };
    if (times === mostDeliveries)
      throw new Error(`A message of the queue is never done: ${reason}`);
    await after(250);
  }
}

interface CancelAnswer {
  readonly status: CancelReport['status'] | 'later';
  readonly reason?: string;
  readonly compensated?: readonly string[];
  readonly uncompensated?: readonly string[];
}

function ignore(): void {
  // The output is not needed.
}
