import { join } from 'node:path';
import { startRedis } from '../support/redis-server.ts';
import { bundlePrograms } from './bundle.ts';
import { ways } from './clients/ways.ts';
import { Crowd, type CrowdFigures } from './crowd.ts';
import { judge, type CallReport, type CancelReport } from './judge.ts';
import { Monkey, type MonkeyFigures } from './monkey.ts';
import { startProcess, type Process } from './processes.ts';
import type { LedgerRows, QueuedRow } from './provider/ledger.ts';
import { Proxy, type ProxyFigures } from './proxy/proxy.ts';
import { between, seeded } from './seeded.ts';
import type { Release } from './server/sagas.ts';

/** How much chaos. */
export interface ChaosOptions {
  /**
   * How long things go wrong; on a slow machine until as many calls have ended as are in flight, four times as long at
   * the most. What was begun by then is seen through in peace.
   */
  readonly seconds: number;
  /** Chooses the faults, the users and their answers. What meets what is up to the machine. */
  readonly seed: number;
  /** How many sagas are in flight. Default 200. */
  readonly inFlight?: number;
  /** What a process prints that is not expected. */
  readonly onLine?: (line: string) => void;
}

/** What came of it. */
export interface Chaos {
  /** Everything that is wrong. */
  readonly problems: readonly string[];
  readonly calls: readonly CallReport[];
  readonly crowd: CrowdFigures;
  readonly monkey: MonkeyFigures;
  readonly proxy: ProxyFigures;
  readonly provider: {
    readonly late: number;
    readonly dropped: number;
    readonly failed: number;
    readonly outages: number;
  };
  readonly ledger: LedgerRows;
  readonly cancelled: readonly CancelReport[];
  /** Tokens that servers refused, by the true reason. */
  readonly rejected: Readonly<Record<string, number>>;
}

const names = ['A', 'B', 'C', 'D'];
const mostSkew = 4_000;
// Past everything a token lives for; those that cancel live for a month more.
const nextWeek = 8 * 24 * 60 * 60 * 1000;

/** Lets two hundred sagas run among processes that die, sockets that are cut and keys that change, and judges. */
export async function chaos({
  seconds,
  seed,
  inFlight = 200,
  onLine = ignore,
}: ChaosOptions): Promise<Chaos> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const programs = await bundlePrograms();
    ends.push(() => programs.remove());
    const redis = await startRedis({ persists: true });
    ends.push(() => redis.kill());
    const provider = new Provider(programs.provider, join(programs.folder, 'ledger.sqlite'), seed, onLine);
    ends.push(() => provider.kill());
    await provider.start();
    const proxy = await Proxy.listen(seeded(seed));
    const rejected: Record<string, number> = {};
    const startServer = (name: string, keys: string, more: Readonly<Record<string, string>> = {}) =>
      startProcess(name, programs.server, {
        environment: { REDIS_URL: redis.url, PROVIDER_URL: provider.url.href, SAGA_KEYS: keys, ...more },
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
        // Clocks differ from machine to machine, within the grace that tokens have.
        const offset = between(skew, -mostSkew, mostSkew);
        return startServer(name, keys, { RELEASE: release, CLOCK_OFFSET: String(offset) });
      },
    }));
    const monkey = new Monkey(seeded(seed + 1), places, proxy, {
      restartProvider: (ms) => provider.restart(ms),
      refuseEffects: (ms) => provider.post('/outage', { ms }),
      restartRedis: async () => {
        await redis.kill();
        await redis.restart();
      },
      pauseRedis: (ms) => redis.pause(ms),
    });
    ends.push(() => monkey.end());
    await monkey.begin();

    const crowd = new Crowd(seeded(seed + 2), proxy.url, ways, inFlight);
    const over = new AbortController();
    const raging = monkey.rage(over.signal, seconds * 400);
    // Whoever waits for it hears of it.
    raging.catch(() => undefined);
    crowd.call(over.signal);
    await after(seconds * 1000);
    await Promise.race([crowd.isAround, after(3 * seconds * 1000)]);
    over.abort();
    await raging;
    proxy.calm();
    await provider.post('/calm');
    await crowd.settled();
    // Whatever is still going on for nobody is over, too.
    await proxy.close();
    await monkey.end();

    const keys = monkey.keys.join(',');
    const drain = await startServer('drain', keys, { CLOCK_OFFSET: String(nextWeek) });
    ends.push(() => drain.kill());
    const cancelled = await drained(drain.url, async () => (await provider.ledger()).queued);
    const { faults, ...ledger } = await provider.ledger();
    return {
      problems: judge({ ...ledger, calls: crowd.reports, cancelled }),
      calls: crowd.reports,
      crowd: crowd.figures(),
      monkey: monkey.figures,
      proxy: proxy.figures,
      provider: faults,
      ledger,
      cancelled,
      rejected,
    };
  } finally {
    // The last one started ends first.
    for (const end of ends.toReversed()) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await end();
    }
  }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** The provider's process, which keeps its place and its books when it is killed. */
class Provider {
  readonly #program: string;
  readonly #ledger: string;
  readonly #onLine: (line: string) => void;
  #seed: number;
  #process: Process | undefined;
  #port = '0';

  constructor(program: string, ledger: string, seed: number, onLine: (line: string) => void) {
    this.#program = program;
    this.#ledger = ledger;
    this.#seed = seed;
    this.#onLine = onLine;
  }

  get url(): URL {
    if (this.#process === undefined) throw new Error('The provider does not run.');
    return this.#process.url;
  }

  async start(): Promise<void> {
    this.#seed += 1;
    this.#process = await startProcess('provider', this.#program, {
      environment: { LEDGER: this.#ledger, SEED: String(this.#seed), PORT: this.#port },
      onLine: this.#onLine,
    });
    this.#port = this.#process.url.port;
  }

  /** Kills it, and starts it again after so many milliseconds. */
  async restart(ms: number): Promise<void> {
    await this.kill();
    await after(ms);
    await this.start();
  }

  async kill(): Promise<void> {
    await this.#process?.kill();
  }

  async post(path: string, body: object = {}): Promise<void> {
    await fetch(new URL(path, this.url), { method: 'POST', body: JSON.stringify(body) });
  }

  async ledger(): Promise<LedgerRows & { readonly faults: Chaos['provider'] }> {
    const response = await fetch(new URL('/ledger', this.url));
    return (await response.json()) as LedgerRows & { readonly faults: Chaos['provider'] };
  }
}

/** Delivers what is in the queue, as if its time had come, and what is put there meanwhile. */
async function drained(
  url: URL,
  queued: () => Promise<readonly QueuedRow[]>,
): Promise<readonly CancelReport[]> {
  const reports: CancelReport[] = [];
  const known = new Set<string>();
  for (;;) {
    // oxlint-disable-next-line no-await-in-loop -- until nothing new is there
    const left = (await queued()).filter(({ cancelToken }) => !known.has(cancelToken));
    if (left.length === 0) return reports;
    const worker = async (): Promise<void> => {
      for (let row = left.pop(); row !== undefined; row = left.pop()) {
        known.add(row.cancelToken);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        reports.push(await delivered(url, row));
      }
    };
    // oxlint-disable-next-line no-await-in-loop -- until nothing new is there
    await Promise.all(Array.from({ length: 16 }, worker));
  }
}

const mostDeliveries = 60;

/** Delivers a message, and again where it says that it is not done. */
async function delivered(url: URL, { sagaId, cancelToken }: QueuedRow): Promise<CancelReport> {
  for (let times = 1; ; times += 1) {
    // oxlint-disable-next-line no-await-in-loop -- again, until it is done
    const response = await fetch(new URL('/cancel', url), {
      method: 'POST',
      body: JSON.stringify({ cancelToken }),
    });
    // oxlint-disable-next-line no-await-in-loop -- again, until it is done
    const answer = (await response.json()) as CancelAnswer;
    const { status, reason = '', compensated = [], residue = [] } = answer;
    if (status !== 'later') return { sagaId, status, compensated, residue };
    if (times === mostDeliveries) throw new Error(`A message of the queue is never done: ${reason}`);
    // oxlint-disable-next-line no-await-in-loop -- not at once
    await after(250);
  }
}

interface CancelAnswer {
  readonly status: CancelReport['status'] | 'later';
  readonly reason?: string;
  readonly compensated?: readonly string[];
  readonly residue?: readonly string[];
}

function ignore(): void {
  // Nobody reads it.
}
