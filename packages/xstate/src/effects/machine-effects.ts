/**
 * Effects of a machine: the steps and promises that its states invoke, and the waits for other
 * people. XState starts an actor, the actor tells the host of its system, and the effect runs when
 * the turn settles.
 *
 * - A path has a number from its second run on. The nth run has the same idempotency key on every
 *   fork, whatever else ran.
 * - `ledger.ts` holds what ran, with the data of its undo, so that a saga can be undone without its
 *   machine. An effect that finds no room there does not run.
 * - An effect whose state is left is aborted and awaited. A promise is not awaited, since it may
 *   never settle: it is unknown from then on.
 * - `waits.ts` runs each wait for answers as a small generator saga with a journal of its own;
 *   `undo-machine.ts` undoes the ledger by a generator that replays it and throws.
 */
import { type TurnAborted, StepError, type StepErrorData } from '@mcp-saga/core';
import {
  encodeError,
  isVitalStep,
  retryEntry,
  runStep,
  noteAttempts,
  type Attempts,
  type StepEnd,
  type StepRun,
  type StepSpec,
  type TurnBudget,
  type TurnClock,
  decode,
  encode,
  type Runtime,
} from '@mcp-saga/core/program';
import { assertNamed, isSpawned } from '../adapter/actor-names.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { type EffectHost, effectOf } from '../author/step.ts';
import type { Ledger } from './ledger.ts';
import type { ActiveStepRecord } from '../model/machine-record.ts';
import { pathOf } from '../adapter/xstate-actors.ts';

/**
 * Pending or running effect. Its attempts are those of a step of a generator: core counts them, and
 * says what is unknown.
 */
interface Work extends StepRun, Attempts {
  readonly actor: LiveActor;
  readonly spec: StepSpec;
  /** Input of the actor. The code gets a copy. */
  readonly given: unknown;
  /** Path of the actor with the number of the run, from the first attempt on. */
  path: string;
  /** Number of the run at the path of the actor, from the first attempt on. */
  number: number | undefined;
  /** `true` if the effect can run: the machine did not leave the state at once. */
  ready: boolean;
  running: AbortController | undefined;
}

/** Work of a machine that may have to wait for the next turn. */
export interface Deferrable {
  /** `true` for work that must not be lost. @default false */
  readonly isVital?: boolean;
  /** `true` for a step that only reads. @default false */
  readonly isRead?: boolean;
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
  /** Returns `true` if work waits for the next turn. */
  readonly defers: (work?: Deferrable) => boolean;
  /** Returns if an interrupted run may have executed an effect that starts now, and the turn. */
  readonly doubt: () => { readonly isUnknown: boolean; readonly turn: number | undefined };
  /** Notes what the next commit must hold. */
  readonly uncommitted: TurnBudget['uncommitted'];
  /** Called when an effect has ended. */
  readonly wake: () => void;
}

/** Runs the effects of a machine in this turn, or defers them to the next turn. */
export class Effects implements EffectHost {
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
    const record = restored.get(actor);
    const [attempts, notBefore, unknown, number, before] = record?.e ?? [0, 0, false, undefined];
    const { isUnknown, turn } = doubt();
    this.#work.set(actor, {
      actor,
      spec,
      given: input,
      path: '',
      number,
      // The policy and the input come with the specification.
      retry: undefined,
      input: undefined,
      attempts,
      notBefore,
      isEarlier: true,
      unknown: unknown || isUnknown,
      interruptedTurn: before ?? turn,
      ready: record !== undefined,
      running: undefined,
    });
  }

  /** `true` while an effect runs, even if the actor was stopped. */
  get running(): boolean {
    return [...this.#work.values()].some((work) => work.running !== undefined);
  }

  /** Starts due effects, and aborts effects of states that the machine left. */
  startDue(): void {
    const { clock, defers, uncommitted, runtime } = this.#options;
    for (const work of this.#work.values()) {
      if (work.actor.getSnapshot().status === 'active') continue;
      // In a repetition, the effect may end before the machine leaves its state.
      if (work.ready) uncommitted.note('chance');
      if (work.running === undefined) this.#drop(work);
      else this.#abort(work, new Error('The machine left the state of the effect.'));
    }
    const waiting = [...this.#work.values()].filter(({ running }) => running === undefined);
    for (const work of waiting) work.ready = true;
    const due = waiting.filter((work) => work.notBefore <= clock.timeFor(work));
    // Other effects wait with a vital one, so that a commit need not wait for them.
    const { commitsEach } = runtime.turn;
    const isVital = due.some(({ spec }) => commitsEach || isVitalStep(spec));
    // Reads wait with an effect, because its commit waits for whatever runs.
    const isRead = due.every(({ spec }) => spec.reads);
    for (const work of due) if (!defers({ isVital, isRead })) this.#start(work);
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
    this.#options.uncommitted.noteStep(false, true);
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
      if (work.unknown) this.#note(work, retryEntry(work, work.attempts, work.notBefore));
    }
  }

  /** Records pending effects of unknown outcome before an undo. */
  giveUp(): void {
    this.#options.ledger.lift();
    for (const work of this.#work.values()) if (work.running === undefined) this.#drop(work);
  }

  /** Returns the stored facts of a deferred effect. */
  factsOf(actor: LiveActor): Pick<ActiveStepRecord, 'e'> {
    const work = this.#work.get(actor);
    if (work?.number === undefined) return {};
    const { attempts, notBefore, unknown, number, interruptedTurn } = work;
    const facts = [attempts, notBefore, unknown, number] as const;
    return { e: interruptedTurn === undefined ? facts : [...facts, interruptedTurn] };
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
    const { spec, given, actor, interruptedTurn } = work;
    const { ledger } = this.#options;
    const facts = { spec, logic, input: given, isSpawned: isSpawned(actor) };
    ledger.add(this.#pathOf(work), end, facts);
    if (hasFailed(end) && interruptedTurn !== undefined) ledger.addInterrupted(interruptedTurn);
  }

  // Counts one more effect besides the running ones, which still need their entries.
  #assertRoom(): void {
    const running = [...this.#work.values()].filter((work) => work.running !== undefined);
    this.#options.ledger.assertRoom(running.length + 1);
  }

  // The nth run of a path has the same name and idempotency key on every fork, whatever else ran.
  #pathOf(work: Work): string {
    const base = pathOf(work.actor);
    if (work.number === undefined) {
      const beside = [...this.#work.values()].filter(({ actor }) => pathOf(actor) === base);
      const last = beside.map(({ number = 0 }) => number);
      work.number = 1 + Math.max(this.#options.ledger.lastRun(base), ...last);
    }
    return work.number === 1 ? base : `${base}#${work.number}`;
  }

  #start(work: Work): void {
    const { runtime } = this.#options;
    // An effect that cannot be recorded or found again must not run.
    this.#assertRoom();
    assertNamed(work.actor);
    work.path = this.#pathOf(work);
    let text: string;
    try {
      text = encode(work.given, { where: `input of '${work.path}'` });
    } catch (error) {
      // Nothing has run.
      this.#end(work, { type: 'failed', text: encodeError(error) });
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
    void runStep(work, { ...spec, run: body }, givenTo(runtime, given), controller.signal)
      .catch((error: unknown): StepEnd => ({ type: 'unknown', text: encodeError(error) }))
      .then((end) => ('aborts' in end ? this.#abortTurn(work, end.aborts) : this.#end(work, end)));
  }

  // The effect has not run, and the machine receives no event.
  #abortTurn(work: Work, why: TurnAborted): void {
    if (this.#work.get(work.actor) !== work) return;
    work.running = undefined;
    this.aborted ??= why;
    this.#options.wake();
  }

  #end(work: Work, end: StepEnd): void {
    const { actor } = work;
    if (this.#work.get(actor) !== work) return;
    const wanted = actor.getSnapshot().status === 'active';
    work.running = undefined;
    if (end.type === 'retry') {
      noteAttempts(work, decode(end.text));
      // Without an attempt, the number is free again.
      if (work.attempts === 0 && !work.unknown) work.number = undefined;
      if (!wanted) this.#drop(work);
      else if (work.unknown) this.#note(work, end);
    } else {
      this.#work.delete(actor);
      const { reads, once } = work.spec;
      this.#options.uncommitted.noteStep(reads, hasFailed(end) || once || reads);
      this.#note(work, end);
      if (wanted) actor.send({ type: 'mcp-saga.end', end: outcomeOf(work.path, end) });
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
