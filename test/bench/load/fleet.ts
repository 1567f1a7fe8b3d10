import { performance } from 'node:perf_hooks';
import type { Board, Flight } from './clients/flight.ts';

/** What came of driving for a while. */
export interface Driven {
  readonly requests: number;
  readonly ms: number;
  /** Everything the tool has said at the end of a call, each once. */
  readonly told: ReadonlySet<string>;
}

/** The users of one server. */
export class Fleet {
  readonly #url: string;
  readonly #board: Board;
  /** Those who wait, the longest first. */
  readonly #waiting: Flight[] = [];

  constructor(url: string, board: Board) {
    this.#url = url;
    this.#board = board;
  }

  /** Adds users until there are so many. Each has a question open then. */
  async growTo(size: number): Promise<void> {
    let missing = size - this.#waiting.length;
    await together(boardsAtOnce, async () => {
      while (missing > 0) {
        missing -= 1;
        // oxlint-disable-next-line no-await-in-loop -- one after the other, as often as requests are sent at once
        this.#waiting.push(await this.#board(this.#url));
      }
    });
  }

  /**
   * Lets the users answer, longest wait first, until the time is over. Each has a question open then.
   *
   * @param atOnce - requests that are sent at once
   */
  async drive(ms: number, atOnce: number = this.#waiting.length): Promise<Driven> {
    const start = performance.now();
    const told = new Set<string>();
    let requests = 0;
    await together(atOnce, async () => {
      do {
        const flight = this.#waiting.shift();
        // There are fewer users than requests that may be sent at once.
        if (flight === undefined) return;
        // oxlint-disable-next-line no-await-in-loop -- as above
        const progress = await flight.next();
        this.#waiting.push(flight);
        requests += progress.requests;
        if (progress.told !== undefined) told.add(progress.told);
      } while (performance.now() - start < ms);
    });
    return { requests, ms: performance.now() - start, told };
  }
}

// New users come more slowly, since each opens a connection.
const boardsAtOnce = 16;

async function together(loops: number, loop: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: loops }, loop));
}
