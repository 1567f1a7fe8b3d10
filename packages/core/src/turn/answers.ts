import {
  agreementOf,
  isOverLimit,
  isUnsupported,
  routeWithoutClient,
  acceptAnswer,
  isAccepted,
} from '../effects/end-task.ts';
import type { ClientAnswer } from '../model/client-step.ts';
import {
  isAskedOfClient,
  isQuestion,
  toClientStep,
  type EffectSpec,
} from '../effects/effect-of.ts';
import type { Runtime } from '../model/runtime.ts';
import type { Room } from './room.ts';
import type { TaskRunner } from './task-runner.ts';
import { AnswerConflict, troubleshootingLink, TurnAborted } from '../values/errors.ts';
import type { Execution } from '../replay/execution.ts';
import type { Task } from '../replay/fiber.ts';
import type { Head } from '../journal/head.ts';
import type { Journal } from '../journal/journal.ts';
import { answerGraceMs } from './time/waits.ts';
import type { Acceptance } from '../effects/parts/effect.ts';
import type { IgnoredAnswer } from '../model/outcome.ts';
import { digestOfStep } from './turn-outcome.ts';

/** Reason for asking again that the client gets if the question is another one by now. */
export const questionHasChanged =
  'the question has changed since it was asked: please answer the new question';

/**
 * Says that the answer to a changed question was not used, and with `advice`, how to stop the
 * question: only the author can follow it.
 */
export function changedQuestion(saga: string, stepId: string, advice?: string): string {
  const what =
    `Saga '${saga}' changed the question '${stepId}', so the answer was not used. The code has changed, or the message varies ` +
    'between turns.';
  const link = `See ${troubleshootingLink('a-question-is-asked-again-and-again')}`;
  return [what, ...(advice === undefined ? [] : [advice]), link].join(' ');
}

const usualAdvice = 'Read the time with now(), randomness with random().';

export interface AnsweredSaga {
  readonly name: string;
  readonly runtime: Runtime;
  /** Digests of the questions that the client may answer, by step ID, see `Head`. */
  readonly asked: { readonly [stepId: string]: string };
  /** Advice for authors of varying questions. Default: to read the time with `now()`. */
  readonly advice?: string;
  readonly room: Pick<Room, 'lack'>;
}

/** Checks the answers of a client, and notes the results. Shared by generators and machines. */
export class AnswerCheck {
  /** Unused answers, and why. */
  ignored: IgnoredAnswer[] = [];
  /** Reason why a question is asked again, by step ID. */
  readonly reasons: Map<string, string> = new Map();
  /** Number of accepted answers. */
  accepted = 0;
  readonly #saga: AnsweredSaga;

  constructor(saga: AnsweredSaga) {
    this.#saga = saga;
  }

  /**
   * Checks an answer. Undefined if not used; `unsupported` if the client does not have the method.
   */
  async check(
    spec: EffectSpec,
    stepId: string,
    answer: ClientAnswer,
  ): Promise<Extract<Acceptance, { entry: unknown }> | 'unsupported' | undefined> {
    const { name, runtime, asked, advice = usualAdvice } = this.#saga;
    const step = toClientStep(spec, stepId);
    const recorded = Object.hasOwn(asked, stepId) ? asked[stepId] : undefined;
    // The answer is to an earlier question with the same ID.
    if (step === undefined || recorded !== (await digestOfStep(runtime.questions, step))) {
      this.#ask(stepId, 'asked otherwise', questionHasChanged);
      // A question that changes in every turn is never answered.
      runtime.observer.warn?.(changedQuestion(name, stepId, advice));
      return undefined;
    }
    if (!isAccepted(spec, answer.provenance, runtime.questions)) {
      this.#ask(
        stepId,
        'not accepted',
        'this question must be answered by the user, not by the model',
      );
      return undefined;
    }
    if (isUnsupported(answer)) return 'unsupported';
    const observed = { kind: spec.kind, path: stepId };
    let isFailed = false;
    const acceptance = await acceptAnswer(spec, answer, runtime.limits, (error) => {
      isFailed = true;
      runtime.observer.observe({ type: 'failed', error, ...observed });
      runtime.observer.threw?.(stepId, error);
      runtime.observer.schemaFailed?.(error);
    });
    if (runtime.request.signal.aborted) throw new TurnAborted(runtime.request.signal.reason);
    if ('reason' in acceptance) {
      this.#ask(stepId, 'invalid', acceptance.reason);
      return undefined;
    }
    const { text } = acceptance.entry;
    // A schema that throws fails the step, and nothing of the answer is kept.
    const isKept = text !== undefined && !isFailed;
    const left = isKept ? await this.#saga.room.lack(stepId, text) : undefined;
    if (left !== undefined) {
      // The question can be answered again in fewer words. Accepted, this answer would end the saga.
      const reason = `the call has room for ${left} bytes of this answer: please send a shorter one`;
      this.#ask(stepId, 'invalid', reason);
      return undefined;
    }
    this.accepted += 1;
    if (!isFailed) runtime.observer.observe({ type: 'answered', ...observed });
    return acceptance;
  }

  /** Notes an unused answer. */
  ignore(stepId: string, why: IgnoredAnswer['why']): void {
    this.ignored.push({ stepId, why });
  }

  /** Asks the question again. */
  #ask(stepId: string, why: IgnoredAnswer['why'], reason: string): void {
    this.reasons.set(stepId, reason);
    this.ignore(stepId, why);
  }
}

export interface AnswersOptions {
  readonly name: string;
  readonly execution: Execution;
  readonly journal: Journal;
  readonly runtime: Runtime;
  readonly head: Head;
  readonly due: TaskRunner;
}

/** Takes the answers of the client, in the order asked. */
export class Answers extends AnswerCheck {
  readonly #turn: AnswersOptions;

  constructor(turn: AnswersOptions) {
    const { name, runtime, head, due } = turn;
    super({ name, runtime, asked: head.asked, room: due.room });
    this.#turn = turn;
  }

  /** Resets the counts after a commit. */
  committed(): void {
    this.ignored = [];
    this.accepted = 0;
  }

  /** Compares repeated answers with the recorded answers. Throws AnswerConflict if they differ. */
  assertAgreement(answers: ReadonlyMap<string, ClientAnswer>): void {
    if (answers.size === 0) return;
    const answered = this.#turn.journal.answered();
    for (const [stepId, answer] of answers) {
      if (isQuestion(this.#turn.execution.pending.get(stepId)?.spec)) continue;
      const agreed = answered.get(stepId)?.();
      // "Method not found" is not recorded as an answer.
      if (agreed === undefined && isUnsupported(answer)) continue;
      if (agreed === undefined) this.ignore(stepId, 'unknown');
      else if (agreed === agreementOf(answer)) continue;
      // Recorded under a higher limit, perhaps. The content cannot be compared.
      else if (isOverLimit(answer, this.#turn.runtime.limits.maxAnswerBytes))
        this.ignore(stepId, 'unknown');
      else throw new AnswerConflict(stepId);
    }
  }

  /**
   * Takes answers to open questions. Work and waits that were overdue on receipt happen first, each
   * at the due time. An answer within the grace after a deadline counts as in time.
   */
  async deliver(answers: ReadonlyMap<string, ClientAnswer>): Promise<void> {
    const { execution, due } = this.#turn;
    const open = [...execution.pending.values()].filter(({ spec }) => isAskedOfClient(spec.kind));
    const isAnswered = open.some(({ path }) => answers.has(path));
    const hasTime = due.budget.hasTime(due.clock.began);
    const byNow = { until: due.clock.receivedAt, works: false };
    const before = isAnswered
      ? { until: due.clock.receivedAt - answerGraceMs - 1, works: true }
      : byNow;
    const overdue = isAnswered || hasTime ? due.runOverdue(before) : undefined;
    // Avoids an `await` without a promise.
    if (overdue !== undefined) await overdue;
    await this.#take(answers, open);
    const late = isAnswered && hasTime ? due.runOverdue(byNow) : undefined;
    if (late !== undefined) await late;
  }

  async #take(answers: ReadonlyMap<string, ClientAnswer>, open: readonly Task[]): Promise<void> {
    const { pending } = this.#turn.execution;
    for (const task of open) {
      const answer = answers.get(task.path);
      // An earlier answer or an overdue event may have ended the branch of the question.
      if (pending.get(task.path) !== task) {
        if (answer !== undefined) this.ignore(task.path, 'unknown');
      } else if (task.spec.kind === 'checkpoint') {
        this.#pass(task);
      } else if (answer !== undefined) {
        await this.#answer(task, answer);
      }
    }
  }

  /** Records that the client returned to a checkpoint. */
  #pass(task: Task): void {
    const { runtime, execution, head, due } = this.#turn;
    if (head.turn > 0 && due.budget.hasTime(runtime.time.now()))
      execution.record(task, { type: 'passed' }, undefined);
  }

  async #answer(task: Task, answer: ClientAnswer): Promise<void> {
    const { runtime, execution } = this.#turn;
    const checked = await this.check(task.spec, task.path, answer);
    if (checked === 'unsupported') task.route = routeWithoutClient(task.spec, runtime.questions);
    else if (checked !== undefined) execution.record(task, checked.entry, checked.value);
  }
}
