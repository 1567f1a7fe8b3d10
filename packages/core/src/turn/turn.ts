import { Answers } from './answers.ts';
import { assertAwaited, awaitedFacts, toMismatch } from '../replay/assert-awaited.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import type { Outcome } from '../model/outcome.ts';
import type { EndRequest } from '../model/program.ts';
import type { ProgramState } from '../model/program-state.ts';
import type { Runtime } from '../model/runtime.ts';
import { AnswerConflict, ReplayMismatch, SagaCancelled, TurnAborted } from '../values/errors.ts';
import { Execution, type ExecutionEvents } from '../replay/execution.ts';
import { DueTasks } from './task-runner.ts';
import { decodeHead, encodeHead, type Head } from '../journal/head.ts';
import { Journal } from '../journal/journal.ts';
import { outcomeOfTurn } from './turn-outcome.ts';
import { infoIn } from '../effects/parts/saga-info.ts';
import { startBody, type GeneratorProgramOptions, resultOf } from '../replay/start-body.ts';
import { Teller } from './teller.ts';
import { startClock } from './time/waits.ts';
import { warnOfFloats } from './warn-of-floats.ts';

/**
 * One turn of a generator saga: replay, take the client's answers in the order asked, run what runs here, and stop
 * when every live branch waits for the client or the clock. (U1)
 */
export class Turn implements ExecutionEvents {
  readonly runtime: Runtime;
  /** Commands without an outcome, by path. */
  readonly pending: Execution['pending'];
  readonly declaresForks: boolean;
  live: boolean;

  readonly #options: GeneratorProgramOptions;
  readonly #state: ProgramState;
  readonly #head: Head;
  readonly #journal: Journal;
  readonly #execution: Execution;
  readonly #due: DueTasks;
  readonly #answers: Answers;
  readonly #teller: Teller;
  /** How long ago the turn was begun for the first time (ms). */
  readonly #late: number;
  #isEnded = false;
  #mismatch: Head['mismatch'];
  #left = false;
  #unclaimed: TurnAborted | undefined;

  /** @param isLeftNow - whether the mismatch that the state names was found in this turn */
  constructor(options: GeneratorProgramOptions, state: ProgramState, runtime: Runtime, isLeftNow = false) {
    this.#options = options;
    this.#state = state;
    this.runtime = runtime;
    this.declaresForks = options.declaresForks;
    this.#head = decodeHead(state.head);
    this.#teller = new Teller(runtime, this.#head.progress);
    this.#mismatch = this.#head.mismatch;
    this.live = this.#head.turn === 0;
    this.#journal = new Journal(state, runtime.limits.maxJournalEntries, runtime.engine);
    this.#execution = new Execution(this.#journal, this);
    this.pending = this.#execution.pending;
    this.#late = runtime.heardAt === undefined ? 0 : Math.max(0, runtime.now() - runtime.heardAt);
    this.#due = new DueTasks({
      execution: this.#execution,
      journal: this.#journal,
      runtime,
      head: this.#head,
      commitFirst: options.commitFirst,
      isLeftNow,
      late: this.#late,
    });
    this.#answers = new Answers({
      name: options.name,
      execution: this.#execution,
      journal: this.#journal,
      runtime,
      head: this.#head,
      due: this.#due,
    });
  }

  /** Takes the turn. */
  async take(answers: ReadonlyMap<string, ClientAnswer>, end?: EndRequest): Promise<Outcome> {
    const outcome = await this.#take(answers, end);
    const hadNothing =
      outcome.status === 'failed' && outcome.compensated.length + outcome.residue.length === 0;
    if (this.#unclaimed !== undefined && hadNothing) throw this.#unclaimed;
    return outcome;
  }

  async #take(answers: ReadonlyMap<string, ClientAnswer>, end?: EndRequest): Promise<Outcome> {
    const abort = (): void => this.#due.abort(this.runtime.signal.reason);
    this.#isEnded = end !== undefined;
    this.runtime.signal.addEventListener('abort', abort, { once: true });
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
          this.#due.canSuspend = this.runtime.checkpointBeforeUndo === true;
          this.#due.isEnded = this.#due.canSuspend;
          this.#execution.ending.beginFailure(end.error);
          this.#execution.endBy(end.error);
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
      this.runtime.signal.removeEventListener('abort', abort);
    }
  }

  #start(): void {
    const input = this.#journal.skipInput(this.#head.input);
    if (this.#mismatch !== undefined) this.#journal.stopAt(this.#mismatch[0]);
    if (!this.live) this.#journal.freeze(awaitedFacts(this.#head));
    try {
      this.#replay(input);
    } catch (error) {
      throw this.live ? error : toMismatch(error, this.#head, this.#execution, this.#journal);
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
    if (!this.live) assertAwaited(this.#head, execution, this.#journal);
  }

  #goLive(): void {
    this.live = true;
    this.#journal.thaw();
    const now = this.runtime.now();
    this.#due.goLive(now);
    for (const task of this.#execution.pending.values()) startClock(task, this.#head, now, this.#late);
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
      ending.end = { result: await this.runtime.checkResult(resultOf(ending.end.result)) };
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
    const { signal, turn } = this.runtime;
    if (!(error instanceof TurnAborted) || signal.aborted || turn > 1) return error;
    this.#unclaimed = error;
    return error.cause;
  }

  /** Ends what runs. Throws what leaves the token before this turn good. */
  async #stop(error: unknown): Promise<void> {
    await this.#due.stop(error);
    if (error instanceof TurnAborted || error instanceof AnswerConflict) throw error;
  }

  /** How much of the journal fits, where that is news, and the saga is to be undone that far. */
  #newMismatch(): Head['mismatch'] {
    const { recorded, count } = this.#journal;
    const known = this.#mismatch;
    // A request to end the saga undoes as much as possible, whatever the policy.
    const leaves = this.#options.onMismatch === 'fail' && !this.#isEnded;
    if (known === undefined) return leaves ? undefined : [count, recorded];
    // The code has changed once more, while the saga was undone.
    return this.#left && known[1] < recorded ? [known[0], recorded] : undefined;
  }

  #again(mismatch: NonNullable<Head['mismatch']>): Turn {
    const head = encodeHead({ ...this.#head, mismatch });
    return new Turn(this.#options, { ...this.#state, head }, this.runtime, true);
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
    if (!mismatched && !isKept) this.#due.canSuspend = false;
    const { recorded } = this.#journal;
    const skipped = this.#journal.skipTo(mismatched ? (this.#mismatch?.[1] ?? recorded) : recorded);
    this.live ||= !this.#journal.replaying;
    this.#journal.thaw();
    if (mismatched) error.isFinal = this.#isEnded;
    this.#execution.abandon(error, skipped, mismatched ? this.#head.undos : undefined);
    if (!isKept) this.#goLive();
  }

  /** `true` if this turn can end before it undoes what a limit or an error of the engine has ended. */
  get #canKeepLimit(): boolean {
    const isForward = !this.#execution.ending.undoes && !this.#journal.replaying;
    return isForward && this.#due.canSuspend && this.runtime.checkpointBeforeUndo === true;
  }

  /** Whether nothing is undone, so that the code can be rolled back. (R3) */
  #isLeftAsItIs(error: unknown): boolean {
    return error instanceof ReplayMismatch && this.#mismatch === undefined;
  }

  /** Reports to the client. */
  tell(spec: Parameters<ExecutionEvents['tell']>[0]): void {
    this.#teller.tell(spec);
  }

  /** The time as the body reads it: what it decides by that, it decides as it did when the turn was begun. (E1) */
  now(): number {
    return this.runtime.now() - this.#late;
  }

  /** What the saga can know about itself in this turn. */
  info(): unknown {
    return infoIn(this.runtime);
  }

  async #outcome(): Promise<Outcome> {
    const { end, report } = this.#execution.ending;
    const { ignored, reasons, accepted } = this.#answers;
    if (end !== undefined) {
      warnOfFloats(this.#options, this.#execution.floated(), this.runtime);
      this.#tellEnd();
      if ('result' in end) return { status: 'completed', result: end.result, ignored };
      if ('error' in end) return { status: 'failed', error: end.error, ...report, ignored };
      return { status: 'continued', ...end.next, progress: this.#teller.progress, accepted, ignored };
    }
    const { turn, asked, waits: waited } = this.#head;
    const undos = this.#mismatch === undefined ? this.#execution.ending.registered : this.#head.undos;
    return await outcomeOfTurn({
      runtime: this.runtime,
      pending: [...this.#execution.pending.values()],
      reasons,
      texts: this.#journal.texts(),
      before: asked,
      waited,
      head: { ...this.#head, turn: turn + 1, progress: this.#teller.progress, undos },
      accepted,
      ignored,
      goesOn: this.#due.goesOn,
      undoes: this.#execution.ending.undoes,
    });
  }

  /** An end that its journal leads to again can be looked at later. */
  #tellEnd(): void {
    if (!this.#due.canSuspend || this.#mismatch !== undefined) return;
    const { turn, input } = this.#head;
    const head = { turn: turn + 1, input, progress: this.#teller.progress, mismatch: undefined };
    const ended = encodeHead({ ...head, asked: {}, waits: {} });
    this.runtime.ended?.({ ...this.#journal.texts(), head: ended });
  }
}
