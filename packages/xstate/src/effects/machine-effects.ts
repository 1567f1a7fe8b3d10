import { type TurnAborted, StepError, type StepErrorData } from '@mcp-saga/core';
import {
  encodeError,
  isVitalStep,
  runStep,
  type StepEnd,
  type StepRun,
  type StepSpec,
  type TurnClock,
  decode,
  encode,
  type Runtime,
} from '@mcp-saga/core/program';
import { assertNamed, isSpawned } from '../adapter/actor-names.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { type EffectHost, effectOf } from '../author/step.ts';
import type { Attempts, Ledger } from './ledger.ts';
import type { ActiveStepRecord } from '../model/machine-record.ts';
import { pathOf } from '../adapter/xstate-actors.ts';

/** Pending or running effect. */
interface Work {
  readonly actor: LiveActor;
  readonly spec: StepSpec;
  readonly input: unknown;
  attempts: number;
  notBefore: number;
  /** `true` until an attempt in this turn: `notBefore` is compared with the time of the answers. */
  isEarlier: boolean;
  unknown: boolean;
  /** Interrupted turn in which the machine may have continued after this effect. */
  interrupted: number | undefined;
  /** `true` if the effect can run: the machine did not leave the state at once. */
  ready: boolean;
  /** Number of the run at this path, from the first attempt on. */
  run: number | undefined;
  running: AbortController | undefined;
}

/** Options of {@link Effects}. */
export interface EffectsOptions {
  readonly runtime: Runtime;
  readonly clock: TurnClock;
  /** Outcomes of attempts of earlier turns. */
  readonly restored: ReadonlyMap<LiveActor, ActiveStepRecord>;
  readonly ledger: Ledger;
  /** Returns the name of a logic, which an undo looks up. */
  readonly nameOf: (logic: object) => string;
  /**
   * Returns `true` if an effect waits for the next turn.
   * @param isVital - `true` for an effect that must not be lost
   */
  readonly defers: (isVital?: boolean) => boolean;
  /** Returns if an interrupted run may have executed an effect that starts now, and the turn. */
  readonly doubt: () => { readonly isUnknown: boolean; readonly turn: number | undefined };
  /**
   * Called if an effect failed, was withdrawn, or ran `once`, since a repetition of the turn may
   * differ.
   */
  readonly chance: () => void;
  /** Called when an effect has ended. */
  readonly wake: () => void;
}

/** Runs the effects of a machine in this turn, or defers them to the next turn. */
export class Effects implements EffectHost {
  /** Number of effects that ended in this turn. */
  ended = 0;
  /** Reason to abort the turn: an effect could not be claimed. */
  aborted: TurnAborted | undefined;

  readonly #options: EffectsOptions;
  readonly #work = new Map<LiveActor, Work>();

  constructor(options: EffectsOptions) {
    this.#options = options;
  }

  /** Adds the effect of an actor that has started. */
  begin(actor: LiveActor, spec: StepSpec, input: unknown): void {
    const { restored, doubt } = this.#options;
    const [attempts, notBefore, unknown, run, before] = restored.get(actor)?.e ?? [
      0,
      0,
      false,
      undefined,
    ];
    const { isUnknown, turn } = doubt();
    const work: Work = {
      actor,
      spec,
      input,
      attempts,
      notBefore,
      isEarlier: true,
      unknown: unknown || isUnknown,
      interrupted: before ?? turn,
      ready: restored.has(actor),
      run,
      running: undefined,
    };
    this.#work.set(actor, work);
  }

  /** `true` while an effect runs, even if the actor was stopped. */
  get running(): boolean {
    return [...this.#work.values()].some((work) => work.running !== undefined);
  }

  /** Starts due effects, and aborts effects of states that the machine left. */
  startDue(): void {
    const { clock, defers, chance, runtime } = this.#options;
    for (const work of this.#work.values()) {
      if (work.actor.getSnapshot().status === 'active') continue;
      // In a repetition, the effect may end before the machine leaves its state.
      if (work.ready) chance();
      if (work.running === undefined) this.#drop(work);
      else this.#abort(work, new Error('The machine left the state of the effect.'));
    }
    const waiting = [...this.#work.values()].filter(({ running }) => running === undefined);
    for (const work of waiting) work.ready = true;
    const due = waiting.filter((work) => work.notBefore <= clock.timeFor(work));
    // Other effects wait with a vital one, so that a commit need not wait for them.
    const { commitsEach } = runtime.turn;
    const isVital = due.some(({ spec }) => commitsEach || isVitalStep(spec));
    for (const work of due) if (!defers(isVital)) this.#start(work);
  }

  /** Aborts all running effects. */
  abort(reason: unknown): void {
    for (const work of this.#work.values())
      if (work.running !== undefined) this.#abort(work, reason);
  }

  /** Aborts a running effect. The end of a promise is not awaited: its outcome is unknown. */
  #abort(work: Work, reason: unknown): void {
    work.running?.abort(reason);
    if (!isPromise(work)) return;
    this.#work.delete(work.actor);
    this.ended += 1;
    // It may act after an undo. Without the name of its logic, none is found, and it is uncompensated.
    this.#note(work, { type: 'unknown', text: '{}' }, '');
  }

  /** Time of the next deferred effect: 0 for at once, undefined for none. */
  get nextDue(): number | undefined {
    const { clock } = this.#options;
    const times = [...this.#work.values()].map((work) =>
      work.notBefore === 0 ? 0 : clock.fromTimeOf(work, work.notBefore),
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Ends the turn, and records effects of unknown outcome. */
  catchUp(): void {
    for (const work of this.#work.values()) {
      work.isEarlier = false;
      const { attempts, notBefore, unknown } = work;
      if (unknown)
        this.#note(work, { type: 'retry', text: encode([attempts, notBefore, unknown]) });
    }
  }

  /** Records pending effects of unknown outcome before an undo. */
  giveUp(): void {
    this.#options.ledger.lift();
    for (const work of this.#work.values()) if (work.running === undefined) this.#drop(work);
  }

  /** Returns the stored facts of a deferred effect. */
  factsOf(actor: LiveActor): Pick<ActiveStepRecord, 'e'> {
    const {
      attempts = 0,
      notBefore = 0,
      unknown = false,
      run,
      interrupted,
    } = this.#work.get(actor) ?? {};
    if (run === undefined) return {};
    const tried = [attempts, notBefore, unknown, run] as const;
    return { e: interrupted === undefined ? tried : [...tried, interrupted] };
  }

  // An earlier attempt may have had an effect, and has used the number of this run.
  #drop(work: Work): void {
    if (work.attempts > 0 || (work.unknown && work.ready)) {
      this.#assertRoom();
      this.#note(work, { type: work.unknown ? 'unknown' : 'failed', text: '{}' });
    }
    this.#work.delete(work.actor);
  }

  #note(work: Work, end: StepEnd, logic: string = this.#options.nameOf(work.actor.logic)): void {
    const { spec, input, actor, interrupted } = work;
    const { ledger } = this.#options;
    const facts = { spec, logic, input, isSpawned: isSpawned(actor) };
    ledger.add(this.#pathOf(work), end, facts);
    if (hasFailed(end) && interrupted !== undefined) ledger.addInterrupted(interrupted);
  }

  // Counts one more effect besides the running ones, which still need their entries.
  #assertRoom(): void {
    const running = [...this.#work.values()].filter((work) => work.running !== undefined);
    this.#options.ledger.assertRoom(running.length + 1);
  }

  // The nth run of a path has the same name and idempotency key on every fork, whatever else ran.
  #pathOf(work: Work): string {
    const base = pathOf(work.actor);
    if (work.run === undefined) {
      const beside = [...this.#work.values()].filter(({ actor }) => pathOf(actor) === base);
      work.run =
        1 + Math.max(this.#options.ledger.lastRun(base), ...beside.map(({ run = 0 }) => run));
    }
    return work.run === 1 ? base : `${base}#${work.run}`;
  }

  #start(work: Work): void {
    const { runtime } = this.#options;
    // An effect that cannot be recorded or found again must not run.
    this.#assertRoom();
    assertNamed(work.actor);
    const path = this.#pathOf(work);
    const run: StepRun = {
      path,
      input: undefined,
      attempts: work.attempts,
      retry: undefined,
      unknown: work.unknown,
    };
    let text: string;
    try {
      text = encode(work.input, { where: `input of '${path}'` });
    } catch (error) {
      // Nothing has run.
      this.#end(work, run, { type: 'failed', text: encodeError(error) });
      return;
    }
    const { spec } = work;
    const controller = new AbortController();
    work.running = controller;
    // Each attempt gets a separate input. A copy of the step would call its accessors.
    const own = isPromise(work) ? { self: work.actor } : {};
    const given = <T extends object>(step: T): T =>
      Object.assign(step, { input: decode(text), ...own });
    const body = (step: object): unknown => spec.run(given(step) as never);
    void runStep(run, { ...spec, run: body }, givenTo(runtime, given), controller.signal)
      .catch((error: unknown): StepEnd => ({ type: 'unknown', text: encodeError(error) }))
      .then((end) =>
        'aborts' in end ? this.#abortTurn(work, end.aborts) : this.#end(work, run, end),
      );
  }

  // The effect has not run, and the machine receives no event.
  #abortTurn(work: Work, why: TurnAborted): void {
    if (this.#work.get(work.actor) !== work) return;
    work.running = undefined;
    this.aborted ??= why;
    this.#options.wake();
  }

  #end(work: Work, run: StepRun, end: StepEnd): void {
    const { actor } = work;
    if (this.#work.get(actor) !== work) return;
    const wanted = actor.getSnapshot().status === 'active';
    work.running = undefined;
    if (end.type === 'retry') {
      [work.attempts, work.notBefore, work.unknown] = decode(end.text) as Attempts;
      work.isEarlier = false;
      // Without an attempt, the number is free again.
      if (work.attempts === 0 && !work.unknown) work.run = undefined;
      if (!wanted) this.#drop(work);
      else if (work.unknown) this.#note(work, end);
    } else {
      this.#work.delete(actor);
      this.ended += 1;
      // No earlier run claimed this `once` effect, so no earlier run executed it.
      if (!run.unknown) work.interrupted = undefined;
      this.#note(work, end);
      if (hasFailed(end) || work.spec.once || work.spec.reads) this.#options.chance();
      if (wanted) actor.send({ type: 'mcp-saga.end', end: outcomeOf(run.path, end) });
    }
    this.#options.wake();
  }
}

function isPromise({ actor }: Work): boolean {
  return effectOf(actor.logic)?.isPromise === true;
}

/** Passes the input to a runtime that runs the code of effects itself. */
function givenTo(runtime: Runtime, given: <T extends object>(step: T) => T): Runtime {
  const { perform } = runtime.effects;
  if (perform === undefined) return runtime;
  const withInput: typeof perform = (call) => perform({ ...call, step: given(call.step) });
  return { ...runtime, effects: { ...runtime.effects, perform: withInput } };
}

function outcomeOf(
  path: string,
  end: Exclude<StepEnd, { readonly type: 'retry' }>,
): { readonly output: unknown } | { readonly error: unknown } {
  if (hasFailed(end)) return { error: new StepError(path, decode(end.text) as StepErrorData) };
  return { output: 'text' in end ? decode(end.text) : undefined };
}

function hasFailed(end: StepEnd): end is Extract<StepEnd, { readonly type: 'failed' | 'unknown' }> {
  return end.type === 'failed' || end.type === 'unknown';
}

/** Returns `true` for an effect with an undo or `once`, which needs a store. */
export function needsStore(logic: object): boolean {
  const spec = effectOf(logic);
  return spec !== undefined && isVitalStep(spec);
}
