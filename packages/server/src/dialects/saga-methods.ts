import { isRecord, present } from '@mcp-saga/core/program';
import type { ToolResult } from '@mcp-saga/core';
import type { StepAnswer } from '../wire/step-answers.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { SagaTurn } from '../model/turn.ts';
import { formatExpiry, toWireStep, type WireStep } from '../wire/step-requests.ts';
import { extensionKey, toToolResult } from '../wire/tool-result.ts';

/** The methods of this dialect. */
export const sagaMethods = {
  call: 'tools/callSaga',
  resume: 'tools/resumeSaga',
  cancel: 'tools/cancelSaga',
} as const;

/** Who calls `tools/callSaga` can do every step: that is what the method means. (W3) */
const traits: DialectTraits = { asks: ['elicitation', 'elicitation.url', 'sampling', 'roots'] };

/** Further facts about a suspended saga. */
export interface SuspensionReport {
  /** Time until which the token is good, in ISO 8601. */
  readonly expiresAt: string;
  /** IDs in `completedSteps` that no step waits for. Their results were not used. The result of a saga has them as well. */
  readonly unknownSteps?: readonly string[];
}

/** What the saga methods answer while a saga waits for its client. */
export interface SuspendedResult {
  readonly state: 'suspended';
  readonly sagaToken: string;
  readonly steps: readonly WireStep[];
  /** Milliseconds to wait before resuming, when there is nothing to do. */
  readonly retryAfterMs?: number;
  /** What the user may read meanwhile. */
  readonly content?: readonly { readonly type: 'text'; readonly text: string }[];
  /** The report stands under the key of the extension. */
  readonly _meta: { readonly [key: string]: SuspensionReport };
}

/** `tools/callSaga {name, arguments}`: starts a saga. */
export async function callSaga(
  host: SagaHostCore,
  params: unknown,
  caller: Caller,
): Promise<SuspendedResult | ToolResult> {
  const { name, arguments: args } = fields(params);
  if (typeof name !== 'string') throw invalid('name: expected a string');
  if (args !== undefined && !isRecord(args)) throw invalid('arguments: expected an object');
  const request = { method: sagaMethods.call, serves: 'tool', traits } as const;
  return answer(name, await host.start(name, args, caller, request));
}

/** `tools/resumeSaga {sagaToken, completedSteps}`: continues a saga. */
export async function resumeSaga(
  host: SagaHostCore,
  params: unknown,
  caller: Caller,
): Promise<SuspendedResult | ToolResult> {
  const { sagaToken, completedSteps } = fields(params);
  if (typeof sagaToken !== 'string') throw invalid('sagaToken: expected a string');
  if (completedSteps === undefined) assertNothingElse(params, ['sagaToken', '_meta']);
  // The host checks the form of each answer, and names the field.
  const answers = completedSteps as readonly StepAnswer[] | undefined;
  const request = { methods: [sagaMethods.call], answersField: 'completedSteps', traits };
  const turn = await host.resume(sagaToken, answers, caller, request);
  return answer(turn.saga, turn);
}

/** `tools/cancelSaga {sagaToken, reason?}`: ends a saga and undoes what it did, where the host offers that. */
export async function cancelSaga(host: SagaHostCore, params: unknown, caller: Caller): Promise<ToolResult> {
  const { sagaToken, reason } = fields(params);
  if (typeof sagaToken !== 'string') throw invalid('sagaToken: expected a string');
  if (reason !== undefined && typeof reason !== 'string') throw invalid('reason: expected a string');
  const request = { methods: [sagaMethods.call], ...present({ reason }) };
  const turn = await host.cancel(sagaToken, caller, request);
  // Undoing goes to its end within the request, so a cancelled saga never waits.
  if (turn.status === 'suspended') throw new TypeError('A cancelled saga was suspended.');
  return toToolResult(turn.saga, turn);
}

function answer(saga: string, turn: SagaTurn): SuspendedResult | ToolResult {
  const { unknown } = turn;
  const reported = present({ unknownSteps: unknown });
  if (turn.status !== 'suspended') {
    const result = toToolResult(saga, turn);
    if (unknown === undefined) return result;
    const { _meta: meta } = result;
    return {
      ...result,
      _meta: { ...meta, [extensionKey]: { ...Object(meta?.[extensionKey]), ...reported } },
    };
  }
  const { token, steps, retryAfterMs, content, sagaId } = turn;
  return {
    state: 'suspended',
    sagaToken: token,
    steps: steps.map((step) => toWireStep(step, sagaId)),
    ...present({ retryAfterMs }),
    ...(content === undefined ? {} : { content: content.map((text) => ({ type: 'text' as const, text })) }),
    _meta: { [extensionKey]: { expiresAt: formatExpiry(turn), ...reported } },
  };
}

/** Answers under another name would be lost in silence, and the question come again and again. */
function assertNothingElse(params: unknown, known: readonly string[]): void {
  const [other] = Object.keys(fields(params)).filter((name) => !known.includes(name));
  if (other !== undefined)
    throw invalid('completedSteps: expected an array of step results, and nothing beside it');
}

function fields(params: unknown): { readonly [key: string]: unknown } {
  if (!isRecord(params)) throw invalid('expected an object');
  return params;
}

function invalid(message: string): SagaHostError {
  return new SagaHostError('invalid_params', `Invalid params: ${message}`);
}
