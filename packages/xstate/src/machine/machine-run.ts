import { TurnAborted } from '@mcp-saga/core';
import { TurnClock, type Runtime } from '@mcp-saga/core/program';
import { relay, withoutEchoes, type makeRoot } from '../adapter/xstate-actors.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { Deadlines } from './deadlines.ts';
import type { Timer } from '../model/timer.ts';
import { hostEffects } from '../author/step.ts';
import { Effects, type EffectsOptions } from '../effects/effects.ts';
import { LaggingClock } from './machine-clock.ts';
import { Promises } from '../effects/promises.ts';
import type { Restored } from '../record/restore-record.ts';
import { inStates } from '../adapter/xstate-nodes.ts';
import { isIn, survey, type Survey } from '../adapter/survey.ts';

/** What a run needs of its turn. */
export interface MachineRunOptions extends Pick<EffectsOptions, 'ledger' | 'nameOf' | 'defers' | 'doubt'> {
  /** Called when an interrupted run of this turn may have taken another way. */
  readonly diverged: () => void;
  /** Time by which delays wait for the answers of the turn (ms). */
  readonly grace: number;
  /** Whether delays may pass: they do not while somebody only asks how things stand. (W7) */
  readonly passesTime: boolean;
}

/** A machine that runs for one turn. After each event of its work, a delay, or the host, one survey says what it waits for. */
export class MachineRun {
  readonly root: LiveActor;
  readonly deadlines: Deadlines;
  readonly effects: Effects;
  readonly promises: Promises;

  readonly #runtime: Runtime;
  readonly #passesTime: boolean;
  readonly #turn: TurnClock;
  /** The time as the machine sees it. */
  readonly #clock: LaggingClock;
  readonly #started: ReturnType<typeof makeRoot>;
  #hasWaited = false;
  #wake: () => void = () => undefined;
  /** `true` after an event that a repetition of the turn may not come to: a delay passed, an effect failed. */
  isByChance = false;

  constructor(made: Restored, runtime: Runtime, options: MachineRunOptions) {
    const { root, timers, steps } = made;
    this.root = root;
    this.#started = root;
    this.#runtime = runtime;
    this.#passesTime = options.passesTime;
    this.#turn = new TurnClock(runtime);
    this.#turn.begin();
    this.#clock = new LaggingClock(() => runtime.now());
    this.deadlines = new Deadlines(this.#turn, () => this.#clock.now());
    for (const timer of timers) this.deadlines.restore(timer);
    this.deadlines.hold(options.grace);
    root.system.scheduler = this.deadlines;
    const chance = (): void => {
      this.isByChance = true;
    };
    this.effects = new Effects({
      ...options,
      runtime,
      clock: this.#turn,
      restored: steps,
      chance,
      wake: () => this.wake(),
    });
    hostEffects(root.system, this.effects);
    this.promises = new Promises({
      ...options,
      runtime,
      wake: () => this.wake(),
      failed: () => {
        chance();
        options.diverged();
      },
    });
    this.promises.host(root);
  }

  /** Starts it, or starts it again where it was. */
  start(isNew: boolean): void {
    const first = this.deadlines.next;
    if (first !== undefined && this.#isReady(first)) this.#clock.wakeAt(first.at);
    if (isNew) this.#started.start();
    else withoutEchoes(this.root.system, () => this.#started.start());
  }

  /** Stops it where it stands: nothing it would have done is done any more. */
  stop(reason: unknown): void {
    this.effects.abort(reason);
    this.#started.stop();
    this.wake();
  }

  /** Something has happened that a turn may wait for. */
  wake(): void {
    this.#wake();
  }

  /** Waits until nothing runs any more. */
  async drain(): Promise<void> {
    while (this.effects.running) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other ends
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Whether the machine goes on, or has ended. */
  get active(): boolean {
    return this.root.getSnapshot().status === 'active';
  }

  /** Runs until only the client or the clock can continue. Awaits stopped work too: it may have had its effect. */
  async settle(isBusy: () => boolean = () => false): Promise<Survey> {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- what an action put off by a promise of its own has its turn
      await Promise.resolve();
      this.assertGoing();
      const next = this.#passesTime && this.active ? this.deadlines.next : undefined;
      // All that happens at one time comes before anything that takes time: an effect whose state is left at once does
      // not run.
      if (next !== undefined && next.at <= this.#clock.now() && this.#isReady(next)) {
        this.#fire(next);
        continue;
      }
      this.effects.startDue();
      const seen = survey(this.root);
      if (
        this.effects.running ||
        (this.active && (seen.promises.some((at) => this.promises.runs(at)) || isBusy()))
      ) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other
        await this.#nextEnd(next);
      } else if (next !== undefined && this.#isReady(next)) {
        this.#clock.forwardTo(next.at);
      } else {
        this.#clock.catchUp();
        this.#forgetLostEvents();
        return seen;
      }
    }
  }

  /** Ends the delay of timers: the answers of the turn are delivered next. */
  endGrace(): void {
    this.deadlines.hold(0);
  }

  /** It is kept as it stands: what it waits for goes by the clock again. */
  catchUp(): void {
    this.deadlines.catchUp();
    this.effects.catchUp();
  }

  /** Throws where the turn was aborted. */
  assertGoing(): void {
    if (this.#runtime.signal.aborted) throw new TurnAborted(this.#runtime.signal.reason);
    if (this.effects.aborted !== undefined) throw this.effects.aborted;
  }

  /** How many effects and plain promises have ended in this turn. */
  get ended(): number {
    return this.effects.ended + this.promises.ended;
  }

  /** Warns about delays of this turn that end after the lifetime of their saga. */
  warnOfStranding(saga: string): void {
    const { warn, lifeEndsAt = Number.POSITIVE_INFINITY } = this.#runtime;
    if (!this.deadlines.timers.some(({ at, isNew }) => isNew === true && at > lifeEndsAt)) return;
    warn?.(
      `Saga '${saga}' sets a delay in ${inStates(this.root.getSnapshot().value)} that ends after maxLifetime, when no token is ` +
        'good any more: nothing follows it. Shorten the delay, or raise maxLifetime.',
    );
  }

  /** Waits for what runs, and no longer than until a delay is over: it may be the time that the work has. */
  async #nextEnd(next: Timer | undefined): Promise<void> {
    this.#hasWaited = true;
    const ended = new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    if (next === undefined) {
      await ended;
      return;
    }
    const timer = new AbortController();
    const wait = Math.max(0, next.at - this.#clock.now(), this.deadlines.dueAt(next) - this.#runtime.now());
    await Promise.race([ended, this.#runtime.sleep(wait, timer.signal)]);
    timer.abort();
  }

  /** An event to an actor that is gone is lost: nobody waits for it. */
  #forgetLostEvents(): void {
    const lost = this.deadlines.timers.filter(
      ({ target }) => !isIn(this.root, target) || target.getSnapshot().status !== 'active',
    );
    for (const timer of lost) this.deadlines.remove(timer);
  }

  #isReady(timer: Timer): boolean {
    return this.#clock.isPast(this.deadlines.dueAt(timer));
  }

  #fire(timer: Timer): void {
    const { source, target, event, at } = timer;
    if (this.#hasWaited || at > this.#turn.began) this.isByChance = true;
    this.deadlines.fire(timer, () => {
      if (target.getSnapshot().status === 'active') relay(source, target, event);
    });
  }
}
