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
  #phase = 0;

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

  /** Kills one after the other until it is aborted; then waits until all of them run. */
  async rage(until: AbortSignal, killProvider: () => Promise<void>): Promise<void> {
    while (!until.aborted) {
      // oxlint-disable-next-line no-await-in-loop -- now and then
      await pause(between(this.#draw, 300, 1_600), until);
      if (until.aborted) return;
      if (this.#draw() < 0.08) {
        this.figures.providerKills += 1;
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await killProvider();
        continue;
      }
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      await this.#restart(this.#next());
    }
  }

  /** Ends all of them. */
  async end(): Promise<void> {
    await Promise.all([...this.#running.values()].map((running) => running.kill()));
  }

  /** Mostly one that has not got the keys of this phase yet: a rollout, by falling over. */
  #next(): Place {
    const behind = this.#places.filter(({ name }) => !this.#rolled.has(name));
    return oneOf(this.#draw, behind.length > 0 && this.#draw() < 0.8 ? behind : this.#places);
  }

  async #restart(place: Place): Promise<void> {
    const { name } = place;
    this.figures.kills += 1;
    await this.#running.get(name)?.kill();
    this.#proxy.route(name, undefined);
    this.#rolled.add(name);
    await this.#start(place);
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
      : ([`${older},${newest}`, `${newest},${older}`, newest][this.#phase] ?? newest);
  }

  #nextPhase(): void {
    this.#rolled.clear();
    this.#phase += 1;
    if (this.#phase < 3) return;
    this.#phase = 0;
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
