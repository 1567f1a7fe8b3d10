import { type Clock, systemClock } from './clock.ts';
import type { CallToolResult, ContentBlock } from './content.ts';
import { KeptSagaInvalid, SagaProtocolError } from './errors.ts';
import type { McpClient, RequestOptions } from './mcp-client.ts';
import { parseAnswer, parseAnswers, parseContent, parseSteps, parseText, parseTime } from './parse-answer.ts';
import { isRecord } from './record.ts';
import { type SagaRequest, sendRequest } from './send-request.ts';
import { toStepAnswer } from './step-answer.ts';
import type { SagaStep, StepAnswer } from './wire.ts';

const FORMAT = 'mcp-saga/client@1';

/**
 * A suspended saga as JSON. It holds everything that the saga is: whoever has it, and may use the server as the same
 * user, can continue it, and it shows what the user answered. Keep it as you would keep a session cookie.
 */
export interface KeptSaga {
  readonly format: 'mcp-saga/client@1';
  /** The tool. */
  readonly name: string;
  readonly sagaToken: string;
  readonly turn: number;
  readonly steps: readonly SagaStep[];
  readonly completedSteps: readonly StepAnswer[];
  readonly content?: readonly ContentBlock[];
  /** Not to be resumed before, in milliseconds since 1970. */
  readonly retryAt?: number;
}

/** What a turn of a saga came to. */
export type SagaTurn =
  | { readonly status: 'suspended'; readonly saga: SuspendedSaga }
  | { readonly status: 'completed'; readonly result: CallToolResult };

/** How to make one turn. */
export interface TurnOptions {
  /** Stops waiting; the saga stays as it was before the turn and can be resumed. */
  readonly signal?: AbortSignal | undefined;
  /** Passed to the SDK's `client.request`: timeouts, progress, headers. */
  readonly requestOptions?: RequestOptions | undefined;
  /** For tests; default: the runtime's. */
  readonly clock?: Clock | undefined;
}

/** How to make a turn that brings answers. */
export interface ResumeOptions extends TurnOptions {
  /**
   * Which answers are sent: `all` of the saga so far, as the protocol has it, or `only` those to the steps of this
   * turn, which is shorter; the servers of this project take both. Default `all`.
   */
  readonly news?: 'all' | 'only' | undefined;
}

/**
 * A saga that waits for its client. A value: answering or resuming it gives another and changes nothing here, so it
 * can be kept with `JSON.stringify` at any time and resumed again if a request is lost. Logging it prints neither the
 * token nor the answers.
 */
export class SuspendedSaga {
  /** The tool. */
  readonly name: string;
  /** How many turns it has taken to come here, from 1. */
  readonly turn: number;
  /** What the server waits for; nothing when it only wants to be resumed later. */
  readonly steps: readonly SagaStep[];
  /** For the user meanwhile. */
  readonly content: readonly ContentBlock[] | undefined;
  /** With no steps: not to be resumed before, in milliseconds since 1970. */
  readonly retryAt: number | undefined;
  /** Size of the token. */
  readonly tokenBytes: number;
  readonly #client: McpClient;
  readonly #kept: KeptSaga;

  /** Use `SuspendedSaga.from`, which checks what it is given. */
  constructor(client: McpClient, kept: KeptSaga) {
    this.name = kept.name;
    this.turn = kept.turn;
    this.steps = kept.steps;
    this.content = kept.content;
    this.retryAt = kept.retryAt;
    this.tokenBytes = new TextEncoder().encode(kept.sagaToken).length;
    this.#client = client;
    this.#kept = kept;
  }

  /**
   * A saga that was kept, on a client that is connected to the same server.
   *
   * @param kept what `JSON.parse` gave, or a `SuspendedSaga` of another client
   * @throws KeptSagaInvalid naming the field that is wrong
   */
  static from(client: McpClient, kept: unknown): SuspendedSaga {
    return new SuspendedSaga(client, kept instanceof SuspendedSaga ? kept.#kept : parseKept(kept));
  }

  /** The answers so far, the oldest first; those to steps of this turn are not sent yet. */
  get answers(): readonly StepAnswer[] {
    return this.#kept.completedSteps;
  }

  /** The steps of this turn that have no answer yet. */
  get pending(): readonly SagaStep[] {
    const answered = new Set(this.answers.map(({ stepId }) => stepId));
    return this.steps.filter(({ stepId }) => !answered.has(stepId));
  }

  /**
   * The same saga with answers to steps of this turn, not sent yet. An answer takes the place of an earlier one to the
   * same step.
   *
   * @throws TypeError when an answer is to a step that is not asked in this turn, or JSON cannot hold it
   */
  withAnswers(answers: readonly StepAnswer[]): SuspendedSaga {
    const asked = new Set(this.steps.map(({ stepId }) => stepId));
    for (const { stepId } of answers) {
      if (!asked.has(stepId)) throw new TypeError(`No step '${stepId}' is asked in this turn`);
    }
    // In the order asked, not the order answered: the server takes them in that order too.
    const all = new Map(
      [...this.answers, ...answers.map(toStepAnswer)].map((answer) => [answer.stepId, answer]),
    );
    const old = this.answers.filter(({ stepId }) => !asked.has(stepId));
    const news = this.steps.flatMap(({ stepId }) => all.get(stepId) ?? []);
    return new SuspendedSaga(this.#client, { ...this.#kept, completedSteps: [...old, ...news] });
  }

  /**
   * Sends the answers and takes the next turn. Steps without an answer are asked again by the server. Does not wait
   * for `retryAt`.
   *
   * @throws TypeError as `withAnswers` does; SagaClientError, which carries the saga with these answers
   */
  async resume(answers: readonly StepAnswer[] = [], options: ResumeOptions = {}): Promise<SagaTurn> {
    const saga = this.withAnswers(answers);
    const { sagaToken, completedSteps } = saga.#kept;
    const asked = new Set(saga.steps.map(({ stepId }) => stepId));
    const sent =
      options.news === 'only' ? completedSteps.filter(({ stepId }) => asked.has(stepId)) : completedSteps;
    const request = { method: 'tools/resumeSaga', params: { sagaToken, completedSteps: sent } } as const;
    return takeTurn(this.#client, request, { name: this.name, saga, completedSteps }, options);
  }

  /** For `JSON.stringify`: everything needed to continue, the token and the answers included. */
  toJSON(): KeptSaga {
    return this.#kept;
  }
}

/** What a turn comes after. */
interface Before {
  readonly name: string;
  readonly completedSteps: readonly StepAnswer[];
  readonly saga?: SuspendedSaga;
}

/** Sends one request of a saga and reads what the turn came to. */
export async function takeTurn(
  client: McpClient,
  request: SagaRequest,
  before: Before,
  options: TurnOptions,
): Promise<SagaTurn> {
  const { saga, name } = before;
  const { signal, requestOptions, clock = systemClock } = options;
  const raw = await sendRequest(client, request, { signal, requestOptions, saga });
  const answer = parseAnswer(raw, (field, problem) => new SagaProtocolError(field, problem, { saga }));
  if (!isSuspended(answer)) return { status: 'completed', result: answer };
  const { sagaToken, steps, content, retryAfterMs } = answer;
  const asked = new Set(steps.map(({ stepId }) => stepId));
  const kept: KeptSaga = {
    format: FORMAT,
    name,
    sagaToken,
    turn: (saga?.turn ?? 0) + 1,
    steps,
    // The answer to a step that is asked again was refused; sent once more it would contradict the new one.
    completedSteps: before.completedSteps.filter(({ stepId }) => !asked.has(stepId)),
    ...(content === undefined ? {} : { content }),
    ...(retryAfterMs === undefined ? {} : { retryAt: clock.now() + retryAfterMs }),
  };
  return { status: 'suspended', saga: new SuspendedSaga(client, kept) };
}

function isSuspended(
  answer: ReturnType<typeof parseAnswer>,
): answer is Exclude<typeof answer, CallToolResult> {
  return answer.state === 'suspended';
}

function refuse(field: string, problem: string): KeptSagaInvalid {
  return new KeptSagaInvalid(field, problem);
}

function parseKept(value: unknown): KeptSaga {
  if (!isRecord(value)) throw refuse('', 'is not an object');
  if (value['format'] !== FORMAT) throw refuse('format', `is not '${FORMAT}'`);
  const { name, sagaToken, turn, steps, completedSteps, content, retryAt } = value;
  if (typeof turn !== 'number' || !Number.isInteger(turn) || turn < 1)
    throw refuse('turn', 'is not a whole number from 1');
  return {
    format: FORMAT,
    name: parseText(name, 'name', refuse),
    sagaToken: parseText(sagaToken, 'sagaToken', refuse),
    turn,
    steps: parseSteps(steps, refuse),
    completedSteps: parseAnswers(completedSteps, refuse),
    ...(content === undefined ? {} : { content: parseContent(content, refuse) }),
    ...(retryAt === undefined ? {} : { retryAt: parseTime(retryAt, 'retryAt', refuse) }),
  };
}
