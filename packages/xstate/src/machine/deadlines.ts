import { AuthoringError, type TurnClock } from '@mcp-saga/core/program';
import type { EventScheduler, LiveActor } from '../model/live-actor.ts';
import type { Timer } from '../model/timer.ts';

/** ID of an event that can no longer be canceled: a number, and the ID under which the machine scheduled the event. */
const looseId = /^~~\d+ (.*)$/s;

/** What machines do after a time, as data: it goes along when they are suspended. */
export class Deadlines implements EventScheduler {
  readonly #turn: TurnClock;
  /** The time as the machine sees it. */
  readonly #now: () => number;
  #timers: Timer[] = [];
  /** The delay that is passing, if one is. */
  #passing: Timer | undefined;
  #grace = 0;

  constructor(turn: TurnClock, now: () => number) {
    this.#turn = turn;
    this.#now = now;
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

  /** Delays timers of earlier turns and timers due at the start by `grace` ms, so that answers come first; 0 ends it. */
  hold(grace: number): void {
    this.#grace = grace;
  }

  /** The time at which a timer fires (ms since the epoch). Its machine still sees the time of the timer itself. */
  dueAt({ at, isNew }: Timer): number {
    return isNew === true && at > this.#turn.began ? at : at + this.#grace;
  }

  /** It is due, or not wanted any more. */
  remove(timer: Timer): void {
    const index = this.#timers.indexOf(timer);
    if (index !== -1) this.#timers.splice(index, 1);
  }

  /** Adds a timer of an earlier turn. */
  restore(timer: Timer): void {
    const restored = { ...timer, isEarlier: true };
    this.#timers.push({ ...restored, at: this.#turn.fromTimeOf(restored, timer.at) });
  }

  /** Lets a delay pass. What its machine schedules then goes by the same clock. */
  fire(timer: Timer, relay: () => void): void {
    this.remove(timer);
    this.#loosen(timer.source, looseId.exec(timer.id)?.[1] ?? timer.id);
    this.#passing = timer;
    relay();
    this.#passing = undefined;
  }

  /** Ends the turn: restores the times at which timers are kept. */
  catchUp(): void {
    this.#timers = this.#timers.map((timer) => ({
      ...timer,
      at: this.#turn.timeFor(timer, timer.at),
      isEarlier: false,
    }));
  }

  schedule(source: LiveActor, target: LiveActor, event: object, delay: number, id?: string): void {
    if (!Number.isFinite(delay)) throw new AuthoringError(`A delay of '${source.id}' is not a number.`);
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
    this.#timers = this.#timers.filter((timer) => timer.source !== source || looseId.test(timer.id));
  }

  /** Protects the events of an ID from `cancel`: XState can cancel only the last one, and only until one is sent. */
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
