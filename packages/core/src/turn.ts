import { acceptAnswer, agreementOf } from './accept-answer.ts';
import type { ClientAnswer } from './client-step.ts';
import { toClientStep } from './client-steps.ts';
import { isAskedOfClient } from './command-spec.ts';
import { AnswerConflict, ReplayMismatch, SagaCancelled, TurnAborted } from './errors.ts';
import { Execution, type ExecutionEvents } from './execution.ts';
import { tried, type Task } from './fiber.ts';
import type { GeneratorProgramOptions } from './generator-program.ts';
import { decodeHead, type Head } from './head.ts';
import { Journal } from './journal.ts';
import { digestOfStep, outcomeOfTurn } from './outcome-of-turn.ts';
import type { EndRequest, IgnoredAnswer, Outcome, ProgramState, Runtime } from './program.ts';
import { runTask, type TaskEnd } from './run-task.ts';
import { startBody } from './start-body.ts';
import { dueAt, startClock, timingOf } from './waits.ts';

/**
 * One turn of a generator saga: replay, take the client's answers in the order asked, run what runs here, and stop
 * when every live branch waits for the client or the clock. (U1)
 */
export class Turn implements ExecutionEvents {
  readonly runtime: Runtime;
  readonly declaresForks: boolean;
  live: boolean;

  readonly #options: GeneratorProgramOptions;
  readonly #head: Head;
  readonly #journal: Journal;
  readonly #execution: Execution;
  readonly #ends: { readonly task: Task; readonly end: TaskEnd }[] = [];
  readonly #ignored: IgnoredAnswer[] = [];
  readonly #reasons = new Map<string, string>();
  #running = new Set<Task>();
  #accepted = 0;
  #progress: number | undefined;
  #held = 0;
  /** A state that could not be sealed anyway is not handed out: undoing goes on to its end. */
  #canSuspend = true;
  #mismatch: Head['mismatch'];
  #wake: (() => void) | undefined;

  constructor(options: GeneratorProgramOptions, state: ProgramState, runtime: Runtime) {
    this.#options = options;
    this.runtime = runtime;
    this.declaresForks = options.declaresForks;
    this.#head = decodeHead(state.head);
    this.#progress = this.#head.progress;
    this.#mismatch = this.#head.mismatch;
    this.live = this.#head.turn === 0;
    this.#journal = new Journal(state, runtime.limits.maxJournalEntries);
    this.#execution = new Execution(this.#journal, this);
  }

  /** Takes the turn. */
  async take(answers: ReadonlyMap<string, ClientAnswer>, end?: EndRequest): Promise<Outcome> {
    const abort = (): void => this.#abortAll(this.runtime.signal.reason);
    this.runtime.signal.addEventListener('abort', abort, { once: true });
    try {
      this.#assertGoing();
      try {
        this.#start();
        if (end === undefined) {
          this.#assertAgreement(answers);
          await this.#deliver(answers);
        } else {
          this.#end(end);
        }
        await this.#runAll();
      } catch (error) {
        await this.#stop(error);
        if (error instanceof TurnAborted || error instanceof AnswerConflict) throw error;
        this.#undoAfter(error);
        await this.#runAll();
      }
      return await this.#outcome();
    } catch (error) {
      await this.#stop(error);
      if (error instanceof TurnAborted || error instanceof AnswerConflict) throw error;
      return { status: 'failed', error, ...this.#execution.report, ignored: this.#ignored };
    } finally {
      this.runtime.signal.removeEventListener('abort', abort);
    }
  }

  #start(): void {
    const input = this.#journal.skipInput(this.#head.input);
    const { mismatch } = this.#head;
    if (mismatch !== undefined) this.#journal.stopAt(mismatch[0]);
    this.#execution.start(() => startBody(this.#options.name, this.#options.body, input));
    if (mismatch !== undefined) this.#leaveMismatch(mismatch);
    this.live = true;
    const now = this.runtime.now();
    for (const task of this.#execution.pending.values()) startClock(task, this.#head, now);
  }

  #end({ error }: EndRequest): void {
    if (error instanceof SagaCancelled) this.#execution.cancel(error);
    else {
      this.#canSuspend = false;
      this.#execution.endBy(error);
    }
  }

  /** A turn that cannot go on: where the saga wants that, what it did is undone. */
  #undoAfter(error: unknown): void {
    this.live = true;
    if (!(error instanceof ReplayMismatch)) {
      this.#canSuspend = false;
      this.#journal.lift();
      this.#execution.abandon(error, []);
      return;
    }
    if (this.#options.onMismatch === 'fail' || this.#mismatch !== undefined) throw error;
    this.#mismatch = [this.#journal.count, this.#journal.recorded];
    this.#execution.abandon(error, this.#journal.skipTo(this.#mismatch[1]));
  }

  #leaveMismatch(mismatch: readonly [number, number]): void {
    this.#journal.stopAt(Number.POSITIVE_INFINITY);
    const error = this.#execution.mismatch();
    this.#execution.abandon(error, this.#journal.skipTo(mismatch[1]));
  }

  /** Tells the client something, unless it is progress that does not rise. */
  tell(spec: Parameters<ExecutionEvents['tell']>[0]): void {
    if (spec.kind === 'log') {
      this.runtime.log(spec.level, spec.data);
      return;
    }
    const { value, total, message } = spec;
    if (this.#progress !== undefined && value <= this.#progress) return;
    this.#progress = value;
    this.runtime.progress({
      value,
      ...(total === undefined ? {} : { total }),
      ...(message === undefined ? {} : { message }),
    });
  }

  /** What the saga can know about itself in this turn. */
  info(): unknown {
    const { sagaId, turn, tokenBytes, suggestedTokenBytes, capabilities } = this.runtime;
    return {
      sagaId,
      turn,
      tokenBytes,
      capabilities,
      continueAsSuggested: tokenBytes >= suggestedTokenBytes,
    };
  }

  #assertGoing(): void {
    if (this.runtime.signal.aborted) throw new TurnAborted(this.runtime.signal.reason);
  }

  // The client may repeat all it ever answered; what it repeats must be what it said. (W4)
  #assertAgreement(answers: ReadonlyMap<string, ClientAnswer>): void {
    if (answers.size === 0) return;
    const answered = this.#journal.answered();
    for (const [stepId, answer] of answers) {
      const kind = this.#execution.pending.get(stepId)?.spec.kind;
      if (kind !== undefined && kind !== 'checkpoint' && isAskedOfClient(kind)) continue;
      const agreed = answered.get(stepId);
      if (agreed === undefined) this.#ignored.push({ stepId, why: 'unknown' });
      else if (agreed !== agreementOf(answer)) throw new AnswerConflict(stepId);
    }
  }

  async #deliver(answers: ReadonlyMap<string, ClientAnswer>): Promise<void> {
    const { pending } = this.#execution;
    const asked = [...pending.values()].filter((task) => isAskedOfClient(task.spec.kind));
    for (const task of asked) {
      // An answer before this one may have ended the branch that asked.
      if (pending.get(task.path) !== task) {
        if (answers.has(task.path)) this.#ignored.push({ stepId: task.path, why: 'unknown' });
        continue;
      }
      if (task.spec.kind === 'checkpoint') {
        if (this.#head.turn > 0) this.#execution.record(task, { letter: 'k' }, undefined);
        continue;
      }
      if (timingOf(task, this.runtime.now()) === 'over') {
        this.#execution.record(task, { letter: 'y' }, undefined);
        continue;
      }
      const answer = answers.get(task.path);
      // oxlint-disable-next-line no-await-in-loop -- answers are delivered in the order asked (U2)
      if (answer !== undefined) await this.#answer(task, answer);
    }
  }

  async #answer(task: Task, answer: ClientAnswer): Promise<void> {
    const stepId = task.path;
    const step = toClientStep(task.spec, stepId);
    const digest = step === undefined ? '' : await digestOfStep(this.runtime, step);
    if (this.#head.asked[stepId] !== digest) {
      this.#ignored.push({ stepId, why: 'asked otherwise' });
      return;
    }
    const acceptance = await acceptAnswer(task.spec, answer);
    this.#assertGoing();
    if ('reason' in acceptance) {
      this.#reasons.set(stepId, acceptance.reason);
      this.#ignored.push({ stepId, why: 'invalid' });
      return;
    }
    this.#accepted += 1;
    this.runtime.observe({ type: 'answered', kind: task.spec.kind, path: stepId });
    this.#execution.record(task, acceptance.entry, acceptance.value);
  }

  async #runAll(): Promise<void> {
    for (;;) {
      this.#assertGoing();
      this.#startDue();
      const done = this.#ends.shift();
      if (done !== undefined) {
        this.#finish(done.task, done.end);
      } else if (this.#running.size > 0) {
        // oxlint-disable-next-line no-await-in-loop -- results are taken in the order of completion (U2)
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      } else {
        const wait = this.#shortWait();
        if (wait === undefined) return;
        this.#held += wait;
        // oxlint-disable-next-line no-await-in-loop -- a short wait is held (W6)
        await this.runtime.sleep(wait, this.runtime.signal);
      }
    }
  }

  #startDue(): void {
    const now = this.runtime.now();
    for (const task of this.#execution.pending.values()) {
      if (isAskedOfClient(task.spec.kind) || task.running !== undefined || task.discarded) continue;
      startClock(task, this.#head, now);
      const timing = timingOf(task, now);
      if (timing === 'waiting' || (task.spec.kind === 'step' && this.#isDeferred(task, now))) continue;
      task.running = new AbortController();
      this.#running.add(task);
      if (timing === 'over' || task.spec.kind === 'sleep') {
        const letter = timing === 'over' ? 'y' : 'k';
        this.#ends.push({ task, end: { entry: { letter }, value: undefined } });
        continue;
      }
      void runTask(task, this.runtime, task.running.signal).then((end) => {
        this.#ends.push({ task, end });
        this.#wake?.();
      });
    }
  }

  /** Whether a server step has to wait for the next turn: the time for it has not come, or is used up. (U4) */
  #isDeferred(task: Task, now: number): boolean {
    if (this.#options.commitFirst && this.#head.turn === 0 && this.runtime.tokenBytes === 0) return true;
    return (
      task.notBefore > now || (this.#canSuspend && now >= (this.runtime.deadline ?? Number.POSITIVE_INFINITY))
    );
  }

  /** How long to wait in this request, when there is nothing to do but wait, and not for long. (W6) */
  #shortWait(): number | undefined {
    const tasks = [...this.#execution.pending.values()];
    if (tasks.length === 0 || tasks.some(({ spec }) => isAskedOfClient(spec.kind))) return undefined;
    const now = this.runtime.now();
    const due = Math.min(...tasks.map(dueAt));
    const wait = due - now;
    if (wait <= 0) return undefined;
    if (!this.#canSuspend || this.runtime.deadline === undefined) return wait;
    return this.#held + wait <= this.runtime.maxHold && due <= this.runtime.deadline ? wait : undefined;
  }

  #finish(task: Task, { entry, value }: TaskEnd): void {
    this.#running.delete(task);
    task.running = undefined;
    this.#assertGoing();
    if (entry === undefined) {
      const { spec } = task;
      task.asked += 1;
      if (spec.kind === 'poll') task.until = this.runtime.now() + spec.every;
      if (task.discarded) this.#execution.record(task, { letter: 'w' }, undefined);
      return;
    }
    if (entry.letter === 't' && !task.discarded) tried(task, value);
    this.#execution.record(task, entry, value);
  }

  async #outcome(): Promise<Outcome> {
    const { end } = this.#execution;
    const ignored = this.#ignored;
    if (end !== undefined) {
      this.#warnOfFloats();
      if ('result' in end) return { status: 'completed', result: end.result, ignored };
      if ('error' in end) return { status: 'failed', error: end.error, ...this.#execution.report, ignored };
      return { status: 'continued', ...end.next, progress: this.#progress, ignored };
    }
    const { turn, input } = this.#head;
    return await outcomeOfTurn({
      runtime: this.runtime,
      pending: [...this.#execution.pending.values()],
      reasons: this.#reasons,
      texts: this.#journal.texts(),
      head: { turn: turn + 1, input, progress: this.#progress, mismatch: this.#mismatch },
      accepted: this.#accepted,
      ignored,
    });
  }

  #warnOfFloats(): void {
    for (const spec of this.#execution.floated()) {
      const id = 'id' in spec ? `${spec.kind}('${spec.id}')` : `${spec.kind}(…)`;
      this.runtime.warn?.(
        `Saga '${this.#options.name}' created ${id} and never yielded it, so it did not happen. Write: yield* ${id}.`,
      );
    }
  }

  #abortAll(reason: unknown): void {
    for (const task of this.#running) task.running?.abort(reason);
  }

  /** Ends a turn that cannot go on: what runs is told to stop, and awaited. */
  async #stop(reason: unknown): Promise<void> {
    this.#abortAll(reason);
    while (this.#running.size > this.#ends.length) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other ends
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    this.#running = new Set();
  }
}
