import { acceptAnswer, agreementOf } from './accept-answer.ts';
import type { ClientAnswer } from './client-step.ts';
import { toClientStep } from './client-steps.ts';
import { isAskedOfClient } from './command-spec.ts';
import type { DueTasks } from './due-tasks.ts';
import { AnswerConflict } from './errors.ts';
import type { Execution } from './execution.ts';
import type { Task } from './fiber.ts';
import type { Head } from './head.ts';
import type { Journal } from './journal.ts';
import { digestOfStep } from './outcome-of-turn.ts';
import type { IgnoredAnswer, Runtime } from './program.ts';
import { isAccepted } from './routes.ts';
import { timingOf } from './waits.ts';

/** What the taking of answers needs to know of its turn. */
export interface AnswersOptions {
  /** The name of the saga. */
  readonly name: string;
  readonly execution: Execution;
  readonly journal: Journal;
  readonly runtime: Runtime;
  readonly head: Head;
  readonly due: DueTasks;
}

/** Takes what the client answered, in the order asked. (U2, W4) */
export class Answers {
  /** Answers that were not used, and why. */
  readonly ignored: IgnoredAnswer[] = [];
  /** Why a question is asked again, by path. */
  readonly reasons: Map<string, string> = new Map();
  /** How many were accepted. */
  accepted = 0;

  readonly #turn: AnswersOptions;

  constructor(turn: AnswersOptions) {
    this.#turn = turn;
  }

  /** The client may repeat all it ever answered: throws where what it repeats is not what it said. (W4) */
  assertAgreement(answers: ReadonlyMap<string, ClientAnswer>): void {
    if (answers.size === 0) return;
    const answered = this.#turn.journal.answered();
    for (const [stepId, answer] of answers) {
      const kind = this.#turn.execution.pending.get(stepId)?.spec.kind;
      if (kind !== undefined && kind !== 'checkpoint' && isAskedOfClient(kind)) continue;
      const agreed = answered.get(stepId);
      if (agreed === undefined) this.ignored.push({ stepId, why: 'unknown' });
      else if (agreed !== agreementOf(answer)) throw new AnswerConflict(stepId);
    }
  }

  /** Takes the answers that came for what is open. */
  async deliver(answers: ReadonlyMap<string, ClientAnswer>): Promise<void> {
    const { pending } = this.#turn.execution;
    const asked = [...pending.values()].filter((task) => isAskedOfClient(task.spec.kind));
    for (const task of asked) {
      const answer = answers.get(task.path);
      // An answer before this one may have ended the branch that asked.
      if (pending.get(task.path) !== task) {
        if (answer !== undefined) this.ignored.push({ stepId: task.path, why: 'unknown' });
      } else if (!this.#passes(task, answer !== undefined) && answer !== undefined) {
        // oxlint-disable-next-line no-await-in-loop -- answers are delivered in the order asked (U2)
        await this.#answer(task, answer);
      }
    }
  }

  /** Records what time alone decides: a checkpoint is passed, a question's time is over. */
  #passes(task: Task, isAnswered: boolean): boolean {
    const { runtime, execution, head, due } = this.#turn;
    const now = runtime.now();
    const isCheckpoint = task.spec.kind === 'checkpoint';
    if (!isCheckpoint && timingOf(task, now) !== 'over') return false;
    const goesOn = isCheckpoint ? head.turn > 0 && due.hasTime(now) : isAnswered || due.hasTime(now);
    if (goesOn) execution.record(task, { letter: isCheckpoint ? 'k' : 'y' }, undefined);
    return true;
  }

  async #answer(task: Task, answer: ClientAnswer): Promise<void> {
    const { runtime, execution } = this.#turn;
    const { spec, path: stepId } = task;
    if (!(await this.#isAboutQuestion(task))) return;
    if (!isAccepted(spec, answer.provenance, runtime)) {
      this.reasons.set(stepId, 'this question must be answered by the user, not by the model');
      this.ignored.push({ stepId, why: 'not accepted' });
      return;
    }
    const acceptance = await acceptAnswer(spec, answer, runtime.limits, (error) =>
      runtime.observe({ type: 'failed', kind: spec.kind, path: stepId, error }),
    );
    this.#turn.due.assertGoing();
    if ('reason' in acceptance) {
      this.reasons.set(stepId, acceptance.reason);
      this.ignored.push({ stepId, why: 'invalid' });
      return;
    }
    this.accepted += 1;
    runtime.observe({ type: 'answered', kind: spec.kind, path: stepId });
    execution.record(task, acceptance.entry, acceptance.value);
  }

  /** Whether an answer is to what is asked now, and not to what was asked before under the same id. (T6) */
  async #isAboutQuestion({ spec, path: stepId }: Task): Promise<boolean> {
    const { runtime, head, name } = this.#turn;
    const step = toClientStep(spec, stepId);
    const digest = step === undefined ? '' : await digestOfStep(runtime, step);
    if (head.asked[stepId] === digest) return true;
    this.reasons.set(stepId, 'the question has changed since it was asked: please answer it as it is now');
    this.ignored.push({ stepId, why: 'asked otherwise' });
    // Asked otherwise in every turn, it is never answered.
    runtime.warn?.(
      `Saga '${name}' asks '${stepId}' otherwise than before, so its answer was not used. Was it ` +
        'changed, or is its message made of something that varies? Read the time with now(), randomness with random().',
    );
    return false;
  }
}
