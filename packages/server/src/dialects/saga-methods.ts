import { isRecord, present } from '@mcp-saga/core/program';
import type { ClientStep, ToolResult } from '@mcp-saga/core';
import { toFields, type StepAnswer } from '../wire/step-answers.ts';
import type { Caller } from '../model/caller.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import { invalidField } from '../wire/errors.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { SagaTurn } from '../model/turn.ts';
import { asksOf, formatExpiry, toWireStep } from '../wire/step-requests.ts';
import { extensionKey, toToolResult } from '../wire/tool-result.ts';
import { continuationIn, withoutContinuation } from './parts/model-arguments.ts';

/** Methods of this dialect. */
export const sagaMethods = {
  call: 'tools/callSaga',
  resume: 'tools/resumeSaga',
  cancel: 'tools/cancelSaga',
} as const;

const withoutTools = ['elicitation', 'elicitation.url', 'sampling', 'roots'] as const;
const everything = [...withoutTools, 'sampling.tools'] as const;

/**
 * Clients that call `tools/callSaga` support every step, by the definition of the method. But MCP
 * allows no tools in a request to a client that declares sampling without them.
 */
function dialectOf({ capabilities }: Caller): DialectCapabilities {
  const declared = asksOf(capabilities);
  const lacksTools = declared.includes('sampling') && !declared.includes('sampling.tools');
  return { asks: lacksTools ? withoutTools : everything };
}

/** Further facts about a suspended saga. */
export interface SuspensionReport {
  /** Time at which the token expires, in ISO 8601. */
  readonly expiresAt: string;
  /**
   * IDs in `completedSteps` that no step waits for. Their results were not used. Also part of the
   * result of an ended saga.
   */
  readonly unknownSteps?: readonly string[];
}

/** Result of the saga methods while a saga waits for its client. */
export interface SuspendedResult {
  readonly state: 'suspended';
  readonly sagaToken: string;
  readonly steps: readonly ClientStep[];
  /** Time to wait before resuming if no step is pending, in milliseconds. */
  readonly retryAfterMs?: number;
  /** Text for the user. */
  readonly content?: readonly { readonly type: 'text'; readonly text: string }[];
  /** Contains the report, under the key of the extension. */
  readonly _meta: { readonly [key: string]: SuspensionReport };
}

/** `tools/callSaga {name, arguments}`: starts a saga. */
export async function callSaga(
  host: SagaHostCore,
  params: unknown,
  caller: Caller,
): Promise<SuspendedResult | ToolResult> {
  const { name, arguments: args } = toFields(params);
  if (typeof name !== 'string') throw invalidField('name: expected a string');
  if (args !== undefined && !isRecord(args)) throw invalidField('arguments: expected an object');
  // The schema of a saga may accept any argument. The call would start anew, and run its steps again.
  const continued = continuationIn(args);
  if (continued !== undefined)
    throw invalidField(
      `arguments.${continued}: tools/callSaga starts a new call. Continue a suspended call with tools/resumeSaga`,
    );
  const holder = { kind: 'client', returns: 'itself' } as const;
  const dialect = dialectOf(caller);
  const request = { method: sagaMethods.call, serves: 'tool', dialect, holder } as const;
  // A model fills the arguments of the listed tool, which clients of this method do not need.
  return answer(name, await host.start(name, withoutContinuation(args), caller, request));
}

/** `tools/resumeSaga {sagaToken, completedSteps}`: continues a saga. */
export async function resumeSaga(
  host: SagaHostCore,
  params: unknown,
  caller: Caller,
): Promise<SuspendedResult | ToolResult> {
  const { sagaToken, completedSteps } = toFields(params);
  if (typeof sagaToken !== 'string') throw invalidField('sagaToken: expected a string');
  if (completedSteps === undefined) assertNothingElse(params, ['sagaToken', '_meta']);
  // The host checks the form of each answer, and names the field.
  const answers = completedSteps as readonly StepAnswer[] | undefined;
  const dialect = dialectOf(caller);
  const request = { methods: [sagaMethods.call], answersField: 'completedSteps', dialect };
  const turn = await host.resume(sagaToken, answers, caller, request);
  return answer(turn.saga, turn);
}

/** `tools/cancelSaga {sagaToken, reason?}`: ends a saga and undoes its steps. */
export async function cancelSaga(
  host: SagaHostCore,
  params: unknown,
  caller: Caller,
): Promise<ToolResult> {
  const { sagaToken, reason } = toFields(params);
  if (typeof sagaToken !== 'string') throw invalidField('sagaToken: expected a string');
  if (reason !== undefined && typeof reason !== 'string')
    throw invalidField('reason: expected a string');
  const request = { methods: [sagaMethods.call], ...present({ reason }) };
  const turn = await host.cancel(sagaToken, caller, request);
  // Compensation ends within the request.
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
    ...(content === undefined
      ? {}
      : { content: content.map((text) => ({ type: 'text' as const, text })) }),
    _meta: { [extensionKey]: { expiresAt: formatExpiry(turn), ...reported } },
  };
}

/**
 * Rejects unknown fields. Answers under a misspelled name would be ignored, and the question
 * repeated forever.
 */
function assertNothingElse(params: unknown, known: readonly string[]): void {
  const [other] = Object.keys(toFields(params)).filter((name) => !known.includes(name));
  if (other !== undefined)
    throw invalidField('completedSteps: expected an array of step results, and no unknown field');
}
