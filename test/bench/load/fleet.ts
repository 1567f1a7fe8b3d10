import { performance } from 'node:perf_hooks';
import type { Board, Flight } from './clients/flight.ts';

/** Result of a load run. */
export interface Driven {
  readonly requests: number;
  /** Milliseconds on the clock of each request. */
  readonly latencies: readonly number[];
  /** Answers of users that came to no response, or to an error. */
  readonly errors: readonly unknown[];
  readonly ms: number;
  /** Distinct texts of all results. */
  readonly told: ReadonlySet<string>;
}

/** All users of one server. */
export class Fleet {
  readonly #url: string;
  readonly #board: Board;
  /** Users with a pending question, the longest wait first. */
  readonly #waiting: Flight[] = [];

  constructor(url: string, board: Board) {
    this.#url = url;
    this.#board = board;
  }

  /** Adds users up to the given number. Each of them then has a pending question. */
  async growTo(size: number): Promise<void> {
    let missing = size - this.#waiting.length;
    await together(boardsAtOnce, async () => {
      while (missing > 0) {
        missing -= 1;
        this.#waiting.push(await this.#board(this.#url));
      }
    });
  }

  /**
   * Lets the users answer, longest wait first, until the time is over. Each has a question open
   * then.
   *
   * @param atOnce - requests that are sent at once
   * @throws Error if a request fails
   */
  async drive(ms: number, atOnce: number = this.#waiting.length): Promise<Driven> {
    const start = performance.now();
    const driven = await this.#answer(atOnce, () => performance.now() - start >= ms);
    const [failed] = driven.errors;
    if (failed !== undefined) throw failed;
    return driven;
  }

  /**
   * Lets all users answer at once, until they have sent at least the given number of requests. A
   * user whose request fails goes on with the next one.
   */
  async send(requests: number): Promise<Driven> {
    return await this.#answer(this.#waiting.length, (sent) => sent >= requests);
  }

  async #answer(atOnce: number, isOver: (sent: number) => boolean): Promise<Driven> {
    const start = performance.now();
    const told = new Set<string>();
    const latencies: number[] = [];
    const errors: unknown[] = [];
    await together(atOnce, async () => {
      do {
        const flight = this.#waiting.shift();
        // There are fewer users than allowed concurrent requests.
        if (flight === undefined) return;
        try {
          const progress = await flight.next();
          latencies.push(...progress.latencies);
          if (progress.told !== undefined) told.add(progress.told);
        } catch (error) {
          errors.push(error);
        }
        this.#waiting.push(flight);
      } while (!isOver(latencies.length + errors.length));
    });
    return { requests: latencies.length, latencies, errors, ms: performance.now() - start, told };
  }
}

// Lower than for requests, because each new user opens a connection.
const boardsAtOnce = 16;

/** Runs loops at once. */
export async function together(loops: number, loop: () => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: loops }, loop));
}
