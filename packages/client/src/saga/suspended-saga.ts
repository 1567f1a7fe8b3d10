import { optionError, rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import { systemClock } from '../runtime/clock.ts';
import type { CallToolResult } from '../model/tool-result.ts';
import { KeptSagaInvalid, SagaProtocolError } from '../model/errors.ts';
import type { McpClient } from '../model/mcp-client-types.ts';
import {
  parseAnswer,
  parseAnswers,
  parseContent,
  parseSteps,
  parseText,
  parseTime,
} from '../requests/parse-answer.ts';
import { isRecord, copyJson } from '../runtime/json.ts';
import type {
  KeptSaga,
  ResumeOptions,
  ClientTurn,
  SuspendedSaga as Saga,
  TurnOptions,
} from '../model/client-turn-types.ts';
import { type SagaRequest, sendRequest } from '../requests/send-request.ts';
import type { SagaStep, CompletedStep } from '../model/wire-types.ts';

/** Option names of a turn. */
export const turnNames: NamesOf<TurnOptions> = { signal: true, requestOptions: true, clock: true };
/** Option names of a turn with answers. */
export const resumeNames: NamesOf<ResumeOptions> = { ...turnNames, news: true };

const FORMAT = 'mcp-saga/client@1';

/** Saga that waits for its client. */
export type SuspendedSaga = Saga;

/** Reads suspended sagas. */
export const SuspendedSaga: {
  /**
   * Restores a stored saga on a client of the same server.
   * @param kept result of `JSON.parse`, or a `SuspendedSaga` of another client
   * @throws KeptSagaInvalid with the invalid field
   */
  from(client: McpClient, kept: unknown): SuspendedSaga;
} = { from: (client, kept) => Suspended.from(client, kept) };

class Suspended implements SuspendedSaga {
  readonly name: string;
  readonly turn: number;
  readonly steps: readonly SagaStep[];
  readonly content: KeptSaga['content'];
  readonly retryAt: number | undefined;
  readonly tokenBytes: number;
  readonly #client: McpClient;
  readonly #kept: KeptSaga;

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

  static from(client: McpClient, kept: unknown): Suspended {
    return new Suspended(client, kept instanceof Suspended ? kept.#kept : parseKept(kept));
  }

  get answers(): readonly CompletedStep[] {
    return this.#kept.completedSteps;
  }

  get pending(): readonly SagaStep[] {
    const answered = new Set(this.answers.map(({ stepId }) => stepId));
    return this.steps.filter(({ stepId }) => !answered.has(stepId));
  }

  withAnswers(answers: readonly CompletedStep[]): Suspended {
    const asked = new Set(this.steps.map(({ stepId }) => stepId));
    for (const { stepId } of answers) {
      if (!asked.has(stepId))
        throw optionError(`This turn does not ask step '${stepId}'. See saga.steps.`);
    }
    // In the order of the questions, which is also the order of the server.
    const all = new Map(
      [...this.answers, ...answers.map(copyJson)].map((answer) => [answer.stepId, answer]),
    );
    const old = this.answers.filter(({ stepId }) => !asked.has(stepId));
    const news = this.steps.flatMap(({ stepId }) => all.get(stepId) ?? []);
    return new Suspended(this.#client, { ...this.#kept, completedSteps: [...old, ...news] });
  }

  async resume(
    answers: readonly CompletedStep[] = [],
    options: ResumeOptions = {},
  ): Promise<ClientTurn> {
    rejectUnknownOption('resume', options, resumeNames);
    return resumeTurn(this.#client, this.withAnswers(answers), options);
  }

  toJSON(): KeptSaga {
    return this.#kept;
  }
}

/** Sends the answers of a saga and takes the next turn, with checked options. */
export function resumeTurn(
  client: McpClient,
  saga: Saga,
  options: ResumeOptions,
): Promise<ClientTurn> {
  const { name, sagaToken, completedSteps } = saga.toJSON();
  const asked = new Set(saga.steps.map(({ stepId }) => stepId));
  const sent =
    options.news === 'only'
      ? completedSteps.filter(({ stepId }) => asked.has(stepId))
      : completedSteps;
  const request = {
    method: 'tools/resumeSaga',
    params: { sagaToken, completedSteps: sent },
  } as const;
  return takeTurn(client, request, { name, saga, completedSteps }, options);
}

/** State before a turn. */
interface Before {
  readonly name: string;
  readonly completedSteps: readonly CompletedStep[];
  readonly saga?: SuspendedSaga;
}

/** Sends a request of a saga, and returns the outcome of the turn. */
export async function takeTurn(
  client: McpClient,
  request: SagaRequest,
  before: Before,
  options: TurnOptions,
): Promise<ClientTurn> {
  const { saga, name } = before;
  const { signal, requestOptions, clock = systemClock } = options;
  const raw = await sendRequest(client, request, { signal, requestOptions, saga });
  const answer = parseAnswer(
    raw,
    (field, problem) => new SagaProtocolError(field, problem, { saga }),
  );
  if (!isSuspended(answer)) return { status: 'completed', result: answer };
  const { sagaToken, steps, content, retryAfterMs } = answer;
  const asked = new Set(steps.map(({ stepId }) => stepId));
  const kept: KeptSaga = {
    format: FORMAT,
    name,
    sagaToken,
    turn: (saga?.turn ?? 0) + 1,
    steps,
    // The answer to a repeated question was rejected, and would contradict the new answer.
    completedSteps: before.completedSteps.filter(({ stepId }) => !asked.has(stepId)),
    ...(content === undefined ? {} : { content }),
    ...(retryAfterMs === undefined ? {} : { retryAt: clock.now() + retryAfterMs }),
  };
  return { status: 'suspended', saga: new Suspended(client, kept) };
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
    throw refuse('turn', 'is not an integer of at least 1');
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
