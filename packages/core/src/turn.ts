import { acceptAnswer, agreementOf } from './accept-answer.ts';
import type { ClientAnswer, ClientStep } from './client-step.ts';
import { toClientStep } from './client-steps.ts';
import { encode } from './codec.ts';
import { AnswerConflict, TurnAborted } from './errors.ts';
import { isAskedOfClient } from './command-spec.ts';
import { Execution, type ExecutionEvents } from './execution.ts';
import type { Task } from './fiber.ts';
import type { GeneratorProgramOptions } from './generator-program.ts';
import { decodeHead, encodeHead, type Head } from './head.ts';
import { Journal } from './journal.ts';
import type { IgnoredAnswer, Outcome, ProgramState, Runtime } from './program.ts';
import { runTask, type TaskEnd } from './run-task.ts';
import { startBody } from './start-body.ts';

/**
 * One turn of a generator saga: replay, take the client's answers in the order asked, run what runs here, and stop
 * when every live branch waits for the client or the clock. (U1)
 */
export class Turn implements ExecutionEvents {
  readonly runtime: Runtime;
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
  #wake: (() => void) | undefined;

  constructor(options: GeneratorProgramOptions, state: ProgramState, runtime: Runtime) {
    this.#options = options;
    this.runtime = runtime;
    this.#head = decodeHead(state.head);
    this.#progress = this.#head.progress;
    this.live = this.#head.turn === 0;
    this.#journal = new Journal(state, runtime.limits.maxJournalEntries);
    this.#execution = new Execution(this.#journal, this);
  }

  /** Takes the turn. */
  async take(answers: ReadonlyMap<string, ClientAnswer>): Promise<Outcome> {
    const abort = (): void => this.#abortAll(this.runtime.signal.reason);
    this.runtime.signal.addEventListener('abort', abort, { once: true });
    try {
      this.#assertGoing();
      const input = this.#journal.skipInput(this.#head.input);
      this.#execution.start(() => startBody(this.#options.name, this.#options.body, input));
      this.live = true;
      this.#assertAgreement(answers);
      await this.#deliver(answers);
      await this.#runAll();
      return await this.#outcome();
    } catch (error) {
      await this.#stop(error);
      if (error instanceof TurnAborted || error instanceof AnswerConflict) throw error;
      return { status: 'failed', error, ignored: this.#ignored };
    } finally {
      this.runtime.signal.removeEventListener('abort', abort);
    }
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
    const { sagaId, tokenBytes, capabilities } = this.runtime;
    return { sagaId, turn: this.#head.turn + 1, tokenBytes, capabilities };
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
      const answer = answers.get(task.path);
      // oxlint-disable-next-line no-await-in-loop -- answers are delivered in the order asked (U2)
      if (answer !== undefined) await this.#answer(task, answer);
    }
  }

  async #answer(task: Task, answer: ClientAnswer): Promise<void> {
    const stepId = task.path;
    const digest = await this.#digest(toClientStep(task.spec, stepId));
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

  async #digest(step: ClientStep | undefined): Promise<string> {
    return step === undefined ? '' : this.runtime.digest(encode(step.params));
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
        return;
      }
    }
  }

  #startDue(): void {
    for (const task of this.#execution.pending.values()) {
      if (isAskedOfClient(task.spec.kind) || task.running !== undefined || task.discarded) continue;
      if (task.spec.kind === 'step' && this.#isDeferred(task)) continue;
      task.running = new AbortController();
      this.#running.add(task);
      void runTask(task, this.runtime, task.running.signal).then((end) => {
        this.#ends.push({ task, end });
        this.#wake?.();
      });
    }
  }

  /** Whether a server step has to wait for the next turn: the time for it has not come, or is used up. (U4) */
  #isDeferred(task: Task): boolean {
    if (this.#options.commitFirst && this.#head.turn === 0) return true;
    const time = this.runtime.now();
    return task.notBefore > time || (this.runtime.deadline !== undefined && time >= this.runtime.deadline);
  }

  #finish(task: Task, end: TaskEnd): void {
    this.#running.delete(task);
    task.running = undefined;
    this.#assertGoing();
    const { entry, value } = end;
    if (entry.letter === 't' && !task.discarded) [task.attempts, task.notBefore] = value as [number, number];
    this.#execution.record(task, entry, value);
  }

  async #outcome(): Promise<Outcome> {
    const { end } = this.#execution;
    const ignored = this.#ignored;
    if (end !== undefined) {
      this.#warnOfFloats();
      return 'error' in end
        ? { status: 'failed', error: end.error, ignored }
        : { status: 'completed', result: end.result, ignored };
    }
    const steps: ClientStep[] = [];
    // Without a prototype, since `__proto__` is an id like any other.
    const asked = Object.create(null) as Record<string, string>;
    let wait = Number.POSITIVE_INFINITY;
    for (const task of this.#execution.pending.values()) {
      const step = toClientStep(task.spec, task.path);
      if (step === undefined) {
        wait = Math.min(wait, Math.max(0, task.notBefore - this.runtime.now()));
        continue;
      }
      // oxlint-disable-next-line no-await-in-loop -- a few questions at the most
      asked[task.path] = await this.#digest(step);
      const reason = this.#reasons.get(task.path);
      this.runtime.observe({ type: 'asked', kind: task.spec.kind, path: task.path });
      steps.push(reason === undefined ? step : { ...step, reason });
    }
    const { turn, input } = this.#head;
    return {
      status: 'suspended',
      state: {
        ...this.#journal.texts(),
        head: encodeHead({ turn: turn + 1, input, progress: this.#progress, asked }),
      },
      steps,
      ...(steps.length === 0 ? { retryAfterMs: Number.isFinite(wait) ? wait : 0 } : {}),
      accepted: this.#accepted,
      ignored,
    };
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
