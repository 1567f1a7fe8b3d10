import { AuthoringError, type TurnClock } from '@mcp-saga/core/program';
import type { EventScheduler, LiveActor, Timer } from '../model/live-actor.ts';

/** ID of an event that can no longer be cancelled: a number and the original ID. */
const looseId = /^~~\d+ (.*)$/s;

/** Delayed events of a machine as data, so that a suspended machine keeps them. */
export class Deadlines implements EventScheduler {
  readonly #turn: TurnClock;
  /** Time of the machine. */
  readonly #now: () => number;
  #timers: Timer[] = [];
  /** Timer that fires now, if any. */
  #passing: Timer | undefined;
  #grace = 0;

  constructor(turn: TurnClock, now: () => number) {
    this.#turn = turn;
    this.#now = now;
  }

  /** Timers in order of creation. */
  get timers(): readonly Timer[] {
    return this.#timers;
  }

  /** The timer that is due first; of several, the oldest. */
  get next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers)
      if (next === undefined || this.dueAt(timer) < this.dueAt(next)) next = timer;
    return next;
  }

  /**
   * Delays timers of earlier turns, and timers due at the start, by `grace` ms, so that answers
   * come first. 0 ends the grace.
   */
  hold(grace: number): void {
    this.#grace = grace;
  }

  /**
   * Time at which a timer fires, in milliseconds since the epoch. The machine still sees the time
   * of the timer.
   */
  dueAt({ at, isNew }: Timer): number {
    return isNew === true && at > this.#turn.began ? at : at + this.#grace;
  }

  /** Removes a timer, if present. */
  remove(timer: Timer): void {
    const index = this.#timers.indexOf(timer);
    if (index !== -1) this.#timers.splice(index, 1);
  }

  /** Adds a timer of an earlier turn. */
  restore(timer: Timer): void {
    const restored = { ...timer, isEarlier: true };
    this.#timers.push({ ...restored, at: this.#turn.fromTimeOf(restored, timer.at) });
  }

  /** Fires a timer. Events that the machine schedules meanwhile use the same clock. */
  fire(timer: Timer, relay: () => void): void {
    this.remove(timer);
    this.#loosen(timer.source, looseId.exec(timer.id)?.[1] ?? timer.id);
    this.#passing = timer;
    relay();
    this.#passing = undefined;
  }

  /** Ends the turn: converts times to the stored form. */
  catchUp(): void {
    this.#timers = this.#timers.map((timer) => ({
      ...timer,
      at: this.#turn.timeFor(timer, timer.at),
      isEarlier: false,
    }));
  }

  schedule(source: LiveActor, target: LiveActor, event: object, delay: number, id?: string): void {
    if (!Number.isFinite(delay))
      throw new AuthoringError(
        `A delay of actor '${source.id}' is not a finite number of milliseconds.`,
        { anchor: 'machines' },
      );
    if (id !== undefined) this.#loosen(source, id);
    this.#timers.push({
      source,
      target,
      event,
      id: id ?? this.#unusedId(source, (n) => `~${n}`),
      at: Math.ceil(this.#now() + Math.max(0, delay)),
      isEarlier: this.#passing?.isEarlier ?? false,
      isNew: true,
    });
  }

  cancel(source: LiveActor, id: string): void {
    const timer = this.#timers.find((known) => known.source === source && known.id === id);
    if (timer !== undefined) this.remove(timer);
  }

  cancelAll(source: LiveActor): void {
    this.#timers = this.#timers.filter(
      (timer) => timer.source !== source || looseId.test(timer.id),
    );
  }

  /**
   * Protects the events of an ID from `cancel`: XState can cancel only the last one, and only until
   * one is sent.
   */
  #loosen(source: LiveActor, id: string): void {
    for (const [index, timer] of this.#timers.entries()) {
      if (timer.source !== source || timer.id !== id) continue;
      this.#timers[index] = { ...timer, id: this.#unusedId(source, (n) => `~~${n} ${id}`) };
    }
  }

  // No action can cancel this event, so any unique ID will do.
  #unusedId(source: LiveActor, toId: (n: number) => string): string {
    const used = new Set(
      this.#timers.filter((known) => known.source === source).map(({ id }) => id),
    );
    for (let n = 1; ; n += 1) if (!used.has(toId(n))) return toId(n);
  }
}
