import { generateKey } from '@mcp-saga/server';
import type { Process } from './processes.ts';
import type { Proxy } from './proxy/proxy.ts';
import { between, oneOf, type Draw } from './seeded.ts';
import type { Release } from './server/sagas.ts';

/** A slot for one server process, which may be killed and restarted with other keys. */
export interface Place {
  readonly name: string;
  /** Starts a process of a release in this slot. */
  start(keys: string, release: Release): Promise<Process>;
}

/** Services that the server processes use. */
export interface Services {
  /** Kills the provider, and restarts it after a delay. */
  restartProvider(ms: number): Promise<void>;
  /** Lets the provider refuse every effect for a while. */
  refuseEffects(ms: number): Promise<void>;
  /** Kills a database, and restarts it from its log. */
  crashDatabase(): Promise<void>;
  /** Lets a database answer nothing for a while. Connections stay open. */
  pauseDatabase(ms: number): Promise<void>;
}

/** Fewest and most requests between two faults. */
const requestsBetweenFaults = [30, 150] as const;

/** Number of times that each disturbance happened. */
export interface MonkeyFigures {
  kills: number;
  providerKills: number;
  outages: number;
  databaseCrashes: number;
  databasePauses: number;
  /** Processes that were replaced by the new release while others still ran the old one. */
  deployed: number;
  /** Key rotations that completed all three phases in all processes. */
  rotations: number;
}

/**
 * Kills and restarts processes. Each restart uses the keys of the current rotation phase. Faults
 * follow the requests of the clients, not the clock: a slow machine gets as many of them.
 */
export class Monkey {
  readonly figures: MonkeyFigures = {
    kills: 0,
    providerKills: 0,
    outages: 0,
    databaseCrashes: 0,
    databasePauses: 0,
    deployed: 0,
    rotations: 0,
  };
  /** All keys so far, newest first: the end of the test needs the old ones for the queue. */
  readonly keys: string[] = [];
  readonly #draw: Draw;
  readonly #places: readonly Place[];
  readonly #proxy: Proxy;
  readonly #services: Services;
  /** Places that run the new release. */
  readonly #deployed = new Set<string>();
  #isDeploying = false;
  readonly #running = new Map<string, Process>();
  /** The places that have the keys of this phase. */
  readonly #rolled = new Set<string>();
  /** Number of phases so far: a rotation has three phases. */
  #phases = 0;

  constructor(draw: Draw, places: readonly Place[], proxy: Proxy, services: Services) {
    this.#draw = draw;
    this.#places = places;
    this.#proxy = proxy;
    this.#services = services;
    this.keys.push(newKey(this.keys.length));
  }

  /** Starts a process in each place. */
  async begin(): Promise<void> {
    await Promise.all(this.#places.map((place) => this.#start(place)));
    this.keys.unshift(newKey(this.keys.length));
  }

  /**
   * Kills processes, at most two at a time, until it is aborted. Then waits until all of them run
   * the new release.
   */
  async rage(until: AbortSignal): Promise<void> {
    const restarts: Promise<void>[] = [];
    while (!until.aborted) {
      await this.#proxy.passes(between(this.#draw, ...requestsBetweenFaults), until);
      if (until.aborted) break;
      const luck = this.#draw();
      if (luck < 0.3) {
        await this.#disturb(luck / 0.3);
      } else if (this.#running.size > this.#places.length - 2) {
        const restart = this.#restart(this.#next());
        // The promise is awaited below, with all others.
        restart.catch(() => undefined);
        restarts.push(restart);
        if (this.#draw() < 0.25) {
          this.figures.outages += 1;
          // Longer than the retries of a step: the retry of a killed turn also reaches a provider
          // that refuses.
          await this.#services.refuseEffects(between(this.#draw, 2_500, 4_500));
        }
      }
    }
    await Promise.all(restarts);
    this.deploy();
    for (const place of this.#places) {
      if (!this.#deployed.has(place.name)) await this.#restart(place);
    }
  }

  /** Begins the rolling deploy: processes that restart from now on run the new release. */
  deploy(): void {
    this.#isDeploying = true;
  }

  /** Disturbs a service. @param luck - from 0 to 1: which one */
  async #disturb(luck: number): Promise<void> {
    if (luck < 0.4) {
      this.figures.providerKills += 1;
      // Half of the outages last longer than the retries.
      await this.#services.restartProvider(
        this.#draw() < 0.5 ? 0 : between(this.#draw, 3_000, 6_000),
      );
    } else if (luck < 0.7) {
      this.figures.databaseCrashes += 1;
      await this.#services.crashDatabase();
    } else {
      this.figures.databasePauses += 1;
      await this.#services.pauseDatabase(between(this.#draw, 300, 2_500));
    }
  }

  /** Stops all processes. */
  async end(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => running.kill()));
  }

  /**
   * Selects a running place, preferably one without the current keys or the new release: crashes do
   * the rollout.
   */
  #next(): Place {
    const running = this.#places.filter(({ name }) => this.#running.has(name));
    const isOld = (name: string): boolean => this.#isDeploying && !this.#deployed.has(name);
    const behind = running.filter(({ name }) => isOld(name) || !this.#rolled.has(name));
    return oneOf(this.#draw, behind.length > 0 && this.#draw() < 0.9 ? behind : running);
  }

  async #restart(place: Place): Promise<void> {
    const { name } = place;
    this.figures.kills += 1;
    const dying = this.#running.get(name);
    this.#running.delete(name);
    await dying?.kill();
    this.#proxy.route(name, undefined);
    const phase = this.#phases;
    await this.#start(place);
    if (phase === this.#phases) this.#rolled.add(name);
    if (this.#rolled.size === this.#places.length) this.#nextPhase();
  }

  async #start(place: Place): Promise<void> {
    const release = this.#isDeploying ? 'new' : 'old';
    const running = await place.start(this.#ring(), release);
    if (release === 'new' && !this.#deployed.has(place.name)) {
      this.#deployed.add(place.name);
      this.figures.deployed += 1;
    }
    this.#running.set(place.name, running);
    this.#proxy.route(place.name, running.url);
  }

  /**
   * Key ring of the current phase. All processes can open tokens with a new key before any process
   * seals with it. A key stays for three more rotations, longer than its tokens live.
   */
  #ring(): string {
    const [newest = '', older, ...oldest] = this.keys;
    if (older === undefined) return newest;
    const first = this.#phases % 3 === 0 ? [older, newest] : [newest, older];
    return [...first, ...oldest.slice(0, 3)].join(',');
  }

  #nextPhase(): void {
    this.#rolled.clear();
    this.#phases += 1;
    if (this.#phases % 3 !== 0) return;
    this.figures.rotations += 1;
    this.keys.unshift(newKey(this.keys.length));
  }
}

function newKey(number: number): string {
  return generateKey(`k${number}`);
}
