import { AuthoringRangeError } from '@mcp-saga/core/program';
import type { EventScheduler, LiveActor } from '../model/live-actor.ts';
import type { Timer } from '../model/timer.ts';

/** ID of an event that can no longer be canceled: a number, and the ID under which the machine scheduled the event. */
const looseId = /^~~\d+ (.*)$/s;

/** What machines do after a time, as data: it goes along when they are suspended. */
export class Deadlines implements EventScheduler {
  readonly #clock: () => number;
  #timers: Timer[] = [];
  #late = 0;
  #began = 0;
  #grace = 0;

  constructor(clock: () => number) {
    this.#clock = clock;
  }

  /** In the order they were made. */
  get timers(): readonly Timer[] {
    return this.#timers;
  }

  /** The one that is due first: of several, the one that was made first. */
  get next(): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers)
      if (next === undefined || this.dueAt(timer) < this.dueAt(next)) next = timer;
    return next;
  }

  /**
   * Delays all timers of earlier turns, and all timers that were due when the turn began, so that the answers of the turn
   * come first.
   *
   * @param began - start of the turn (ms since the epoch)
   * @param grace - length of the delay (ms); 0 ends it
   */
  hold(began: number, grace: number): void {
    this.#began = began;
    this.#grace = grace;
  }

  /** The time at which a timer fires (ms since the epoch). Its machine still sees the time of the timer itself. */
  dueAt({ at, isNew }: Timer): number {
    return isNew === true && at > this.#began ? at : at + this.#grace;
  }

  /** It is due, or not wanted any more. */
  remove(timer: Timer): void {
    const index = this.#timers.indexOf(timer);
    if (index !== -1) this.#timers.splice(index, 1);
  }

  /** Adds a timer that was kept, which goes off so much later in this turn (ms). */
  add(timer: Timer, late: number): void {
    this.#timers.push({ ...timer, at: timer.at + late, late });
  }

  /** Lets a timer go off: what its machine schedules then is as late as it was. */
  fire(timer: Timer, relay: () => void): void {
    this.remove(timer);
    this.#loosen(timer.source, looseId.exec(timer.id)?.[1] ?? timer.id);
    this.#late = timer.late ?? 0;
    relay();
    this.#late = 0;
  }

  /** The turn is over: all go off at the time at which they are kept. */
  catchUp(): void {
    this.#timers = this.#timers.map(({ late = 0, ...timer }) => ({ ...timer, at: timer.at - late }));
  }

  schedule(source: LiveActor, target: LiveActor, event: object, delay: number, id?: string): void {
    if (!Number.isFinite(delay)) throw new AuthoringRangeError(`A delay of '${source.id}' is not a number.`);
    if (id !== undefined) this.#loosen(source, id);
    this.#timers.push({
      source,
      target,
      event,
      id: id ?? this.#unusedId(source, (n) => `~${n}`),
      at: Math.ceil(this.#clock() + Math.max(0, delay)),
      late: this.#late,
      isNew: true,
    });
  }

  cancel(source: LiveActor, id: string): void {
    const timer = this.#timers.find((known) => known.source === source && known.id === id);
    if (timer !== undefined) this.remove(timer);
  }

  cancelAll(source: LiveActor): void {
    this.#timers = this.#timers.filter((timer) => timer.source !== source || looseId.test(timer.id));
  }

  /**
   * Protects the events of an ID from `cancel`. XState can cancel only the event that was scheduled last, and only until any
   * event of the ID is sent.
   */
  #loosen(source: LiveActor, id: string): void {
    for (const [index, timer] of this.#timers.entries()) {
      if (timer.source !== source || timer.id !== id) continue;
      this.#timers[index] = { ...timer, id: this.#unusedId(source, (n) => `~~${n} ${id}`) };
    }
  }

  // No action can cancel this event: its ID only has to be unique.
  #unusedId(source: LiveActor, toId: (n: number) => string): string {
    const used = new Set(this.#timers.filter((known) => known.source === source).map(({ id }) => id));
    for (let n = 1; ; n += 1) if (!used.has(toId(n))) return toId(n);
  }
}
