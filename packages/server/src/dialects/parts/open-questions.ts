import { TurnAborted, type ClientStep, type Json } from '@mcp-saga/core';
import { toJson, type StepAnswer } from '../../wire/step-answers.ts';
import type { HostParts, Timing } from '../../settings/host-parts.ts';
import { longestTimerMs, neverAborted, sleep } from '../../settings/clock.ts';
import type { SuspendedTurn } from '../../model/turn.ts';
import type { ClientCall } from '../../model/call-types.ts';
import { needOf, toRequest } from '../../wire/step-requests.ts';
import { requestTimedOut, whyUnanswered } from './client-errors.ts';
import { ClientPresence } from './client-presence.ts';

// Limit of invalid answers to one question, since an automated client might never stop.
const maxTries = 10;

const invalidParams = -32_602;

const methodNotFound = -32_601;

interface OpenQuestion {
  /** Question as asked, to detect another question under the same ID. */
  readonly asked: string;
  readonly withdrawn: AbortController;
  readonly isAnswered: Promise<void>;
  answer?: StepAnswer;
}

/**
 * Unanswered questions of one call. Withdrawn when the saga no longer asks them, and when the call
 * ends: because its client cancelled it, closed its transport, or is gone.
 */
export class OpenQuestions {
  readonly #call: ClientCall;
  readonly #clock: () => number;
  readonly #sleep: Timing['sleep'];
  readonly #presence: ClientPresence;
  readonly #left = new AbortController();
  readonly #open = new Map<string, OpenQuestion>();
  readonly #tries = new Map<string, number>();

  constructor(call: ClientCall, { timing: { clock, sleep: wait } }: Pick<HostParts, 'timing'>) {
    this.#call = call;
    this.#clock = clock;
    this.#sleep = wait;
    const leave = (reason: unknown): void => this.#left.abort(reason);
    this.#presence = new ClientPresence(
      call,
      () => this.#open.size > 0,
      () => leave(new Error('The client is gone.')),
    );
    const { signal = neverAborted() } = call.caller;
    signal.addEventListener('abort', () => leave(signal.reason), { once: true });
    if (signal.aborted) leave(signal.reason);
  }

  get #signal(): AbortSignal {
    return this.#left.signal;
  }

  /**
   * Asks the questions of a turn. Returns all answers, or only the answers before the saga
   * continued. Throws TurnAborted.
   */
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
    if (steps.length === 0) {
      await this.#sleep(retryAfterMs, this.#signal);
    } else {
      this.#presence.begin();
      await this.#answered(questions, due);
    }
    if (this.#signal.aborted) throw new TurnAborted(this.#signal.reason);
    return questions.flatMap(({ answer }) => {
      if (answer === undefined) return [];
      // The answer is used now. The next question under this ID is new.
      this.#open.delete(answer.stepId);
      return [answer];
    });
  }

  /** Withdraws all questions at the end of the call. */
  withdraw(): void {
    this.#presence.end();
    for (const [stepId, question] of this.#open) this.#withdraw(stepId, question);
  }

  #withdraw(stepId: string, { withdrawn }: OpenQuestion): void {
    this.#open.delete(stepId);
    withdrawn.abort();
  }

  /**
   * Waits until all questions are answered, the saga continues without the client, or the call
   * aborts.
   */
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
    const timeout = Math.min(Math.max(1, expiresAt - this.#clock()), longestTimerMs);
    const tried = (this.#tries.get(stepId) ?? 0) + 1;
    this.#tries.set(stepId, tried);
    const sent =
      tried > maxTries
        ? Promise.resolve({
            stepId,
            error: { code: invalidParams, message: `No valid answer in ${maxTries} attempts.` },
          })
        : this.#answerOf(step, this.#call.send(request, { timeout, signal: withdrawn.signal }));
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

  async #answerOf(step: ClientStep, sent: Promise<unknown>): Promise<StepAnswer> {
    const { stepId } = step;
    try {
      const result = await sent;
      // An invalid answer becomes null, which repeats the question with the reason.
      return { stepId, result: isJson(result) ? result : null };
    } catch (error) {
      const failure = toStepFailure(error);
      // Some gateways declare capabilities for clients that do not have them.
      if (failure.code === methodNotFound) this.#call.client.noteLacking(needOf(step));
      return { stepId, error: failure };
    }
  }
}

function isJson(value: unknown): value is Json {
  try {
    toJson(value, 'result');
    return true;
  } catch {
    return false;
  }
}

/** Converts an error of the client. Throws TurnAborted if the connection is closed. */
function toStepFailure(error: unknown): { readonly code: number; readonly message: string } {
  const why = whyUnanswered(error);
  if (why === 'disconnected') throw new TurnAborted(error);
  if (why === 'timed out')
    return { code: requestTimedOut, message: 'The client did not answer in time.' };
  const { code, message } = error as { readonly code: number; readonly message?: unknown };
  // Version 1 of the SDK puts the code into the message.
  const text = typeof message === 'string' ? message.replace(/^MCP error -?\d+: /, '') : '';
  return { code, message: isJson(text) ? text : '' };
}
