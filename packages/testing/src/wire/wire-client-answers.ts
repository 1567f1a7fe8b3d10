import type { ClientStep, Json } from '@mcp-saga/server';
import type { Root } from '@mcp-saga/server/internal';
import { messageOf } from '../report/trace-questions.ts';
import type { Question } from '../script/script-answers.ts';
import { SagaTestError } from '../values/errors.ts';
import { misspelledAnswer, unrepeated } from '../values/step-ids.ts';
import type { VirtualClock } from '../values/virtual-clock.ts';
import { answerWith } from '../world/world-answers.ts';

type Fields = { readonly [name: string]: unknown };

/**
 * Answer to a question: content of a form, text of a model, or roots. `decline` or `cancel` refuses
 * a form.
 */
export type WireAnswer = string | Fields | readonly Root[];

/** Answers by ID of the step (also for repetitions), or a function of the question. */
export type WireAnswers =
  | {
      readonly [id: string]:
        | WireAnswer
        | ((question: Question) => WireAnswer | PromiseLike<WireAnswer>);
    }
  | ((question: Question) => WireAnswer | PromiseLike<WireAnswer>);

const types = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
} as const;

export interface WireQuestion {
  /** ID of the step, if the client knows it. */
  readonly id?: string;
  readonly method: string;
  readonly params?: object | undefined;
}

/** Host whose sagas ask. */
export type AskingHost = Readonly<{
  asked: readonly ClientStep[];
  clock: Pick<VirtualClock, 'during'>;
}>;

export class Answerer {
  readonly #answers: WireAnswers;
  readonly #host: AskingHost;
  readonly #before = new Map<string, number>();

  constructor(answers: WireAnswers, host: AskingHost) {
    this.#answers = answers;
    this.#host = host;
  }

  /** Returns the result for a question. Throws `unanswered`. */
  async answer({ id, method, params: given = {} }: WireQuestion): Promise<Fields> {
    const type = types[method as keyof typeof types];
    if (type === undefined)
      throw new SagaTestError(
        'script',
        `The test client does not support requests of '${method}'.`,
      );
    const params = given as { readonly [name: string]: Json };
    const message = messageOf({ type, params });
    const path = id ?? this.#idOf(type, message);
    const before = this.#before.get(path) ?? 0;
    this.#before.set(path, before + 1);
    const answers = this.#answers;
    const answer =
      typeof answers === 'function' ? answers : (answers[path] ?? answers[unrepeated(path)]);
    if (answer === undefined) {
      const key = path === '' ? 'id' : JSON.stringify(path);
      const misspelled = misspelledAnswer(path, Object.keys(answers), 'client');
      throw new SagaTestError(
        'unanswered',
        `The test client has no answer to '${path === '' ? message : path}', which asks:\n\n    ${message}\n\n` +
          `Add one to the options of the client: answers: { ${key}: … }, or a function of the question. ${misspelled}`.trim(),
      );
    }
    const question = { id: path, message, params, before, reason: undefined };
    const value =
      typeof answer === 'function'
        ? await this.#host.clock.during(Promise.resolve(answer(question)))
        : answer;
    const made = answerWith({ type, params, stepId: path }, value);
    return ('result' in made ? made.result : {}) as Fields;
  }

  /** Finds the asking step by its message: requests of MCP have no step ID. */
  #idOf(type: string, message: string): string {
    const found = this.#host.asked.findLast(
      (step) => step.type === type && (type === 'roots' || message.startsWith(messageOf(step))),
    );
    return found?.stepId ?? '';
  }
}
