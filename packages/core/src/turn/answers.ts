import {
  acceptAnswer,
  agreementOf,
  isAccepted,
  isUnsupported,
  routeWithoutClient,
} from '../effects/accept-answer.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import { isAskedOfClient, isQuestion, toClientStep } from '../effects/effect-of.ts';
import type { IgnoredAnswer } from '../model/outcome.ts';
import type { Runtime } from '../model/runtime.ts';
import type { TaskRunner } from './task-runner.ts';
import { AnswerConflict } from '../values/errors.ts';
import type { Execution } from '../replay/execution.ts';
import type { Task } from '../replay/fiber.ts';
import type { Head } from '../journal/head.ts';
import type { Journal } from '../journal/journal.ts';
import { digestOfStep } from './turn-outcome.ts';
import { answerGraceMs } from './time/waits.ts';

/** What the taking of answers needs to know of its turn. */
export interface AnswersOptions {
  /** The name of the saga. */
  readonly name: string;
  readonly execution: Execution;
  readonly journal: Journal;
  readonly runtime: Runtime;
  readonly head: Head;
  readonly due: TaskRunner;
}

/** Takes what the client answered, in the order asked. (U2, W4) */
export class Answers {
  /** Answers that were not used, and why. */
  ignored: IgnoredAnswer[] = [];
  /** Why a question is asked again, by path. */
  readonly reasons: Map<string, string> = new Map();
  /** How many were accepted. */
  accepted = 0;

  readonly #turn: AnswersOptions;

  constructor(turn: AnswersOptions) {
    this.#turn = turn;
  }

  /** The turn was committed, with what became of the answers. */
  committed(): void {
    this.ignored = [];
    this.accepted = 0;
  }

  /** The client may repeat all it ever answered: throws where what it repeats is not what it said. (W4) */
  assertAgreement(answers: ReadonlyMap<string, ClientAnswer>): void {
    if (answers.size === 0) return;
    const answered = this.#turn.journal.answered();
    for (const [stepId, answer] of answers) {
      if (isQuestion(this.#turn.execution.pending.get(stepId)?.spec)) continue;
      const agreed = answered.get(stepId);
      // "Method not found" is not recorded as an answer.
      if (agreed === undefined && isUnsupported(answer)) continue;
      if (agreed === undefined) this.ignored.push({ stepId, why: 'unknown' });
      else if (agreed !== agreementOf(answer)) throw new AnswerConflict(stepId);
    }
  }

  /**
   * Takes the answers that came for what is open. What was overdue when they came happens before, at its own time; an answer
   * within the grace of a deadline counts as in time. (W6)
   */
  async deliver(answers: ReadonlyMap<string, ClientAnswer>): Promise<void> {
    const { execution, due } = this.#turn;
    const open = [...execution.pending.values()].filter(({ spec }) => isAskedOfClient(spec.kind));
    const isAnswered = open.some(({ path }) => answers.has(path));
    const hasTime = due.budget.hasTime(due.clock.began);
    const byNow = { until: due.clock.receivedAt, works: false };
    const before = isAnswered ? { until: due.clock.receivedAt - answerGraceMs - 1, works: true } : byNow;
    const overdue = isAnswered || hasTime ? due.runOverdue(before) : undefined;
    // Nothing is awaited for nothing.
    if (overdue !== undefined) await overdue;
    await this.#take(answers, open);
    const late = isAnswered && hasTime ? due.runOverdue(byNow) : undefined;
    if (late !== undefined) await late;
  }

  async #take(answers: ReadonlyMap<string, ClientAnswer>, open: readonly Task[]): Promise<void> {
    const { pending } = this.#turn.execution;
    for (const task of open) {
      const answer = answers.get(task.path);
      // An answer before this one may have ended the branch that asked, and so may what was overdue.
      if (pending.get(task.path) !== task) {
        if (answer !== undefined) this.ignored.push({ stepId: task.path, why: 'unknown' });
      } else if (task.spec.kind === 'checkpoint') {
        this.#pass(task);
      } else if (answer !== undefined) {
        // oxlint-disable-next-line no-await-in-loop -- answers are delivered in the order asked (U2)
        await this.#answer(task, answer);
      }
    }
  }

  /** Records that the client has come back to a checkpoint. */
  #pass(task: Task): void {
    const { runtime, execution, head, due } = this.#turn;
    if (head.turn > 0 && due.budget.hasTime(runtime.now()))
      execution.record(task, { type: 'passed' }, undefined);
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
    if (isUnsupported(answer)) {
      task.route = routeWithoutClient(spec, runtime);
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
