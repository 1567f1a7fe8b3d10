import { TurnAborted } from '@mcp-saga/core';
import { TurnClock, type Runtime } from '@mcp-saga/core/program';
import { relay, withoutEchoes, type makeRoot } from '../adapter/xstate-actors.ts';
import type { LiveActor, Timer } from '../model/live-actor.ts';
import { Deadlines } from './machine-deadlines.ts';
import { hostEffects } from '../author/step.ts';
import { Effects, type EffectsOptions } from '../effects/machine-effects.ts';
import { LaggingClock } from './machine-clock.ts';
import { Waits, type WaitsOptions } from '../effects/waits.ts';
import type { Restored } from '../record/restore-record.ts';
import { inStates } from '../adapter/xstate-nodes.ts';
import { askAgain } from './asked-states.ts';
import type { AskedState } from '../model/machine-options.ts';
import { isIn, survey, type Survey } from '../adapter/survey.ts';

/** Options of a run. */
export interface MachineRunOptions
  extends
    Pick<EffectsOptions, 'ledger' | 'nameOf' | 'defers' | 'doubt' | 'uncommitted'>,
    Pick<WaitsOptions, 'program' | 'stored' | 'state'> {
  /** States that are asked while they are active. */
  readonly asked: readonly AskedState[];
  /** Called if an interrupted run of this turn may have continued differently. */
  readonly diverged: () => void;
  /** Time by which delays wait for the answers of the turn, in milliseconds. */
  readonly grace: number;
  /** `true` if delays may fire. A status request fires none. */
  readonly passesTime: boolean;
}

/**
 * Runs a machine for one turn. After each event, a survey of the actors finds the next thing to
 * wait for.
 */
export class MachineRun {
  readonly root: LiveActor;
  readonly deadlines: Deadlines;
  readonly effects: Effects;
  readonly waits: Waits;

  readonly #runtime: Runtime;
  readonly #uncommitted: MachineRunOptions['uncommitted'];
  readonly #passesTime: boolean;
  readonly #asked: readonly AskedState[];
  readonly #turn: TurnClock;
  /** Time of the machine. */
  readonly #clock: LaggingClock;
  readonly #started: ReturnType<typeof makeRoot>;
  #hasWaited = false;
  #wake: () => void = () => undefined;

  constructor(made: Restored, runtime: Runtime, options: MachineRunOptions) {
    const { root, timers, steps: restored } = made;
    this.root = root;
    this.#started = root;
    this.#runtime = runtime;
    this.#passesTime = options.passesTime;
    this.#asked = options.asked;
    this.#turn = new TurnClock(runtime);
    this.#turn.begin();
    this.#clock = new LaggingClock(() => runtime.time.now());
    this.deadlines = new Deadlines(this.#turn, () => this.#clock.now());
    for (const timer of timers) this.deadlines.restore(timer);
    this.deadlines.hold(options.grace);
    root.system.scheduler = this.deadlines;
    const wake = (): void => this.wake();
    // An event may have left the state of a running effect.
    made.root.subscribe({ next: wake, error: wake });
    // A spread would take a tenth of a turn.
    const { program, ledger, stored, state, nameOf, defers, doubt, diverged, uncommitted } =
      options;
    this.#uncommitted = uncommitted;
    const clock = this.#turn;
    this.effects = new Effects({
      runtime,
      clock,
      restored,
      ledger,
      nameOf,
      defers,
      doubt,
      uncommitted,
      wake,
    });
    hostEffects(root.system, this.effects);
    this.waits = new Waits({
      program,
      runtime,
      ledger,
      restored,
      stored,
      state,
      defers,
      uncommitted,
      diverged,
      wake,
    });
  }

  /** Starts the machine, from the beginning or from the stored state. */
  start(isNew: boolean): void {
    this.#goBack();
    if (isNew) this.#started.start();
    else withoutEchoes(this.root.system, () => this.#started.start());
  }

  /** Delivers answers from outside that arrived since the last turn. */
  async readAnswers(): Promise<void> {
    this.#clock.catchUp();
    await this.waits.readAll();
    this.#goBack();
  }

  /** Sets the machine to the time of the first overdue delay. */
  #goBack(): void {
    const first = this.deadlines.next;
    if (first !== undefined && this.#isReady(first)) this.#clock.wakeAt(first.at);
  }

  /** Stops the machine and its work. */
  stop(reason: unknown): void {
    this.effects.abort(reason);
    this.#started.stop();
    this.wake();
  }

  /** Continues a waiting turn. */
  wake(): void {
    this.#wake();
  }

  /** Waits until all effects, deliveries, and reads of answers have ended. */
  async drain(): Promise<void> {
    while (this.effects.running || this.waits.running) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** `true` until the machine ends. */
  get active(): boolean {
    return this.root.getSnapshot().status === 'active';
  }

  /**
   * Runs until only the client or the clock can continue. Awaits stopped effects too, since they
   * may have had an effect.
   */
  async settle(isBusy: () => boolean = () => false): Promise<Survey> {
    for (;;) {
      await Promise.resolve();
      this.assertGoing();
      const next = this.#passesTime && this.active ? this.deadlines.next : undefined;
      // Events of the same time come first, so that an effect whose state is left at once does not
      // run.
      if (next !== undefined && next.at <= this.#clock.now() && this.#isReady(next)) {
        this.#fire(next);
        continue;
      }
      askAgain(this.root, this.#asked);
      this.effects.startDue();
      const seen = survey(this.root);
      this.waits.startDue(seen.waits);
      if (this.effects.running || this.waits.running || (this.active && isBusy())) {
        await this.#nextEnd(next);
      } else if (next !== undefined && this.#isReady(next)) {
        this.#clock.forwardTo(next.at);
      } else {
        this.#clock.catchUp();
        this.#dropLostEvents();
        return seen;
      }
    }
  }

  /** Ends the delay of timers: the answers of the turn are delivered next. */
  endGrace(): void {
    this.deadlines.hold(0);
  }

  /** Prepares the machine for storage: converts times to the stored form. */
  catchUp(): void {
    this.deadlines.catchUp();
    this.effects.catchUp();
  }

  /** Throws if the turn was aborted. */
  assertGoing(): void {
    if (this.#runtime.request.signal.aborted)
      throw new TurnAborted(this.#runtime.request.signal.reason);
    const thrown = this.effects.aborted ?? this.waits.aborted ?? this.waits.mismatch;
    if (thrown !== undefined) throw thrown;
  }

  /** Warns about delays of this turn that end after the lifetime of their saga. */
  warnOfStranding(saga: string): void {
    const { lifeEndsAt = Number.POSITIVE_INFINITY } = this.#runtime.saga;
    if (!this.deadlines.timers.some(({ at, isNew }) => isNew === true && at > lifeEndsAt)) return;
    this.#runtime.observer.warn?.(
      `Saga '${saga}' sets a delay in ${inStates(this.root.getSnapshot().value)} that ends after limits.maxLifetime, when all ` +
        'tokens have expired. Shorten the delay, or raise the limit.',
    );
  }

  /**
   * Waits for an effect or an event, at most until the next delay ends, which may be a timeout of the
   * work.
   */
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
    const wait = Math.max(
      0,
      next.at - this.#clock.now(),
      this.deadlines.dueAt(next) - this.#runtime.time.now(),
    );
    await Promise.race([ended, this.#runtime.time.sleep(wait, timer.signal)]);
    timer.abort();
  }

  /** Drops delayed events to ended actors. */
  #dropLostEvents(): void {
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
    // A repetition of the turn may come before this time.
    if (this.#hasWaited || at > this.#turn.began) this.#uncommitted.note('chance');
    this.deadlines.fire(timer, () => {
      if (target.getSnapshot().status === 'active') relay(source, target, event);
    });
  }
}
