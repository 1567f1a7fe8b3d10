import { agreementOf, isUnsupported, routeWithoutClient } from '../effects/accept-answer.ts';
import { AnswerCheck } from './answer-check.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import { isAskedOfClient, isQuestion } from '../effects/effect-of.ts';
import type { Runtime } from '../model/runtime.ts';
import type { TaskRunner } from './task-runner.ts';
import { AnswerConflict } from '../values/errors.ts';
import type { Execution } from '../replay/execution.ts';
import type { Task } from '../replay/fiber.ts';
import type { Head } from '../journal/head.ts';
import type { Journal } from '../journal/journal.ts';
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
export class Answers extends AnswerCheck {
  readonly #turn: AnswersOptions;

  constructor(turn: AnswersOptions) {
    const advice = 'Read the time with now(), randomness with random().';
    super({ name: turn.name, runtime: turn.runtime, asked: turn.head.asked, advice });
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
      if (agreed === undefined) this.ignore(stepId, 'unknown');
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
        if (answer !== undefined) this.ignore(task.path, 'unknown');
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
    const checked = await this.check(task.spec, task.path, answer);
    if (checked === 'unsupported') task.route = routeWithoutClient(task.spec, runtime);
    else if (checked !== undefined) execution.record(task, checked.entry, checked.value);
  }
}
