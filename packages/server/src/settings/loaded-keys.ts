import type { Awaitable } from '@mcp-saga/core';
import { SealError } from '@mcp-saga/seal';
import { SagaHostError } from '../wire/errors.ts';
import type { sleep } from './clock.ts';
import { outline } from './default-log.ts';

/** Duration after which a load counts as failed, in milliseconds. */
export const loadTimeoutMs: number = 10_000;

/** Minimum time between two loads that tokens with unknown keys cause, in milliseconds. */
export const earlyLoadMs: number = 10_000;

const firstRetryMs = 1_000;

const lastRetryMs = 60_000;

/** Loader of the keys of one ring. */
export interface KeyLoader<T> {
  readonly load: () => Awaitable<T>;
  readonly refreshMs: number;
  readonly clock: () => number;
  /** A real timer: the `sleep` of a host may follow a simulated clock. */
  readonly sleep: typeof sleep;
  /** Receives each failed load. */
  readonly onError: (error: SagaHostError) => void;
}

/** Keeps the runtime alive for work after the response. */
export type WaitUntil = (work: Promise<unknown>) => void;

interface Load {
  /** Number of the load, from 1. */
  readonly number: number;
  readonly began: number;
  /** Never rejects. */
  readonly settled: Promise<void>;
}

/**
 * Keys of one ring: loaded at first use, and refreshed in the background. `T` is made of the ring.
 *
 * One load runs at a time, and its time is bounded by the requests that wait for it: on some
 * runtimes, a load ends without a result if the request that began it has ended.
 */
export class LoadedKeys<T extends object> {
  readonly #loader: KeyLoader<T>;
  #keys: T | undefined;
  #running: Load | undefined;
  /** Numbers of the newest load, and of the newest load with keys. */
  #newest = 0;
  #accepted = 0;
  #failures = 0;
  /** Start of the newest load, and earliest start of the next one without an unknown key. */
  #began = Number.NEGATIVE_INFINITY;
  #dueAt = Number.NEGATIVE_INFINITY;

  constructor(loader: KeyLoader<T>) {
    this.#loader = loader;
  }

  /**
   * Returns the loaded keys at once, and refreshes due keys in the background. Without keys, waits
   * for a load. Throws `keys_down`.
   */
  get(waitUntil?: WaitUntil): T | Promise<T> {
    const load = this.#loadFrom(this.#dueAt);
    if (this.#keys === undefined) return this.#first(load);
    if (load !== undefined) waitUntil?.(load.settled);
    return this.#keys;
  }

  /**
   * Returns the loaded keys, and begins no refresh: only a load with the `waitUntil` of its request
   * outlives the request.
   */
  newest(): T | Promise<T> {
    return this.#keys ?? this.get();
  }

  /**
   * Returns newer keys for a token whose key is unknown to `known`, after an early load if none
   * began within {@link earlyLoadMs}. Returns undefined if there are none. Throws `keys_down` if
   * the newest load failed: the key may exist.
   */
  async newerThan(known: T): Promise<T | undefined> {
    if (this.#keys === known) {
      const early = Math.min(this.#dueAt, this.#began + earlyLoadMs);
      await this.#ended(this.#loadFrom(this.#failures > 0 ? this.#dueAt : early));
    }
    if (this.#keys !== known) return this.#keys;
    if (this.#failures > 0) throw keysDown();
    return undefined;
  }

  async #first(load: Load | undefined): Promise<T> {
    await this.#ended(load);
    if (this.#keys === undefined) throw keysDown();
    return this.#keys;
  }

  /** Returns the running load, or begins one at or after `earliest`. */
  #loadFrom(earliest: number): Load | undefined {
    const now = this.#loader.clock();
    const running = this.#running;
    if (running !== undefined && now < running.began + loadTimeoutMs) return running;
    if (running !== undefined) {
      this.#timeOut(running);
      return undefined;
    }
    // The clock may have been set back.
    if (now < earliest && now >= this.#began) return undefined;
    this.#began = now;
    this.#newest += 1;
    const number = this.#newest;
    // After the assignment of #running.
    const load = {
      number,
      began: now,
      settled: Promise.resolve().then(() => this.#settle(number)),
    };
    this.#running = load;
    return load;
  }

  async #settle(number: number): Promise<void> {
    const { load, clock, refreshMs } = this.#loader;
    try {
      const keys = await load();
      // A load that timed out may end after a later load.
      if (number < this.#accepted) return;
      this.#keys = keys;
      this.#accepted = number;
      this.#failures = 0;
      this.#dueAt = clock() + refreshMs;
    } catch (error) {
      if (this.#running?.number === number)
        this.#fail(error instanceof SealError ? error.message : outline(error));
    }
    if (this.#running?.number === number) this.#running = undefined;
  }

  /** Waits for the end of a load, or until it counts as failed. */
  async #ended(load: Load | undefined): Promise<void> {
    if (load === undefined) return;
    const { clock, sleep } = this.#loader;
    const ended = new AbortController();
    const left = Math.max(0, load.began + loadTimeoutMs - clock());
    const isOver = load.settled.then(() => true);
    const inTime = await Promise.race([isOver, sleep(left, ended.signal).then(() => false)]);
    ended.abort();
    if (!inTime) this.#timeOut(load);
  }

  #timeOut({ number }: Load): void {
    if (this.#running?.number !== number) return;
    this.#running = undefined;
    this.#fail(`No answer within ${loadTimeoutMs} ms.`);
  }

  #fail(why: string): void {
    const { clock, onError } = this.#loader;
    this.#dueAt = clock() + Math.min(lastRetryMs, firstRetryMs * 2 ** this.#failures);
    this.#failures += 1;
    const effect =
      this.#keys === undefined
        ? 'Requests fail until keys are loaded.'
        : 'The host continues with the keys of the last load.';
    const message = `keys: the keys could not be loaded. ${why} ${effect}`;
    // Without the cause: the message of a foreign error may quote a key.
    onError(new SagaHostError('keys_down', message, { public: false }));
  }
}

/** Makes the error for requests that must wait for keys. */
export function keysDown(): SagaHostError {
  return new SagaHostError(
    'keys_down',
    'The server cannot continue the call now. Send the request again later.',
  );
}
