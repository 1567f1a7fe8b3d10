import { Answers } from './answers.ts';
import { assertAwaited, awaitedFacts, newMismatch, toMismatch } from '../replay/assert-awaited.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import type { CommitReason, CommittedTurn, Outcome, SuspendedOutcome } from '../model/outcome.ts';
import type { EndRequest } from '../model/program.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime } from '../model/runtime.ts';
import { AnswerConflict, ReplayMismatch, SagaCancelled, TurnAborted } from '../values/errors.ts';
import { Execution } from '../replay/execution.ts';
import { TaskRunner } from './task-runner.ts';
import { decodeHead, encodeHead, type Head } from '../journal/head.ts';
import { Journal } from '../journal/journal.ts';
import { outcomeOfTurn, endedState } from './turn-outcome.ts';
import { resultOf, startBody, type GeneratorProgramOptions } from '../replay/start-body.ts';
import { runtimeAfter } from './runtime-after.ts';
import { TurnEvents } from './turn-events.ts';
import { startClock } from './time/waits.ts';
import { warnOfFloats } from './warn-of-floats.ts';

/**
 * One turn of a generator saga: replay, take the client's answers in the order asked, run what runs here, and stop
 * when every live branch waits for the client or the clock. (U1)
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
  #isEnded = false;
  #mismatch: Head['mismatch'];
  #left = false;
  #unclaimed: TurnAborted | undefined;

  /** @param isLeftNow - whether the mismatch that the state names was found in this turn */
  constructor(options: GeneratorProgramOptions, state: ProgramState, runtime: Runtime, isLeftNow = false) {
    this.#options = options;
    this.#state = state;
    this.#head = decodeHead(state.head);
    this.#events = new TurnEvents(runtime, options.declaresForks, this.#head.progress);
    this.#events.live = this.#head.turn === 0;
    this.#mismatch = this.#head.mismatch;
    this.#journal = new Journal(state, runtime.limits.maxJournalEntries, runtime.engine);
    this.#execution = new Execution(this.#journal, this.#events);
    this.pending = this.#execution.pending;
    const parts = { execution: this.#execution, journal: this.#journal, runtime, head: this.#head };
    const { commitFirst, name } = options;
    const commit = (reason: CommitReason): Promise<boolean> => this.#commit(reason);
    this.#due = new TaskRunner({ ...parts, commitFirst, isLeftNow, clock: this.#events.clock, commit });
    this.#answers = new Answers({ ...parts, name, due: this.#due });
  }

  get #runtime(): Runtime {
    return this.#events.runtime;
  }

  /** Takes the turn. */
  async take(answers: ReadonlyMap<string, ClientAnswer>, end?: EndRequest): Promise<Outcome> {
    const outcome = await this.#take(answers, end);
    const undone = outcome.status === 'failed' ? [...outcome.compensated, ...outcome.residue] : undefined;
    if (this.#unclaimed !== undefined && undone?.length === 0) throw this.#unclaimed;
    return outcome;
  }

  async #take(answers: ReadonlyMap<string, ClientAnswer>, end?: EndRequest): Promise<Outcome> {
    const abort = (): void => this.#due.abort(this.#runtime.signal.reason);
    this.#isEnded = end !== undefined;
    this.#runtime.signal.addEventListener('abort', abort, { once: true });
    try {
      this.#due.assertGoing();
      try {
        this.#start();
        if (end === undefined) {
          this.#answers.assertAgreement(answers);
          await this.#answers.deliver(answers);
        } else if (end.error instanceof SagaCancelled) {
          this.#execution.cancel(end.error);
        } else {
          // Without a guard, what cannot be kept as it is cannot be kept as a state that ends either.
          this.#due.budget.canSuspend = this.#runtime.commit !== undefined;
          this.#endBy(end.error);
        }
        return await this.#finish();
      } catch (thrown) {
        const error = this.#whyOf(thrown);
        await this.#stop(error);
        const mismatch = error instanceof ReplayMismatch ? this.#newMismatch() : undefined;
        // From the start once more: as every turn after this one will have it.
        if (mismatch !== undefined) return await this.#again(mismatch).take(answers, end);
        this.#undoAfter(error);
        return await this.#finish();
      }
    } catch (thrown) {
      const error = this.#whyOf(thrown);
      await this.#stop(error);
      const mismatch = this.#left && error instanceof ReplayMismatch ? this.#newMismatch() : undefined;
      if (mismatch !== undefined) return await this.#again(mismatch).take(answers, end);
      const { ignored } = this.#answers;
      // Replay lists undos of earlier turns. This turn undid nothing.
      if (this.#isLeftAsItIs(error))
        return { status: 'failed', error, compensated: [], residue: [], ignored };
      this.#execution.ending.giveUp();
      return { status: 'failed', error, ...this.#execution.ending.report, ignored };
    } finally {
      this.#runtime.signal.removeEventListener('abort', abort);
    }
  }

  #start(): void {
    const input = this.#journal.skipInput(this.#head.input);
    if (this.#mismatch !== undefined) this.#journal.stopAt(this.#mismatch[0]);
    if (!this.#events.live) this.#journal.freeze(awaitedFacts(this.#head));
    try {
      this.#replay(input);
    } catch (error) {
      throw this.#events.live ? error : toMismatch(error, this.#head, this.#execution, this.#journal);
    }
    this.#goLive();
    if (this.#head.turn === 0) this.#journal.assertRoom(0);
  }

  #replay(input: unknown): void {
    const execution = this.#execution;
    try {
      execution.start(() => startBody(this.#options.name, this.#options.body, input));
    } catch (error) {
      const why = execution.ending.leftFor();
      if (why === undefined) throw error;
      execution.abandon(why, [], this.#head.undos);
    }
    if (!this.#events.live) assertAwaited(this.#head, execution, this.#journal);
  }

  #goLive(): void {
    this.#events.live = true;
    this.#journal.thaw();
    const now = this.#events.clock.begin();
    this.#due.goLive();
    for (const task of this.#execution.pending.values()) startClock(task, this.#head, now);
  }

  async #finish(): Promise<Outcome> {
    await this.#due.runAll();
    await this.#checkResult();
    return await this.#outcome();
  }

  /** A result that the caller cannot be given is a failure like another: what the saga did is undone. */
  async #checkResult(): Promise<void> {
    const { ending } = this.#execution;
    if (ending.end === undefined || !('result' in ending.end)) return;
    try {
      ending.end = { result: await this.#runtime.checkResult(resultOf(ending.end.result)) };
      return;
    } catch (error) {
      this.#due.assertGoing();
      this.#execution.refuse(error);
    }
    await this.#due.runAll();
  }

  /**
   * Why a turn cannot go on. Where a step could not be claimed, the token before it is still good; before the first one there
   * is none, and nobody could ever undo what was done: then it is a failure like another. (E3)
   */
  #whyOf(error: unknown): unknown {
    const isFirst = this.#runtime.turn === 1;
    if (!(error instanceof TurnAborted) || this.#runtime.signal.aborted || !isFirst) return error;
    this.#unclaimed = error;
    return error.cause;
  }

  /** Ends what runs. Throws what leaves the token before this turn good. */
  async #stop(error: unknown): Promise<void> {
    await this.#due.stop(error);
    if (error instanceof TurnAborted || error instanceof AnswerConflict) throw error;
  }

  /** A request to end the saga undoes as much as possible, whatever the policy. */
  #newMismatch(): Head['mismatch'] {
    const isLeft = this.#options.onMismatch === 'fail' && !this.#isEnded;
    return newMismatch(this.#journal, this.#mismatch, { isLeft, isUndone: this.#left });
  }

  #again(mismatch: NonNullable<Head['mismatch']>): Turn {
    const head = encodeHead({ ...this.#head, mismatch });
    return new Turn(this.#options, { ...this.#state, head }, this.#runtime, true);
  }

  /** A turn that cannot go on: what the saga did is undone. */
  #undoAfter(error: unknown): void {
    if (this.#isLeftAsItIs(error) || (error instanceof ReplayMismatch && this.#left)) throw error;
    this.#left = true;
    const mismatched = error instanceof ReplayMismatch;
    // Kept before it is undone: repeated, the turn might not meet the limit or the error, and go on. (E1)
    const isKept = !mismatched && this.#canKeepLimit;
    if (isKept) this.#execution.ending.beginLeaving(error);
    this.#due.drainEnds();
    if (!mismatched && !isKept) this.#due.budget.canSuspend = false;
    const { recorded } = this.#journal;
    const skipped = this.#journal.skipTo(mismatched ? (this.#mismatch?.[1] ?? recorded) : recorded);
    this.#events.live ||= !this.#journal.replaying;
    this.#journal.thaw();
    if (mismatched) error.isFinal = this.#isEnded;
    this.#execution.abandon(error, skipped, mismatched ? this.#head.undos : undefined);
    if (!isKept) this.#goLive();
  }

  /** `true` if this turn can end before it undoes what a limit or an error of the engine has ended. */
  get #canKeepLimit(): boolean {
    const isForward = !this.#execution.ending.undoes && !this.#journal.replaying;
    return isForward && this.#due.budget.canSuspend && this.#runtime.commit !== undefined;
  }

  /** Whether nothing is undone, so that the code can be rolled back. (R3) */
  #isLeftAsItIs(error: unknown): boolean {
    return error instanceof ReplayMismatch && this.#mismatch === undefined;
  }

  async #outcome(): Promise<Outcome> {
    const { end, report } = this.#execution.ending;
    const { ignored, accepted } = this.#answers;
    if (end !== undefined) {
      warnOfFloats(this.#options, this.#execution.floated(), this.#runtime);
      this.#tellEnd();
      if ('result' in end) return { status: 'completed', result: end.result, ignored };
      if ('error' in end) return { status: 'failed', error: end.error, ...report, ignored };
      return { status: 'continued', ...end.next, progress: this.#events.progress, accepted, ignored };
    }
    return await this.#suspended(true);
  }

  /** @param asks - `false` for a commit: new questions are asked when the turn ends */
  async #suspended(asks: boolean): Promise<SuspendedOutcome> {
    const { ignored, reasons, accepted } = this.#answers;
    const { turn, asked, waits: waited } = this.#head;
    const undos = this.#mismatch === undefined ? this.#execution.ending.registered : this.#head.undos;
    return await outcomeOfTurn({
      runtime: this.#runtime,
      pending: [...this.#execution.pending.values()],
      reasons,
      texts: this.#journal.texts(),
      before: asked,
      waited,
      head: { ...this.#head, turn: turn + 1, progress: this.#events.progress, undos },
      accepted,
      ignored,
      asks,
      undoes: this.#execution.ending.undoes,
    });
  }

  /** Commits the state, and continues as the next turn. Returns `false` if the turn ends there. */
  async #commit(reason: CommitReason): Promise<boolean> {
    const { commit } = this.#runtime;
    const kept = commit === undefined ? undefined : await this.#suspended(false);
    // The client reads it before anything else happens.
    if (kept === undefined || (kept.content !== undefined && reason !== 'undo')) return false;
    let next: CommittedTurn | undefined;
    try {
      next = await commit?.({ ...kept, reason });
    } catch (error) {
      if (error instanceof TurnAborted) throw error;
      // Without a state that can be kept, undoing goes on to its end.
      if (this.#execution.ending.begun) this.#due.budget.canSuspend = false;
      else this.#endBy(error);
      return true;
    }
    this.#due.assertGoing();
    if (next === undefined) return false;
    this.#events.runtime = runtimeAfter(this.#runtime, next);
    this.#state = kept.state;
    this.#head = decodeHead(kept.state.head);
    this.#answers.committed();
    this.#due.committed(this.#runtime);
    return true;
  }

  /** Ends the body because its state cannot be kept, and records that. */
  #endBy(error: unknown): void {
    this.#execution.ending.beginFailure(error);
    this.#execution.endBy(error);
  }

  /** An end that its journal leads to again can be looked at later. */
  #tellEnd(): void {
    if (!this.#due.budget.canSuspend || this.#mismatch !== undefined) return;
    const head = { ...this.#head, turn: this.#head.turn + 1, progress: this.#events.progress };
    this.#runtime.ended?.(endedState(head, this.#journal.texts()));
  }
}
