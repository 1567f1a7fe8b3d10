import { type TurnAborted } from '@mcp-saga/core';
import {
  encodeError,
  runStep,
  type StepEnd,
  type StepRun,
  type StepSpec,
  type TurnClock,
  decode,
  encode,
  type Runtime,
} from '@mcp-saga/core/program';
import { StepError, type StepErrorData } from '@mcp-saga/core';
import { assertNamed, isSpawned } from '../adapter/actor-names.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { type EffectHost, effectOf } from '../author/step.ts';
import type { Attempts, Ledger } from './ledger.ts';
import type { ActiveStepRecord } from '../model/machine-record.ts';
import { pathOf } from '../adapter/survey.ts';

/** An effect that is to be run, or runs. */
interface Work {
  readonly actor: LiveActor;
  readonly spec: StepSpec;
  readonly input: unknown;
  attempts: number;
  notBefore: number;
  /** `true` until it is tried in this turn: its time is compared with the time of the answers. */
  isEarlier: boolean;
  unknown: boolean;
  /** The interrupted turn in which the machine may have continued behind this effect. */
  interrupted: number | undefined;
  /** `true` if the effect could have run: the machine did not leave its state at once. */
  ready: boolean;
  /** Which run of its path it is, once it has been tried. */
  run: number | undefined;
  running: AbortController | undefined;
}

/** What effects need of the turn they belong to. */
export interface EffectsOptions {
  readonly runtime: Runtime;
  readonly clock: TurnClock;
  /** What came of the attempts that earlier turns made. */
  readonly restored: ReadonlyMap<LiveActor, ActiveStepRecord>;
  readonly ledger: Ledger;
  /** Names a logic, so that it is found again when its effect is undone. */
  readonly nameOf: (logic: object) => string;
  /** Whether effects wait for the next turn. */
  readonly defers: () => boolean;
  /** Tells whether an interrupted run may have executed an effect that begins now, and in which turn. */
  readonly doubt: () => { readonly isUnknown: boolean; readonly turn: number | undefined };
  /** Called when an effect fails, is withdrawn, or has run `once`: none of them may happen again if the turn is repeated. */
  readonly chance: () => void;
  /** Told when one has ended. */
  readonly wake: () => void;
}

/** The effects of a machine: begun when their actors start, run in this turn or put off to the next one. */
export class Effects implements EffectHost {
  /** How many have ended in this turn. */
  ended = 0;
  /** Why the turn cannot go on: one could not be claimed. */
  aborted: TurnAborted | undefined;

  readonly #options: EffectsOptions;
  readonly #work = new Map<LiveActor, Work>();

  constructor(options: EffectsOptions) {
    this.#options = options;
  }

  /** An actor has started: it has an effect to be run. */
  begin(actor: LiveActor, spec: StepSpec, input: unknown): void {
    const { restored, doubt } = this.#options;
    const [attempts, notBefore, unknown, run, before] = restored.get(actor)?.e ?? [0, 0, false, undefined];
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
    // What an older engine kept says so in the machine alone.
    if (unknown) this.#note(work, { type: 'retry', text: encode([attempts, notBefore, unknown]) });
  }

  /** Whether some run, be it that their actors were stopped. */
  get running(): boolean {
    return [...this.#work.values()].some((work) => work.running !== undefined);
  }

  /** Runs all effects that are due, and aborts those whose state was left. */
  startDue(): void {
    const { clock, defers, chance } = this.#options;
    for (const work of this.#work.values()) {
      if (work.actor.getSnapshot().status === 'active') continue;
      // In a repetition, the effect may end before the machine leaves its state.
      if (work.ready) chance();
      if (work.running === undefined) this.#drop(work);
      else work.running.abort(new Error('The state that invoked it was left.'));
    }
    for (const work of this.#work.values()) {
      if (work.running !== undefined) continue;
      work.ready = true;
      if (work.notBefore <= clock.timeFor(work) && !defers()) this.#start(work);
    }
  }

  /** Tells all that run to stop. */
  abort(reason: unknown): void {
    for (const { running } of this.#work.values()) running?.abort(reason);
  }

  /** When the next one is due that was put off: 0 for at once, undefined when there is none. */
  get nextDue(): number | undefined {
    const { clock } = this.#options;
    const times = [...this.#work.values()].map((work) =>
      work.notBefore === 0 ? 0 : clock.fromTimeOf(work, work.notBefore),
    );
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Ends the turn, and records the effects that may have happened. */
  catchUp(): void {
    for (const work of this.#work.values()) {
      work.isEarlier = false;
      const { attempts, notBefore, unknown } = work;
      if (unknown) this.#note(work, { type: 'retry', text: encode([attempts, notBefore, unknown]) });
    }
  }

  /** Records the effects that wait and may have happened, before the saga is undone. */
  giveUp(): void {
    this.#options.ledger.lift();
    for (const work of this.#work.values()) if (work.running === undefined) this.#drop(work);
  }

  /** What a state keeps of one that was put off. */
  factsOf(actor: LiveActor): Pick<ActiveStepRecord, 'e'> {
    const { attempts = 0, notBefore = 0, unknown = false, run, interrupted } = this.#work.get(actor) ?? {};
    if (run === undefined) return {};
    const tried = [attempts, notBefore, unknown, run] as const;
    return { e: interrupted === undefined ? tried : [...tried, interrupted] };
  }

  // An attempt before may have had its effect, and nobody will ever know (E4); at least its number is used. (E1)
  #drop(work: Work): void {
    if (work.attempts > 0 || (work.unknown && work.ready)) {
      this.#assertRoom();
      this.#note(work, { type: work.unknown ? 'unknown' : 'failed', text: '{}' });
    }
    this.#work.delete(work.actor);
  }

  #note(work: Work, end: StepEnd): void {
    const { spec, input, actor, interrupted } = work;
    const { ledger, nameOf } = this.#options;
    const facts = { spec, logic: nameOf(actor.logic), input, isSpawned: isSpawned(actor) };
    ledger.add(this.#pathOf(work), end, facts);
    if (hasFailed(end) && interrupted !== undefined) ledger.addInterrupted(interrupted);
  }

  // For one more, beside those that run: when they have ended, it is too late.
  #assertRoom(): void {
    const running = [...this.#work.values()].filter((work) => work.running !== undefined);
    this.#options.ledger.assertRoom(running.length + 1);
  }

  // The nth run of a path has the same name on every fork, whatever ran beside it: so does its idempotency key. (E1)
  #pathOf(work: Work): string {
    const base = pathOf(work.actor);
    if (work.run === undefined) {
      const beside = [...this.#work.values()].filter(({ actor }) => pathOf(actor) === base);
      work.run = 1 + Math.max(this.#options.ledger.lastRun(base), ...beside.map(({ run = 0 }) => run));
    }
    return work.run === 1 ? base : `${base}#${work.run}`;
  }

  #start(work: Work): void {
    const { runtime } = this.#options;
    // Before it runs: what could not be noted, or not be found again, had better not happen.
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
    const text = encode(work.input, { where: `input of '${path}'` });
    const { spec } = work;
    const controller = new AbortController();
    work.running = controller;
    // Each attempt gets an input of its own; not a copy of the step, which would read all that it offers.
    const given = <T extends object>(step: T): T => Object.assign(step, { input: decode(text) });
    const body = (step: object): unknown => spec.run(given(step) as never);
    void runStep(run, { ...spec, run: body }, givenTo(runtime, given), controller.signal)
      .catch((error: unknown): StepEnd => ({ type: 'unknown', text: encodeError(error) }))
      .then((end) => ('aborts' in end ? this.#abortTurn(work, end.aborts) : this.#end(work, run, end)));
  }

  // It has not run, and its machine does not hear of it.
  #abortTurn(work: Work, why: TurnAborted): void {
    work.running = undefined;
    this.aborted ??= why;
    this.#options.wake();
  }

  #end(work: Work, run: StepRun, end: StepEnd): void {
    const { actor } = work;
    const wanted = actor.getSnapshot().status === 'active';
    work.running = undefined;
    if (end.type === 'retry') {
      [work.attempts, work.notBefore, work.unknown] = decode(end.text) as Attempts;
      work.isEarlier = false;
      // Nothing was tried: its number is free again.
      if (work.attempts === 0 && !work.unknown) work.run = undefined;
      if (!wanted) this.#drop(work);
      else if (work.unknown) this.#note(work, end);
    } else {
      this.#work.delete(actor);
      this.ended += 1;
      // A `once` effect that no earlier run has claimed has not run.
      if (!run.unknown) work.interrupted = undefined;
      this.#note(work, end);
      if (hasFailed(end) || work.spec.once) this.#options.chance();
      if (wanted) actor.send({ type: 'mcp-saga.end', end: outcomeOf(run.path, end) });
    }
    this.#options.wake();
  }
}

/** A runtime that is shown the input, where it runs the code of an effect itself. */
function givenTo(runtime: Runtime, given: <T extends object>(step: T) => T): Runtime {
  const { perform } = runtime;
  if (perform === undefined) return runtime;
  return { ...runtime, perform: (call) => perform({ ...call, step: given(call.step) }) };
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

/** Whether a logic has an undo, or shall run once: its saga must declare `forks` then. (E7) */
export function needsForks(logic: object): boolean {
  const spec = effectOf(logic);
  return spec !== undefined && (spec.undo !== undefined || spec.once);
}
