import { generateKey } from '@mcp-saga/server';
import type { Process } from './processes.ts';
import type { Proxy } from './proxy/proxy.ts';
import { between, oneOf, type Draw } from './seeded.ts';

/** A process that may be killed, and started again with other keys. */
export interface Place {
  readonly name: string;
  /** Starts a process here. */
  start(keys: string): Promise<Process>;
}

/** How often each thing was done. */
export interface MonkeyFigures {
  kills: number;
  providerKills: number;
  /** Keys that were brought in, made the first, and left alone, in all processes. */
  rotations: number;
}

/** Kills processes and starts them again; with each start, a process gets the keys of the phase of a rotation. */
export class Monkey {
  readonly figures: MonkeyFigures = { kills: 0, providerKills: 0, rotations: 0 };
  /** Every key there was, the newest first: whoever empties the queue keeps the old ones. */
  readonly keys: string[] = [];
  readonly #draw: Draw;
  readonly #places: readonly Place[];
  readonly #proxy: Proxy;
  readonly #running = new Map<string, Process>();
  /** The places that have the keys of this phase. */
  readonly #rolled = new Set<string>();
  /** How many phases there were: three make a rotation. */
  #phases = 0;

  constructor(draw: Draw, places: readonly Place[], proxy: Proxy) {
    this.#draw = draw;
    this.#places = places;
    this.#proxy = proxy;
    this.keys.push(newKey(this.keys.length));
  }

  /** Starts all of them. */
  async begin(): Promise<void> {
    await Promise.all(this.#places.map((place) => this.#start(place)));
    this.keys.unshift(newKey(this.keys.length));
  }

  /** Kills them, two at a time at the most, until it is aborted; then waits until all of them run. */
  async rage(until: AbortSignal, restartProvider: (ms: number) => Promise<void>): Promise<void> {
    const restarts: Promise<void>[] = [];
    while (!until.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- now and then
      await pause(between(this.#draw, 300, 1_600), until);
      if (until.aborted) break;
      if (this.#draw() < 0.12) {
        this.figures.providerKills += 1;
        // Every other time it is away for longer than it is asked again.
        const ms = this.#draw() < 0.5 ? 0 : between(this.#draw, 3_000, 6_000);
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await restartProvider(ms);
      } else if (this.#running.size > this.#places.length - 2) {
        const restart = this.#restart(this.#next());
        // Whoever waits for all of them hears of it.
        restart.catch(() => undefined);
        restarts.push(restart);
      }
    }
    await Promise.all(restarts);
  }

  /** Ends all of them. */
  async end(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => running.kill()));
  }

  /** One that runs; mostly one that has not got the keys of this phase yet: a rollout, by falling over. */
  #next(): Place {
    const running = this.#places.filter(({ name }) => this.#running.has(name));
    const behind = running.filter(({ name }) => !this.#rolled.has(name));
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
    const running = await place.start(this.#ring());
    this.#running.set(place.name, running);
    this.#proxy.route(place.name, running.url);
  }

  /** What a process is given in this phase: a new key opens everywhere before it seals anywhere. */
  #ring(): string {
    const [newest = '', older] = this.keys;
    return older === undefined
      ? newest
      : ([`${older},${newest}`, `${newest},${older}`, newest][this.#phases % 3] ?? newest);
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
