import { TurnAborted, type ClientStep, type Json } from '@mcp-saga/core';
import { toJson, type StepAnswer } from '../../wire/step-answers.ts';
import type { HostParts, Timing } from '../../settings/host-parts.ts';
import { sleep } from '../../settings/clock.ts';
import type { SuspendedTurn } from '../../model/turn.ts';
import type { ClientCall } from '../../model/client-call.ts';
import { toRequest } from '../../wire/step-requests.ts';

// How often one question may be answered in a form that does not fit: a client that answers by rule never ends.
const maxTries = 10;

// What a timer can wait at the most: it fires at once for more.
const longestTimeout = 2 ** 31 - 1;

const requestTimedOut = -32_001;

const connectionClosed = -32_000;

const invalidParams = -32_602;

interface OpenQuestion {
  /** What was asked, to tell it from what is asked under the same id later. */
  readonly asked: string;
  readonly withdrawn: AbortController;
  /** Resolves when it is answered. */
  readonly isAnswered: Promise<void>;
  answer?: StepAnswer;
}

/** Questions of one call that its client has not answered. They are withdrawn when the saga no longer asks them. */
export class OpenQuestions {
  readonly #call: ClientCall;
  readonly #clock: () => number;
  readonly #sleep: Timing['sleep'];
  readonly #signal: AbortSignal;
  readonly #open = new Map<string, OpenQuestion>();
  readonly #tries = new Map<string, number>();

  constructor(call: ClientCall, { timing: { clock, sleep: wait } }: Pick<HostParts, 'timing'>) {
    this.#call = call;
    this.#clock = clock;
    this.#sleep = wait;
    this.#signal = call.caller.signal ?? new AbortController().signal;
  }

  /** Asks the questions of a turn, and returns all answers, or those that came before the saga continued. Throws TurnAborted. */
  async answersTo({
    steps,
    retryAfterMs = 0,
    due,
    sagaId,
    expiresAt,
  }: SuspendedTurn): Promise<readonly StepAnswer[]> {
    if (this.#signal.aborted) throw new TurnAborted(this.#signal.reason);
    this.#call.caller.flushProgress?.();
    const questions = steps.map((step) => this.#ask(step, sagaId, expiresAt));
    for (const [stepId, question] of this.#open)
      if (!questions.includes(question)) this.#withdraw(stepId, question);
    if (steps.length === 0) await this.#sleep(retryAfterMs, this.#signal);
    else await this.#answered(questions, due);
    if (this.#signal.aborted) throw new TurnAborted(this.#signal.reason);
    return questions.flatMap(({ answer }) => {
      if (answer === undefined) return [];
      // It is used now: asked again, it is another question.
      this.#open.delete(answer.stepId);
      return [answer];
    });
  }

  /** Withdraws what is still open: nobody waits for it any more. */
  withdraw(): void {
    for (const [stepId, question] of this.#open) this.#withdraw(stepId, question);
  }

  #withdraw(stepId: string, { withdrawn }: OpenQuestion): void {
    this.#open.delete(stepId);
    withdrawn.abort();
  }

  /** Waits until all are answered, or the saga goes on without the client, or the call is aborted. */
  async #answered(questions: readonly OpenQuestion[], due: number | undefined): Promise<void> {
    const waiting = new AbortController();
    const stop = (): void => waiting.abort();
    this.#signal.addEventListener('abort', stop, { once: true });
    if (this.#signal.aborted) stop();
    try {
      const ms = due === undefined ? Number.POSITIVE_INFINITY : due - this.#clock();
      await Promise.race([
        Promise.all(questions.map(({ isAnswered }) => isAnswered)),
        sleep(ms, waiting.signal),
      ]);
    } finally {
      this.#signal.removeEventListener('abort', stop);
      stop();
    }
  }

  #ask(step: ClientStep, sagaId: string, expiresAt: number): OpenQuestion {
    const { stepId } = step;
    const request = toRequest(step, sagaId);
    const asked = JSON.stringify(request);
    const before = this.#open.get(stepId);
    if (before?.asked === asked) return before;
    if (before !== undefined) this.#withdraw(stepId, before);
    const withdrawn = new AbortController();
    const timeout = Math.min(Math.max(1, expiresAt - this.#clock()), longestTimeout);
    const tried = (this.#tries.get(stepId) ?? 0) + 1;
    this.#tries.set(stepId, tried);
    const sent =
      tried > maxTries
        ? Promise.resolve({ stepId, error: { code: invalidParams, message: 'No usable answer came.' } })
        : answerOf(stepId, this.#call.send(request, { timeout, signal: withdrawn.signal }));
    const question: OpenQuestion = {
      asked,
      withdrawn,
      isAnswered: sent.then((answer) => {
        question.answer = answer;
      }),
    };
    this.#open.set(stepId, question);
    return question;
  }
}

async function answerOf(stepId: string, sent: Promise<unknown>): Promise<StepAnswer> {
  try {
    const result = await sent;
    // As null it is asked again with the reason, like everything else that is no answer. (W4)
    return { stepId, result: isJson(result) ? result : null };
  } catch (error) {
    return { stepId, error: toStepFailure(error) };
  }
}

/** Whether what a client sent can be kept. */
function isJson(value: unknown): value is Json {
  try {
    toJson(value, 'result');
    return true;
  } catch {
    return false;
  }
}

/** What a client failed a step with. A connection that is gone fails no step: nobody is there. */
function toStepFailure(error: unknown): { readonly code: number; readonly message: string } {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  if (code === 'REQUEST_TIMEOUT')
    return { code: requestTimedOut, message: 'The client did not answer in time.' };
  if (typeof code !== 'number' || code === connectionClosed) throw new TurnAborted(error);
  // Version 1 of the SDK puts the code into the message.
  const text = typeof message === 'string' ? message.replace(/^MCP error -?\d+: /, '') : '';
  return { code, message: isJson(text) ? text : '' };
}
