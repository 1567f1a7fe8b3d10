/**
 * One turn of a generator saga: from a state and the answers of a client to an outcome. The
 * outcome is a new state with the questions to ask, or the end of the saga.
 *
 * 1. `Execution` replays the body with the results in the journal. Nothing runs, and every
 *    command without a result is a pending task.
 * 2. `Answers` checks the answers, and gives them to the body in the order of the questions. What
 *    was overdue when they arrived happens first, each at its own time.
 * 3. `TaskRunner` runs what is due, within the budget of the turn, until every branch waits for
 *    the client or the clock. Before an effect that a repetition of the turn might not reach
 *    again, the state is committed, and the turn goes on as the next one.
 * 4. When the body has returned, its result is checked. When it has failed, the same loop runs
 *    the undos.
 * 5. `outcomeOfTurn` writes the new state, with the questions and the time to come back.
 *
 * - A turn is a function of state, answers, and recorded results: the same input gives the same
 *   commands in the same order, in any process.
 * - Whatever has an effect is recorded before the body sees its result. If the journal has no
 *   room for the result, the effect does not run.
 * - An outcome that nobody knows, because an earlier run of the turn was interrupted, is
 *   `unknown`, never `failed`.
 * - `TurnAborted`, `AnswerConflict`, and `MalformedState` change nothing: the token before the
 *   turn stays good. Code that the journal does not fit undoes the saga only if its policy says
 *   so. Any other error ends the saga, and undoes it.
 */
import { Answers } from './answers.ts';
import { assertAwaited, awaitedFacts, newMismatch, toMismatch } from '../replay/replay-mismatch.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import type { CommitReason, Outcome, SuspendedOutcome } from '../model/outcome.ts';
import type { EndRequest } from '../model/program.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime } from '../model/runtime.ts';
import { AnswerConflict, ReplayMismatch, SagaCancelled, TurnAborted } from '../values/errors.ts';
import { Execution } from '../replay/execution.ts';
import { TaskRunner } from './task-runner.ts';
import { decodeHead, encodeHead, type Head } from '../journal/head.ts';
import { Journal } from '../journal/journal.ts';
import { MalformedState } from '../journal/malformed-state.ts';
import { outcomeOfTurn, endedState } from './turn-outcome.ts';
import { resultOf, startBody, type GeneratorProgramOptions } from '../replay/body.ts';
import { neverYielded, toldOf } from '../replay/created-commands.ts';
import { commitState } from './commit-state.ts';
import { boxCloser } from './stopped-waits.ts';
import { TurnEvents } from './turn-events.ts';
import { askInTurn, startClock } from './time/waits.ts';

export interface TurnRequest {
  readonly answers: ReadonlyMap<string, ClientAnswer>;
  /** Ends the saga instead of taking answers. */
  readonly end: EndRequest | undefined;
  /**
   * `true` if this turn has found that the saga does not fit the code: the turn starts anew, and
   * undoes the saga.
   */
  readonly isMismatched?: true;
}

/**
 * One turn of a generator saga: replays, takes the client's answers in the order asked, runs tasks,
 * and ends when every branch waits for the client or the clock.
 */
export class Turn {
  /** Commands without an outcome, by path. */
  readonly pending: Execution['pending'];
  readonly #options: GeneratorProgramOptions;
  #state: ProgramState;
  #head: Head;
  readonly #journal: Journal;
  readonly #execution: Execution;
  readonly #due: TaskRunner;
  readonly #answers: Answers;
  readonly #events: TurnEvents;
  readonly #request: TurnRequest;
  readonly #mismatch: Head['mismatch'];
  #unclaimed: TurnAborted | undefined;

  constructor(
    options: GeneratorProgramOptions,
    state: ProgramState,
    runtime: Runtime,
    request: TurnRequest,
  ) {
    this.#request = request;
    this.#options = options;
    this.#state = state;
    this.#head = decodeHead(state.head);
    this.#mismatch = this.#head.mismatch;
    this.#journal = new Journal(state, runtime.limits.maxJournalEntries);
    this.#events = new TurnEvents(runtime, this.#journal, options, this.#head.progress);
    this.#execution = new Execution(this.#journal, this.#events);
    if (this.#head.turn === 0) this.#execution.phase.goLive();
    this.pending = this.#execution.pending;
    const parts = { execution: this.#execution, journal: this.#journal, runtime, head: this.#head };
    const { name } = options;
    const commit = (reason: CommitReason): Promise<boolean> => this.#commit(reason);
    this.#due = new TaskRunner({ clock: this.#events.clock, commit, ...parts });
    this.#answers = new Answers({ name, due: this.#due, ...parts });
  }

  get #runtime(): Runtime {
    return this.#events.runtime;
  }

  async take(): Promise<Outcome> {
    const { signal } = this.#runtime.request;
    try {
      const outcome = await this.#advance().catch((error: unknown) => this.#fail(error, false));
      const undone =
        outcome.status === 'failed'
          ? [...outcome.compensated, ...outcome.uncompensated]
          : undefined;
      if (this.#unclaimed !== undefined && undone?.length === 0) throw this.#unclaimed;
      return outcome;
    } finally {
      const { name } = this.#options;
      for (const advice of this.#execution.created.advice)
        this.#runtime.observer.warn?.(`Saga '${name}': ${advice}`, 'unit');
      if (this.#due.onAbort !== undefined) signal.removeEventListener('abort', this.#due.onAbort);
    }
  }

  async #advance(): Promise<Outcome> {
    const { answers, end } = this.#request;
    this.#due.assertGoing();
    this.#start();
    if (end === undefined) {
      this.#answers.assertAgreement(answers);
      await this.#answers.deliver(answers);
    } else {
      // Without a guard, a state that cannot be kept also cannot be kept as a final state.
      const isKept = end.error instanceof SagaCancelled || this.#runtime.turn.commit !== undefined;
      if (!isKept) this.#due.budget.runToEnd();
      this.#execution.fail(end.error);
    }
    return await this.#finish();
  }

  /** @param isUndoing - `true` if this turn already undoes the saga because of another error */
  async #fail(thrown: unknown, isUndoing: boolean): Promise<Outcome> {
    const error = this.#whyOf(thrown);
    await this.#due.stop(error);
    // The token before this turn stays valid.
    if (error instanceof TurnAborted || error instanceof AnswerConflict) throw error;
    // Nothing that a malformed state says may be undone.
    if (error instanceof MalformedState) throw error;
    const mismatch = this.#newMismatch(error, isUndoing);
    // Restarts the turn, with the mismatch that later turns will read.
    if (mismatch !== undefined) {
      const state = { ...this.#state, head: encodeHead({ ...this.#head, mismatch }) };
      const request = { ...this.#request, isMismatched: true } as const;
      return await new Turn(this.#options, state, this.#runtime, request).take();
    }
    const { ending } = this.#execution;
    const { ignored } = this.#answers;
    // Without an undo, the code can be rolled back. Replay lists undos of earlier turns.
    if (error instanceof ReplayMismatch && this.#mismatch === undefined)
      return { status: 'failed', error, compensated: [], uncompensated: [], ignored };
    if (isUndoing) {
      ending.giveUp();
      return { status: 'failed', error, ...ending.report, ignored };
    }
    const waits = [...Object.keys(this.#head.waits), ...this.pending.keys()];
    const closeBoxes = boxCloser(this.#journal.state, waits, this.#runtime);
    try {
      if (error instanceof ReplayMismatch) await closeBoxes();
      this.#halt(error);
      return await closeBoxes(await this.#finish());
    } catch (next) {
      return await this.#fail(next, true);
    }
  }

  #start(): void {
    const input = this.#journal.skipInput(this.#head.input);
    if (this.#mismatch !== undefined) this.#journal.stopAt(this.#mismatch[0]);
    const { phase } = this.#execution;
    if (phase.isReplaying) this.#journal.freeze(awaitedFacts(this.#head));
    try {
      this.#replay(input);
    } catch (error) {
      if (!phase.isReplaying || error instanceof TurnAborted) throw error;
      throw toMismatch(error, this.#head, this.#execution, this.#journal);
    }
    this.#goLive();
    if (this.#head.turn === 0) this.#journal.assertRoom(0);
  }

  #replay(input: unknown): void {
    const execution = this.#execution;
    try {
      execution.start(() => startBody(this.#options.name, this.#options.body, input));
    } catch (error) {
      const why = execution.ending.takeHalt();
      if (why === undefined) throw error;
      execution.halt(why, []);
    }
    if (execution.phase.isReplaying) assertAwaited(this.#head, execution, this.#journal);
  }

  #goLive(): void {
    this.#execution.phase.goLive();
    this.#journal.thaw();
    const { clock } = this.#events;
    const now = clock.begin();
    this.#due.goLive();
    if (this.#request.isMismatched === true) this.#execution.uncommitted.note('undo');
    for (const task of this.#execution.pending.values()) {
      startClock(task, this.#head, now);
      askInTurn(task, clock.receivedAt);
    }
  }

  async #finish(): Promise<Outcome> {
    await this.#due.runAll();
    await this.#checkResult();
    return await this.#outcome();
  }

  /** Undoes the saga if the result is invalid, or if the body forgot to yield commands. */
  async #checkResult(): Promise<void> {
    const { phase } = this.#execution;
    if (phase.end === undefined || !('result' in phase.end)) return;
    try {
      const result = resultOf(phase.end.result);
      this.#checkCommands();
      phase.checked(await this.#runtime.saga.checkResult(result));
      return;
    } catch (error) {
      this.#due.assertGoing();
      this.#execution.refuse(error);
    }
    await this.#due.runAll();
  }

  /**
   * Checks that the body yielded every command that it created. Throws AuthoringError for commands
   * whose absence makes the result untrue. After a pivot, an undo would leave half of the saga, so
   * these are reported like the harmless ones.
   */
  #checkCommands(): void {
    const { created, ending } = this.#execution;
    const { name } = this.#options;
    const { lost, harmless } = created.leftAtEnd;
    if (lost.length > 0 && !ending.hasPivoted) throw neverYielded(name, lost);
    for (const code of [...lost, ...harmless])
      this.#runtime.observer.warn?.(toldOf(name, [code]), 'mistake');
  }

  /**
   * Reason why a turn cannot continue. If a `once` step cannot be claimed, the earlier token is
   * still valid. In a first turn that nobody can repeat, no token could undo the steps, so the claim
   * fails the saga.
   */
  #whyOf(error: unknown): unknown {
    const { turn, request } = this.#runtime;
    // A turn that commits can be repeated, even the first one.
    const canRepeat = turn.number > 1 || this.#due.budget.canCommit;
    if (!(error instanceof TurnAborted) || request.signal.aborted || canRepeat) return error;
    this.#unclaimed = error;
    return error.cause;
  }

  /**
   * Returns a mismatch to restart with. A request to end the saga undoes as much as possible,
   * whatever the policy.
   */
  #newMismatch(error: unknown, isUndoing: boolean): Head['mismatch'] {
    if (!(error instanceof ReplayMismatch)) return undefined;
    const isKept = this.#options.onMismatch === 'fail' && this.#request.end === undefined;
    return newMismatch(this.#journal, this.#mismatch, { isKept, isUndoing });
  }

  /** Stops the body, and undoes finished steps. */
  #halt(error: unknown): void {
    const isMismatch = error instanceof ReplayMismatch;
    // Committed before the undo: a repeated turn might not meet the limit or the error, and
    // continue.
    const isCommitted = !isMismatch && this.#canCommitHalt;
    if (isCommitted) this.#execution.ending.record('limit', error);
    this.#due.drainEnds(isCommitted);
    if (!isMismatch && !isCommitted) this.#due.budget.runToEnd();
    const { recorded } = this.#journal;
    const skipped = this.#journal.skipTo(isMismatch ? (this.#mismatch?.[1] ?? recorded) : recorded);
    this.#journal.thaw();
    if (isMismatch) error.isFinal = this.#request.end !== undefined;
    this.#execution.halt(error, skipped);
    if (!isCommitted) this.#goLive();
  }

  /**
   * `true` if the turn can be committed before the undo after a limit or an error of the engine.
   */
  get #canCommitHalt(): boolean {
    const isForward = !this.#execution.phase.undoes && !this.#journal.replaying;
    return isForward && this.#due.budget.canCommit;
  }

  async #outcome(): Promise<Outcome> {
    const { ending, phase } = this.#execution;
    const { end } = phase;
    const { ignored, accepted } = this.#answers;
    if (end !== undefined) {
      const ended = { ignored, ...this.#finalState };
      if ('result' in end) return { status: 'completed', result: end.result, ...ended };
      if ('error' in end) return { status: 'failed', error: end.error, ...ending.report, ...ended };
      return {
        status: 'continued',
        ...end.next,
        progress: this.#events.progress,
        accepted,
        ...ended,
      };
    }
    return await this.#suspended(true);
  }

  /** @param asks - `false` for a commit: new questions are asked when the turn ends */
  async #suspended(asks: boolean): Promise<SuspendedOutcome> {
    const { ignored, reasons, accepted } = this.#answers;
    const { turn, asked, waits: waited } = this.#head;
    return await outcomeOfTurn({
      runtime: this.#runtime,
      pending: [...this.#execution.pending.values()],
      reasons,
      texts: this.#journal.texts(),
      before: asked,
      waited,
      head: {
        ...this.#head,
        turn: turn + 1,
        progress: this.#events.progress,
        interrupted: this.#due.interruptedAhead,
      },
      accepted,
      ignored,
      asks,
      undoes: this.#execution.phase.undoes,
    });
  }

  /** Commits the state, and continues as the next turn. Returns `false` if the turn ends. */
  async #commit(reason: CommitReason): Promise<boolean> {
    if (this.#runtime.turn.commit === undefined) return false;
    const kept = await this.#suspended(false);
    const committed = await commitState(this.#runtime, { reason, ...kept });
    if (committed !== undefined && 'error' in committed) {
      // Without a state that can be kept, the undo runs to the end.
      if (this.#execution.phase.isRunning) this.#execution.fail(committed.error);
      else this.#due.budget.runToEnd();
      return true;
    }
    this.#due.assertGoing();
    if (committed === undefined) return false;
    this.#events.runtime = committed.runtime;
    this.#state = kept.state;
    this.#head = decodeHead(kept.state.head);
    this.#answers.committed();
    this.#due.committed(this.#runtime, this.#head);
    return true;
  }

  /** Final state, if a replay of the journal reaches the same end. */
  get #finalState(): { readonly state?: ProgramState } {
    if (!this.#due.budget.canSuspend || this.#mismatch !== undefined) return {};
    const head = { ...this.#head, turn: this.#head.turn + 1, progress: this.#events.progress };
    return { state: endedState(head, this.#journal.texts()) };
  }
}
