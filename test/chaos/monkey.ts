import { generateKey } from '@mcp-saga/server';
import type { Process } from './processes.ts';
import type { Proxy } from './proxy/proxy.ts';
import { between, oneOf, type Draw } from './seeded.ts';
import type { Release } from './server/sagas.ts';

/** A process that may be killed, and started again with other keys. */
export interface Place {
  readonly name: string;
  /** Starts a process of a release here. */
  start(keys: string, release: Release): Promise<Process>;
}

/** The services that the processes depend on. */
export interface Services {
  /** Kills the provider and starts it again after a while. */
  restartProvider(ms: number): Promise<void>;
  /** Lets the provider refuse every effect for a while. */
  refuseEffects(ms: number): Promise<void>;
  /** Kills Redis and starts it again from its log. */
  restartRedis(): Promise<void>;
  /** Stops Redis for a while. Connections stay open. */
  pauseRedis(ms: number): Promise<void>;
}

/** How often each thing was done. */
export interface MonkeyFigures {
  kills: number;
  providerKills: number;
  outages: number;
  redisKills: number;
  redisPauses: number;
  /** Processes that were replaced by the new release while others still ran the old one. */
  deployed: number;
  /** Keys that were brought in, made the first, and left alone, in all processes. */
  rotations: number;
}

/** Kills processes and starts them again; with each start, a process gets the keys of the phase of a rotation. */
export class Monkey {
  readonly figures: MonkeyFigures = {
    kills: 0,
    providerKills: 0,
    outages: 0,
    redisKills: 0,
    redisPauses: 0,
    deployed: 0,
    rotations: 0,
  };
  /** Every key there was, the newest first: whoever empties the queue keeps the old ones. */
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
  /** How many phases there were: three make a rotation. */
  #phases = 0;

  constructor(draw: Draw, places: readonly Place[], proxy: Proxy, services: Services) {
    this.#draw = draw;
    this.#places = places;
    this.#proxy = proxy;
    this.#services = services;
    this.keys.push(newKey(this.keys.length));
  }

  /** Starts all of them. */
  async begin(): Promise<void> {
    await Promise.all(this.#places.map((place) => this.#start(place)));
    this.keys.unshift(newKey(this.keys.length));
  }

  /**
   * Kills processes, at most two at a time, until it is aborted. Then waits until all of them run the new release.
   *
   * @param deployAfter - when the rolling deploy begins, in milliseconds
   */
  async rage(until: AbortSignal, deployAfter: number): Promise<void> {
    const restarts: Promise<void>[] = [];
    const deploy = setTimeout(() => {
      this.#isDeploying = true;
    }, deployAfter);
    while (!until.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- now and then
      await pause(between(this.#draw, 300, 1_600), until);
      if (until.aborted) break;
      const luck = this.#draw();
      if (luck < 0.3) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await this.#disturb(luck / 0.3);
      } else if (this.#running.size > this.#places.length - 2) {
        const restart = this.#restart(this.#next());
        // Rejects below, where all of them are awaited.
        restart.catch(() => undefined);
        restarts.push(restart);
        if (this.#draw() < 0.25) {
          this.figures.outages += 1;
          // Longer than a step is retried: the repetition of a killed turn meets a provider that refuses.
          // oxlint-disable-next-line no-await-in-loop -- one after the other
          await this.#services.refuseEffects(between(this.#draw, 2_500, 4_500));
        }
      }
    }
    await Promise.all(restarts);
    clearTimeout(deploy);
    this.#isDeploying = true;
    for (const place of this.#places) {
      // oxlint-disable-next-line no-await-in-loop -- the rest of the rolling deploy
      if (!this.#deployed.has(place.name)) await this.#restart(place);
    }
  }

  /** Disturbs a service. @param luck - from 0 to 1: which one */
  async #disturb(luck: number): Promise<void> {
    if (luck < 0.4) {
      this.figures.providerKills += 1;
      // Every other time it stays away for longer than it is retried.
      await this.#services.restartProvider(this.#draw() < 0.5 ? 0 : between(this.#draw, 3_000, 6_000));
    } else if (luck < 0.7) {
      this.figures.redisKills += 1;
      await this.#services.restartRedis();
    } else {
      this.figures.redisPauses += 1;
      await this.#services.pauseRedis(between(this.#draw, 300, 2_500));
    }
  }

  /** Ends all of them. */
  async end(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => running.kill()));
  }

  /** Chooses a running place, mostly one without the keys of this phase or the new release: a rollout by crashes. */
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
   * The key ring of this phase: a new key opens everywhere before it seals anywhere. A key stays for three more rotations, so
   * that it outlives the tokens it sealed.
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

function pause(ms: number, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const go = (): void => {
      clearTimeout(timer);
      until.removeEventListener('abort', go);
      resolve();
    };
    const timer = setTimeout(go, ms);
    until.addEventListener('abort', go);
  });
}
