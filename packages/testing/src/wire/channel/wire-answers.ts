import type { Json } from '@mcp-saga/server';
import type { Root } from '@mcp-saga/server/internal';
import { SagaTestError } from '../../values/errors.ts';
import { answerWith } from '../../world/answer-question.ts';
import type { Question } from '../../script/script-answers.ts';
import { messageOf } from '../../report/question-text.ts';
import { unrepeated } from '../../values/step-ids.ts';
import { show } from '../../values/show.ts';
import type { Fields } from './channel.ts';
import type { WireWorld } from './wired-program.ts';

/** Answer to a question: content of a form, text of a model, or roots. `decline` or `cancel` refuses a form. */
export type WireAnswer = string | Fields | readonly Root[];

/** Answers by ID of the step, which also matches its repetitions; or a function of the question. */
export type WireAnswers =
  | { readonly [id: string]: WireAnswer | ((question: Question) => WireAnswer | PromiseLike<WireAnswer>) }
  | ((question: Question) => WireAnswer | PromiseLike<WireAnswer>);

const types = {
  'elicitation/create': 'elicitation',
  'sampling/createMessage': 'sampling',
  'roots/list': 'roots',
  elicitation: 'elicitation',
  sampling: 'sampling',
  roots: 'roots',
} as const;

/** A question, in any dialect. */
export interface WireQuestion {
  /** ID of the step, if the dialect has it. */
  readonly id?: string;
  /** Method of MCP, or type of a client step. */
  readonly method: string;
  readonly params: Fields;
}

/** Answers the questions of one client. */
export class Answerer {
  readonly #answers: WireAnswers;
  readonly #world: WireWorld;
  readonly #before = new Map<string, number>();

  constructor(answers: WireAnswers, world: WireWorld) {
    this.#answers = answers;
    this.#world = world;
  }

  /** Returns the result for a question. Throws `unanswered`. */
  async answer({ id, method, params }: WireQuestion): Promise<Fields> {
    const type = types[method as keyof typeof types];
    if (type === undefined) throw new SagaTestError('script', `The server asks for '${method}'.`);
    const step = { type, params: params as { readonly [name: string]: Json } };
    const message = messageOf(step);
    const path = id ?? this.#world.idOf(type, message);
    const before = this.#before.get(path) ?? 0;
    this.#before.set(path, before + 1);
    const given =
      typeof this.#answers === 'function'
        ? this.#answers
        : (this.#answers[path] ?? this.#answers[unrepeated(path)]);
    if (given === undefined) {
      throw new SagaTestError(
        'unanswered',
        `The client has no answer to '${path === '' ? message : path}', which asks:\n\n    ${message}\n\n` +
          `Give it one: answers: { ${path === '' ? 'id' : JSON.stringify(path)}: … }; or a function of the question.`,
      );
    }
    if (before > 10) {
      throw new SagaTestError(
        'answer_not_accepted',
        `The answer to '${path}' is never accepted: ${show(given)}.`,
      );
    }
    const answer =
      typeof given === 'function'
        ? await this.#world.clock.during(
            Promise.resolve(given({ id: path, message, params: step.params, before, reason: undefined })),
          )
        : given;
    const made = answerWith({ ...step, stepId: path }, answer);
    return ('result' in made ? made.result : {}) as Fields;
  }
}
