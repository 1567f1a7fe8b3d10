import { optionError, rejectUnknownOption, type NamesOf } from '@mcp-saga/core/shared';
import { abortable, neverAborts } from '../runtime/abort.ts';
import { systemClock } from '../runtime/clock.ts';
import type { CallToolResult } from '../model/tool-result.ts';
import { SagaCallAborted, SagaOnTurnFailed, SagaRoundsExceeded } from '../model/errors.ts';
import { fulfillSteps } from '../steps/fulfill-steps.ts';
import type { McpClient } from '../model/mcp-client-types.ts';
import { beginSaga, type SagaCall } from './start-saga.ts';
import type { StepHandlers } from '../model/step-handlers.ts';
import { resumeNames, resumeTurn, SuspendedSaga } from './suspended-saga.ts';
import type { KeptSaga, ResumeOptions, ClientTurn } from '../model/client-turn-types.ts';

/** Options of {@link callSaga} and {@link resumeSaga}. */
export interface CallSagaOptions extends ResumeOptions {
  /** Handlers of the steps. A missing handler is replaced by the request handler of the client. */
  readonly handlers?: StepHandlers | undefined;
  /**
   * Called with each suspended saga before its steps, and awaited. Use it to store the saga, or to
   * show `saga.content`.
   */
  readonly onTurn?: ((saga: SuspendedSaga) => void | Promise<void>) | undefined;
  /** Maximum number of resumptions, including waits, before `SagaRoundsExceeded`. @default 50 */
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
 * Calls a saga tool, and fulfills its steps until the saga has a result.
 * @param client connected `Client` of MCP SDK v2 or v1
 * @returns the result of the tool, with `isError` after a failure
 * @throws SagaClientError with the `saga`, which includes all answers and can be stored and resumed
 * @example
 * ```ts
 * const result = await callSaga(
 *   client,
 *   { name: 'deploy', arguments: { service: 'shop' } },
 *   { handlers: { elicitation: () => ({ action: 'accept', content: { sure: true } }) } },
 * );
 * ```
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
 * Continues a suspended saga from an error, from `onTurn`, or from JSON, also in another process.
 * Asks only steps without an answer.
 * @throws KeptSagaInvalid with the field, if the value is not a stored saga
 * @throws SagaClientError as `callSaga`
 * @example
 * ```ts
 * declare const stored: string; // JSON.stringify(saga)
 *
 * const result = await resumeSaga(client, JSON.parse(stored));
 * ```
 */
export async function resumeSaga(
  client: McpClient,
  saga: SuspendedSaga | KeptSaga,
  options: CallSagaOptions = {},
): Promise<CallToolResult> {
  assertOptions('resumeSaga', options);
  return seeThrough(
    client,
    { status: 'suspended', saga: SuspendedSaga.from(client, saga) },
    options,
  );
}

function assertOptions(of: string, options: CallSagaOptions): void {
  rejectUnknownOption(of, options, names);
  const { handlers = {}, maxRounds = MAX_ROUNDS } = options;
  rejectUnknownOption('handlers', handlers, handlerNames);
  if (!(maxRounds >= 0)) throw optionError('maxRounds must be at least 0', { type: RangeError });
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

async function report(
  saga: SuspendedSaga,
  signal: AbortSignal,
  { onTurn }: CallSagaOptions,
): Promise<void> {
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
