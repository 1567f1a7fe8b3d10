import { abortable, neverAborts } from '../runtime/abort.ts';
import { systemClock } from '../runtime/clock.ts';
import { assertKnownOptions, type NamesOf } from '../runtime/known-options.ts';
import type { CallToolResult } from '../model/content.ts';
import { SagaCallAborted, SagaOnTurnFailed, SagaRoundsExceeded } from '../model/errors.ts';
import { fulfillSteps } from '../steps/fulfill-steps.ts';
import type { McpClient } from '../model/mcp-client.ts';
import { beginSaga, type SagaCall } from './start-saga.ts';
import type { StepHandlers } from '../model/step-handlers.ts';
import { resumeNames, resumeTurn, SuspendedSaga } from './suspended-saga.ts';
import type { KeptSaga, ResumeOptions, ClientTurn } from '../model/saga-turn.ts';

/** How to see a saga through. */
export interface CallSagaOptions extends ResumeOptions {
  /** Who fulfills the steps; where one is missing, the handler registered on the client does. */
  readonly handlers?: StepHandlers | undefined;
  /** Called and awaited with each suspended saga before its steps are asked: store it, or show `saga.content`. */
  readonly onTurn?: ((saga: SuspendedSaga) => void | Promise<void>) | undefined;
  /** How often the saga may be resumed before `SagaRoundsExceeded`. A wait counts too. Default 50. */
  readonly maxRounds?: number | undefined;
}

const MAX_ROUNDS = 50;

const names: NamesOf<CallSagaOptions> = {
  ...resumeNames,
  handlers: true,
  onTurn: true,
  maxRounds: true,
};
const handlerNames: NamesOf<StepHandlers> = { elicitation: true, sampling: true, roots: true };

/**
 * Calls a saga tool and sees it through: fulfills what it asks, turn after turn, until it has a result.
 *
 * @param client a connected `Client` of MCP SDK v2 or v1
 * @returns what the tool answers in the end; `isError` when it failed
 * @throws SagaClientError; its `saga` can be kept and resumed, with everything the user has answered
 */
export async function callSaga(
  client: McpClient,
  call: SagaCall,
  options: CallSagaOptions = {},
): Promise<CallToolResult> {
  assertOptions('callSaga', options);
  return seeThrough(client, await beginSaga(client, call, options), options);
}

/**
 * Continues a suspended saga: one from an error or from `onTurn`, or one that was kept as JSON, in another process or
 * on another day. Only the steps without an answer are asked.
 *
 * @throws KeptSagaInvalid naming the field when it is not a kept saga; otherwise as `callSaga`
 */
export async function resumeSaga(
  client: McpClient,
  saga: SuspendedSaga | KeptSaga,
  options: CallSagaOptions = {},
): Promise<CallToolResult> {
  assertOptions('resumeSaga', options);
  return seeThrough(client, { status: 'suspended', saga: SuspendedSaga.from(client, saga) }, options);
}

function assertOptions(of: string, options: CallSagaOptions): void {
  assertKnownOptions(of, options, names);
  const { handlers = {}, maxRounds = MAX_ROUNDS } = options;
  assertKnownOptions('handlers', handlers, handlerNames);
  if (!(maxRounds >= 0)) throw new RangeError('maxRounds must be a number from 0');
}

async function seeThrough(
  client: McpClient,
  first: ClientTurn,
  options: CallSagaOptions,
): Promise<CallToolResult> {
  const { handlers = {}, signal = neverAborts(), maxRounds = MAX_ROUNDS } = options;
  let turn = first;
  for (let round = 0; turn.status === 'suspended'; round += 1) {
    const { saga } = turn;
    await report(saga, signal, options);
    if (round >= maxRounds) throw new SagaRoundsExceeded(maxRounds, { saga });
    const answered = await fulfillSteps(saga, { client, handlers, signal });
    if (saga.steps.length === 0) await wait(saga, signal, options);
    turn = await resumeTurn(client, answered, options);
  }
  return turn.result;
}

async function report(saga: SuspendedSaga, signal: AbortSignal, { onTurn }: CallSagaOptions): Promise<void> {
  try {
    await abortable((async () => onTurn?.(saga))(), signal);
  } catch (cause) {
    throw signal.aborted
      ? new SagaCallAborted({ cause: signal.reason, saga })
      : new SagaOnTurnFailed({ cause, saga });
  }
}

async function wait(
  saga: SuspendedSaga,
  signal: AbortSignal,
  { clock = systemClock }: CallSagaOptions,
): Promise<void> {
  const left = (saga.retryAt ?? 0) - clock.now();
  if (left <= 0) return;
  try {
    await abortable(clock.sleep(left, signal), signal);
  } catch (cause) {
    throw new SagaCallAborted({ cause, saga });
  }
}
