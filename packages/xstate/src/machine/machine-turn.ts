/**
 * One turn of a machine: from a stored machine and the answers of a client to an outcome, as `Turn`
 * of core takes one turn of a generator.
 *
 * 1. `fit-record.ts` restores the machine, and refuses a record that the machine does not fit.
 *    Nothing is replayed: actions ran in the turn in which their event happened.
 * 2. `MachineRun` reads the answers to waits, and fires overdue delays, each at its own time. Only
 *    then are the answers of the client delivered, in the order of the tree.
 * 3. The run settles: it fires what is due, runs effects, and surveys the actors, until only the
 *    client or the clock can go on.
 * 4. The machine is saved with its delays and the attempts of its effects, or its output is checked,
 *    or `undo-machine.ts` undoes its effects.
 *
 * A machine differs from a generator in what it stores: a generator is its journal, and is replayed,
 * while a machine is its snapshot, and events drive it. Both have one home, in core, for all rules
 * about money: `TurnBudget` says what runs now, what waits, and what is committed before; `runStep`
 * and `Attempts` count attempts and say what is unknown; `commitState` commits; `Journal` holds what
 * ran, and the undo stack undoes it; `AnswerCheck` and `Room` accept answers; `waitingOutcome` tells
 * the client when to come back.
 *
 * - An effect of a state that the machine leaves at once does not run.
 * - An effect ends in the ledger before the machine gets its event.
 * - What an interrupted run of the turn may have done is unknown, and never "did not happen".
 */
import { ClientCannot, SagaAborted, TurnAborted } from '@mcp-saga/core';
import {
  answerGraceMs,
  reserveOfQuestions,
  waitingOutcome,
  type Head,
  type TurnBudget,
  type CommitPoint,
  type ClientAnswer,
  type Outcome,
  type ProgramState,
  type Runtime,
} from '@mcp-saga/core/program';
import { inStates } from '../adapter/xstate-nodes.ts';
import { makeRoot, orderedNodes } from '../adapter/xstate-actors.ts';
import { eventsOf } from './ways-out.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { definitionOf } from '../record/definition-hash.ts';
import { MachineStuck } from '../model/errors.ts';
import { fit, type Fitted } from '../record/fit-record.ts';
import { InterruptedRun } from './interrupted-run.ts';
import type { Ledger } from '../effects/ledger.ts';
import type { Deferrable } from '../effects/machine-effects.ts';
import type { MachineProgramOptions } from '../model/machine-options.ts';
import type { SagaRecord } from '../model/machine-record.ts';
import { MachineRun } from './machine-run.ts';
import { Questions } from './machine-questions.ts';
import { save } from '../record/save-record.ts';
import { stepLimit } from './step-limit.ts';
import type { Survey, SurveyedActor } from '../adapter/survey.ts';
import { toLeftRecord } from '../effects/open-wait.ts';
import { stateHead } from '../effects/state-head.ts';
import { failedUnfit, openWaits, undoSaga } from '../effects/undo-machine.ts';

/** Machine as a token holds it. */
export interface StoredMachine {
  readonly state: ProgramState;
  readonly ledger: Ledger;
  readonly head: Head;
}

/** Turn of a machine saga. */
export class MachineTurn {
  readonly #options: MachineProgramOptions;
  readonly #runtime: Runtime;
  readonly #head: Head;
  readonly #ledger: Ledger;
  /** State at the start of the turn. The machine is saved at its end. */
  readonly #state: ProgramState;
  readonly #questions: Questions;
  readonly #budget: TurnBudget;
  readonly #rounds = new Map<LiveActor, number>();
  #interrupted: InterruptedRun;
  /** `true` if an effect waits until somebody holds the saga. */
  #holdsVital = false;
  #run: MachineRun | undefined;

  constructor(
    options: MachineProgramOptions,
    { state, ledger, head }: StoredMachine,
    runtime: Runtime,
    budget: TurnBudget,
  ) {
    this.#options = options;
    this.#runtime = runtime;
    this.#head = head;
    this.#ledger = ledger;
    this.#budget = budget;
    this.#state = state;
    this.#interrupted = new InterruptedRun(runtime.turn, head.interrupted);
    this.#questions = new Questions({
      saga: options.name,
      runtime,
      state,
      reserved: () => this.#run?.waits.missing ?? 0,
      asked: this.#head.asked,
      idOf: (at) => this.#idOf(at),
      wake: () => this.#run?.wake(),
      uncommitted: budget.uncommitted,
    });
  }

  /** Takes the turn. */
  async take(answers: ReadonlyMap<string, ClientAnswer>): Promise<Outcome | CommitPoint> {
    const { signal } = this.#runtime.request;
    const abort = (): void => this.#run?.stop(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    try {
      if (signal.aborted) throw new TurnAborted(signal.reason);
      return await this.#take(answers);
    } catch (error) {
      await this.#stop(error);
      if (signal.aborted) throw new TurnAborted(signal.reason);
      const { aborted } = this.#run?.effects ?? {};
      this.#run?.effects.giveUp();
      const { mismatch } = this.#run?.waits ?? {};
      if (mismatch !== undefined && this.#options.onMismatch === 'fail')
        return failedUnfit(mismatch);
      if (mismatch !== undefined || this.#questions.answeredHere > 0) this.#noteDiverged();
      return aborted === undefined ? await this.#fail(error) : await this.#unclaimed(aborted);
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  async #take(answers: ReadonlyMap<string, ClientAnswer>): Promise<Outcome | CommitPoint> {
    const isNew = this.#head.turn === 0;
    const made = this.#made(isNew);
    if ('mismatch' in made) {
      if (this.#options.onMismatch === 'compensate') {
        this.#noteDiverged();
        return await this.#fail(made.mismatch);
      }
      return failedUnfit(made.mismatch);
    }
    for (const [actor, { r }] of made.steps) this.#rounds.set(actor, r ?? 1);
    const isChanged =
      !isNew && (this.#ledger.first as SagaRecord).d !== definitionOf(this.#options.machine);
    this.#interrupted = new InterruptedRun(
      this.#runtime.turn,
      this.#head.interrupted,
      made.steps.values(),
      isChanged,
    );
    // An answer at the exact end of the grace still counts.
    const isAnswered = Object.keys(this.#head.asked).some((stepId) => answers.has(stepId));
    const grace = isAnswered ? answerGraceMs + 1 : 0;
    const run = new MachineRun(made, this.#runtime, {
      program: this.#options,
      asked: this.#options.asked,
      ledger: this.#ledger,
      stored: openWaits(this.#head, this.#ledger),
      state: this.#state,
      nameOf: this.#options.nameOf,
      defers: (work) => this.#defers(work),
      doubt: () => this.#doubt(),
      uncommitted: this.#budget.uncommitted,
      diverged: () => this.#noteDiverged(),
      passesTime: this.#budget.hasTime(this.#runtime.time.now()),
      grace,
    });
    this.#run = run;
    run.start(isNew);
    return await this.#go(run, answers);
  }

  #made(isNew: boolean): Fitted {
    const { name, machine } = this.#options;
    const { first } = this.#ledger;
    const limit = stepLimit(name, this.#runtime.limits.maxCommands);
    if (!isNew) return fit(this.#options, first, this.#head.asked, limit);
    return { root: makeRoot(machine, { input: first }, limit), timers: [], steps: new Map() };
  }

  async #go(
    run: MachineRun,
    answers: ReadonlyMap<string, ClientAnswer>,
  ): Promise<Outcome | CommitPoint> {
    const busy = (): boolean => this.#questions.busy;
    await run.readAnswers();
    // Overdue delays fire before the answers are delivered.
    const { asks } = await run.settle(busy);
    run.endGrace();
    await this.#questions.deliver(run.active ? asks : [], answers);
    for (;;) {
      const seen = await run.settle(busy);
      if (!run.active) return await this.#ended(run);
      if (
        this.#questions.route(
          seen.asks,
          () => this.#defers(),
          this.#budget.hasTime(this.#runtime.time.now()),
        )
      )
        continue;
      const wait = this.#shortWait(run, seen);
      if (wait === undefined) return await this.#suspended(run, seen);
      await this.#budget.hold(wait);
    }
  }

  /**
   * Returns the outcome of an ended machine. Throws for an error, or a final state tagged
   * `compensate`.
   */
  async #ended(run: MachineRun): Promise<Outcome | CommitPoint> {
    const end = run.root.getSnapshot();
    const { status, error, tags, value } = end;
    // The option `asks` stops a machine without a final state.
    if (status !== 'done' && status !== 'stopped') throw error;
    const { result: resultOf } = this.#options;
    const output = resultOf === undefined ? end.output : resultOf(end);
    if (tags?.has('compensate') === true) {
      throw new SagaAborted(
        typeof output === 'string'
          ? output
          : `'${this.#options.name}' ended in ${inStates(value)}.`,
      );
    }
    await run.waits.withdraw();
    run.assertGoing();
    const result = await this.#runtime.saga.checkResult(output);
    run.assertGoing();
    return { status: 'completed', result, ignored: this.#questions.ignored };
  }

  async #suspended(run: MachineRun, seen: Survey): Promise<Outcome | CommitPoint> {
    const { asks } = seen;
    run.catchUp();
    const due = this.#dueOf(run, seen);
    if (asks.length === 0 && due === undefined) {
      const end = run.root.getSnapshot();
      const events = orderedNodes(end).flatMap(eventsOf);
      throw new MachineStuck(this.#options.name, inStates(end.value), [...new Set(events)]);
    }
    const now = this.#runtime.time.now();
    if (this.#questions.answeredHere > 0) this.#noteDiverged();
    const turn = this.#head.turn + 1;
    const record = save(
      run.root,
      definitionOf(this.#options.machine),
      run.deadlines.timers,
      (actor) => {
        const round = this.#rounds.get(actor) ?? turn;
        const begun = round === 1 ? {} : { r: round };
        return Object.assign(begun, run.effects.factsOf(actor), run.waits.factsOf(actor));
      },
    );
    const left = run.waits.left.map(toLeftRecord);
    const { steps, asked } = await this.#questions.toSteps(asks);
    run.assertGoing();
    // The record of the machine has all that it waits for.
    const head = stateHead(turn, {
      asked,
      progress: this.#head.progress,
      others: [],
      // An interrupted run may have waited for a delay in its request, and gone on behind it.
      interrupted: run.deadlines.timers.length > 0 ? this.#interrupted.ahead : undefined,
    });
    run.warnOfStranding(this.#options.name);
    const isVital = this.#holdsVital && this.#runtime.turn.commit !== undefined;
    const reason = this.#budget.reasonToCommit() ?? (isVital ? 'vital' : undefined);
    const latest = Math.max(
      0,
      ...run.deadlines.timers.map(({ at }) => at),
      run.effects.nextDue ?? 0,
      run.waits.until,
    );
    const outcome = waitingOutcome({
      state: {
        head,
        ...this.#ledger.texts(left.length === 0 ? record : { ...record, w: left }),
      },
      steps,
      due: due ?? Number.POSITIVE_INFINITY,
      now,
      deadline: latest,
      content: run.waits.content,
      reserves: run.waits.reserves + reserveOfQuestions(asks.length, this.#runtime.limits),
      accepted: this.#questions.accepted,
      ignored: this.#questions.ignored,
    });
    const isDue = due !== undefined && due <= now;
    return isDue && reason !== undefined ? { ...outcome, reason } : outcome;
  }

  /**
   * Undoes a failed saga. With tokens for one use, commits first: a repeated request could continue
   * where this one failed.
   */
  async #fail(error: unknown): Promise<Outcome | CommitPoint> {
    const { accepted, ignored } = this.#questions;
    const later = this.#budget.canCommit;
    const turn = { ...this.#runtime.turn, ...(later ? { defersEffects: 'all' as const } : {}) };
    const runtime = { ...this.#runtime, turn };
    const waits = this.#run?.waits.giveUp() ?? openWaits(this.#head, this.#ledger);
    const outcome = await undoSaga(
      this.#options,
      this.#ledger,
      runtime,
      { error, waits },
      this.#head.turn,
    );
    if (outcome.status !== 'suspended') return { ...outcome, ignored };
    return { ...outcome, ...(later ? { reason: 'undo' as const } : {}), accepted, ignored };
  }

  /**
   * Handles an effect that could not be claimed: the token before this turn stays valid. A first
   * turn has none, so it fails.
   */
  async #unclaimed(aborted: TurnAborted): Promise<Outcome | CommitPoint> {
    if (this.#runtime.turn.number > 1) throw aborted;
    const outcome = await this.#fail(aborted.cause);
    const hadNothing =
      outcome.status === 'failed' &&
      outcome.compensated.length + outcome.uncompensated.length === 0;
    if (hadNothing) throw aborted;
    return outcome;
  }

  /** Stops the run, and waits for its effects. */
  async #stop(error: unknown): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.stop(error);
    await run.drain();
  }

  /** Returns `true` if work waits for the next turn. */
  #defers({ isVital = false, isRead = false }: Deferrable = {}): boolean {
    const budget = this.#budget;
    if (isVital && budget.holdsVital) this.#holdsVital = true;
    return budget.defers(this.#runtime.time.now(), budget.waitsForCommit(isRead), isVital);
  }

  #doubt(): { readonly isUnknown: boolean; readonly turn: number | undefined } {
    return {
      isUnknown: this.#interrupted.mayHaveRun(this.#budget.isStepUncommitted),
      turn: this.#interrupted.turn,
    };
  }

  /** Records that an interrupted run may have executed effects that this run cannot name. */
  #noteDiverged(): void {
    const { turn } = this.#interrupted;
    if (turn !== undefined) this.#ledger.addInterrupted(turn);
  }

  /** Time to wait in this request, in milliseconds, if nothing is left to do but wait. */
  #shortWait(run: MachineRun, seen: Survey): number | undefined {
    const due = this.#dueOf(run, seen);
    if (due === undefined || seen.asks.some((at) => this.#questions.isAsked(at))) return undefined;
    const wait = this.#budget.waitUntil(due, this.#runtime.time.now());
    // No step can receive this error, since the machine itself waits.
    if (wait !== 'hopeless') return wait;
    if (!run.waits.cannot(due))
      throw new ClientCannot(inStates(run.root.getSnapshot().value), 'wait');
    return 0;
  }

  /** Time of the next event without an answer; 0 for work deferred to the next turn. */
  #dueOf(run: MachineRun, { asks }: Survey): number | undefined {
    const times = [run.effects.nextDue, run.waits.nextDue, run.deadlines.next?.at].filter(
      (at) => at !== undefined,
    );
    if (!asks.every((at) => this.#questions.isAsked(at))) times.push(0);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /**
   * ID of a step: the path, and the turn if created after the first, so that no ID is used twice.
   */
  #idOf({ actor, path }: SurveyedActor): string {
    let round = this.#rounds.get(actor);
    if (round === undefined) {
      round = this.#head.turn + 1;
      this.#rounds.set(actor, round);
    }
    return round === 1 ? path : `${path}@${round}`;
  }
}
