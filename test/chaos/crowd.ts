import { longestWait } from '../support/patience.ts';
import { backOff } from './clients/steady-fetch.ts';
import { RefusedCall, type Tool, type Way } from './clients/way.ts';
import type { CallReport, Ending } from './judge.ts';
import { between, oneOf, seeded, type Draw } from './seeded.ts';
import { User } from './user.ts';

/** Endings of the calls in one dialect. */
export interface DialectFigures extends Record<Ending, number> {
  readonly dialect: string;
  calls: number;
}

export interface CrowdFigures {
  readonly dialects: readonly DialectFigures[];
  /** Time from the call to its result, in milliseconds, including the user's thinking time. */
  readonly latency: { readonly p50: number; readonly p99: number };
  /** Number of calls that a client repeated as a new saga. */
  readonly restarts: number;
}

const mostRestarts = 25;
// All client timeouts are shorter: a call without an ending by then hangs.
const longestEnd = 240_000;
const tools: readonly Tool[] = [
  'buy',
  'buy',
  'trip',
  'errand',
  'dash',
  'dash',
  'gift',
  'gift',
  'parcel',
  'parcel',
  'tour',
];

/** Draws a key that nobody can guess, as a client would. */
function keyFrom(draw: Draw): string {
  return Array.from({ length: 4 }, () =>
    between(draw, 0, 2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
}

/**
 * A fixed number of clients. Each client makes its next call as soon as the previous one has ended.
 */
export class Crowd {
  readonly reports: CallReport[] = [];
  readonly #draw: Draw;
  readonly #proxy: URL;
  readonly #slots: readonly Way[];
  readonly #users = new Set<User>();
  readonly #took: number[] = [];
  #onEnded: () => void = () => undefined;
  #callers: Promise<unknown> = Promise.resolve();
  #restarts = 0;
  #calls = 0;

  constructor(draw: Draw, proxy: URL, ways: readonly (readonly [Way, number])[], inFlight: number) {
    this.#draw = draw;
    this.#proxy = proxy;
    const all = ways.reduce((sum, [, share]) => sum + share, 0);
    this.#slots = ways.flatMap(([way, share]) =>
      Array.from({ length: Math.max(1, Math.round((share * inFlight) / all)) }, () => way),
    );
  }

  /** Makes calls with all clients until the signal aborts. Calls in flight continue. */
  call(over: AbortSignal): void {
    this.#callers = Promise.all(this.#slots.map((way) => this.#keepCalling(way, over)));
  }

  /**
   * Waits until so many calls have ended, and each dialect has completed one. `false`: for a long
   * time, no call has ended.
   */
  async ended(count: number): Promise<boolean> {
    const isOver = (): boolean =>
      this.reports.length >= count &&
      this.figures().dialects.every(({ completed }) => completed > 0);
    while (!isOver()) {
      const hasEnded = await new Promise<boolean>((resolve) => {
        const timer = setTimeout(() => resolve(false), longestWait);
        this.#onEnded = () => {
          clearTimeout(timer);
          resolve(true);
        };
      });
      if (!hasEnded) return false;
    }
    return true;
  }

  /** Waits for the end of all calls. Reports calls that hang, and abandons them. */
  async settled(): Promise<void> {
    const timer = setTimeout(() => {
      for (const user of this.#users) user.leaves();
    }, longestEnd);
    await this.#callers;
    clearTimeout(timer);
  }

  figures(): CrowdFigures {
    const names = [...new Set(this.#slots.map(({ dialect }) => dialect))];
    const took = this.#took.toSorted((one, other) => one - other);
    const at = (share: number): number =>
      Math.round(took[Math.floor((took.length - 1) * share)] ?? 0);
    return {
      dialects: names.map((dialect) => {
        const reports = this.reports.filter((report) => report.dialect === dialect);
        const count = (ending: Ending): number =>
          reports.filter((report) => report.ending === ending).length;
        return {
          dialect,
          calls: reports.length,
          completed: count('completed'),
          failed: count('failed'),
          refused: count('refused'),
          vanished: count('vanished'),
          unfinished: count('unfinished'),
        };
      }),
      latency: { p50: at(0.5), p99: at(0.99) },
      restarts: this.#restarts,
    };
  }

  async #keepCalling(way: Way, over: AbortSignal): Promise<void> {
    const draw = seeded(between(this.#draw, 0, 2 ** 31));
    // Spreads the starts of the clients.
    await new Promise((resolve) => setTimeout(resolve, between(draw, 0, 1_500)));
    while (!over.aborted) {
      const user = new User(draw);
      this.#users.add(user);
      const began = performance.now();
      const isNamed = draw() < 0.5;
      const key = isNamed ? keyFrom(draw) : undefined;
      const { ending, text } = await this.#called(way, { user, key, draw }, over);
      this.#users.delete(user);
      if (ending === 'completed') this.#took.push(performance.now() - began);
      const isHonest = user.habit !== 'goes back';
      const { asked, refused } = user;
      const hasClosed = ending === 'vanished' && user.habit === 'vanishes silently';
      const closed = hasClosed && way.dialect === 'push' ? asked.slice(-1) : [];
      const { dialect } = way;
      this.reports.push({ dialect, ending, asked, refused, closed, text, isHonest, isNamed });
      this.#onEnded();
    }
  }

  #newCall(): string {
    this.#calls += 1;
    return `call ${this.#calls}`;
  }

  /** Calls a tool, and calls it again if the call is lost. */
  async #called(
    way: Way,
    {
      user,
      key,
      draw,
    }: { readonly user: User; readonly key: string | undefined; readonly draw: Draw },
    over: AbortSignal,
  ): Promise<Pick<CallReport, 'ending' | 'text'>> {
    const tool = oneOf(draw, tools);
    let call = this.#newCall();
    for (let tries = 1; ; tries += 1) {
      const calling = { proxy: this.#proxy, tool, arguments: { call }, key, user, draw };
      try {
        const { text, isError } = await way.see(calling);
        return { ending: isError ? 'failed' : 'completed', text };
      } catch (error) {
        const text = String(error);
        if (user.left.aborted) {
          const isHanging = over.aborted && !user.habit.startsWith('vanishes');
          return { ending: isHanging ? 'unfinished' : 'vanished', text };
        }
        if (error instanceof RefusedCall) return { ending: 'refused', text };
        if (tries === mostRestarts) return { ending: 'unfinished', text };
        this.#restarts += 1;
        // Without a key, the client can only make another call.
        if (key === undefined) call = this.#newCall();
        await backOff(draw, tries);
      }
    }
  }
}
