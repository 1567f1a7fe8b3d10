import { isRecord, present } from '@mcp-saga/core/program';
import type { Json, Program } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import type { Caller } from '../model/caller.ts';
import type { DialectCapabilities } from '../model/dialect-capabilities.ts';
import type { Holder } from '../model/holder.ts';
import { invalidField } from '../wire/errors.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { SagaStatus } from '../requests/status.ts';
import type { SuspendedTurn } from '../model/turn.ts';
import { toFields } from '../wire/step-answers.ts';
import { digestRequestId } from '../token/sealed-saga.ts';
import { WireError, type FrozenAnswer } from '../wire/wire-error.ts';
import { resumeTokenMethod } from '../token/sealed-saga.ts';
import type { CallMethod, ClientCall } from '../model/call-types.ts';
import type { Dialect } from './parts/dialect.ts';
import { RunningRequest } from './parts/running-request.ts';
import { multiRoundTrip } from './multi-round-trip.ts';
import { push } from './push.ts';
import { resumeToken } from './resume-token.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { principalOf } from '../requests/open-for-caller.ts';

/** Methods of this dialect. */
export const resumableMethods = {
  resume: 'requests/resume',
  status: 'requests/getStatus',
} as const;

/** Fixed response to a rejected token. It is for the client: no model copies this token. */
export const resumeRefused: FrozenAnswer = {
  message: 'Invalid or expired resumeToken',
  reason: 'invalid_resume_token',
};

const resumePolicy = 'notifications/requests/resumePolicy';

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

const invalidParams = -32_602;

/** Methods that may have started a saga: tool calls of each dialect. */
const methods: readonly string[] = ['tools/call', resumeTokenMethod];

/** Dialects that can answer a resumable request, in the order of precedence. */
const dialects: readonly Dialect[] = [push, multiRoundTrip, resumeToken];

/**
 * Answers a call in the dialect of its client, as a resumable request (SEP-975) if the client
 * declares these.
 *
 * The host then commits and reports a token before the first server step, after each step, and at
 * each wait. After a disconnect, `requests/resume` continues from the newest token of the client.
 */
export async function answerResumably(
  host: SagaHostCore,
  call: ClientCall,
  dialect: Dialect,
): Promise<object> {
  const isDeclared = call.method === 'tools/call' && dialects.includes(dialect) && declares(call);
  if (!isDeclared || !(await mayResume(host, call.caller))) return await dialect.answer(host, call);
  const request = new RunningRequest(host, { ...call, isResumable: true });
  return await request.run((own) => dialect.answer(reporting(host, request), own));
}

/** `requests/resume {resumeToken}`: answers the interrupted request for this client. */
export async function resumeRequest(
  host: SagaHostCore,
  params: unknown,
  caller: Caller,
  callOf: (saga: Program, method: CallMethod) => ClientCall,
): Promise<object> {
  const { resumeToken: token } = toFields(params);
  if (typeof token !== 'string') throw invalidField('resumeToken: expected a string');
  const { saga, sagaId, requestId } = await statusOf(host, token, caller);
  if (saga.task === 'require') {
    // Only tasks run such a saga, and their tokens never leave the server.
    throw refused(host, 'method');
  }
  // The request carries only a token, whatever the SDK found in its params.
  const nothingElse = {
    requestState: undefined,
    inputResponses: undefined,
    params: {},
    meta: {},
    isResumable: true,
  };
  const call = { ...callOf(saga, 'tools/call'), ...nothingElse };
  // The response belongs to the interrupted request, so the IDs must match.
  if (requestId !== (await digestRequestId(call.id))) throw refused(host, 'request');
  let newest = token;
  let before: RunningRequest | undefined;
  for (
    let other = RunningRequest.of(host, sagaId);
    other !== undefined;
    other = RunningRequest.of(host, sagaId)
  ) {
    // Another request may have continued the one that this request waited for. The client of that
    // one waits for the answer of whichever request comes next.
    before?.answerAs(other);
    const end = await other.end(call);
    if ('result' in end) return toResumed(end.result);
    ({ newest } = end);
    before = other;
  }
  const dialect = dialects.find((candidate) => candidate.serves(call, host)) ?? resumeToken;
  const request = new RunningRequest(host, call);
  // Before anything else: a further request must find this one.
  request.note({ sagaId, token: newest });
  const reported = reporting(host, request);
  const continuing: SagaHostCore = {
    ...reported,
    // For the dialect, the call starts now.
    start: (_name, _args, by, { dialect: can = {}, method } = {}) =>
      reported.resume(newest, [], by, {
        methods,
        dialect: can,
        follows: true,
        ...present({ method }),
      }),
    // The saga may have started in another dialect, for another client.
    resume: (next, answers, by, more) => reported.resume(next, answers, by, { ...more, methods }),
  };
  const answered = request.run((own) => dialect.answer(continuing, own));
  before?.answerAs(request);
  return toResumed(await answered);
}

/**
 * Converts the result of a call to that of a resumed request. Custom methods must not return
 * `input_required` (MCP 2026-07-28), but the call itself may: the client has to repeat the call.
 */
function toResumed(result: object): object {
  if (Object(result).resultType !== 'input_required') return result;
  const { resultType: reason, ...needed } = result as { readonly resultType: string };
  throw new WireError(
    invalidParams,
    'Input is required: send the original request with the requestState',
    {
      reason,
      ...needed,
    },
  );
}

/** Result of `requests/getStatus`. */
export interface RequestStatus {
  readonly requestId: string | number;
  readonly status: 'processing' | 'completed' | 'failed';
  /** Always false: messages are not stored, but produced again. */
  readonly hasPendingMessage: false;
  readonly hasInputRequest: boolean;
}

/**
 * Answers `requests/getStatus` without a turn. `completed` or `failed`: the resumed request returns
 * the end at once.
 */
export async function getStatus(
  host: SagaHostCore,
  params: unknown,
  caller: Caller,
): Promise<RequestStatus> {
  const { requestId, resumeToken: token } = toFields(params);
  if (typeof requestId !== 'string' && !Number.isSafeInteger(requestId)) {
    throw invalidField('requestId: expected a string or a whole number');
  }
  if (typeof token !== 'string') throw invalidField('resumeToken: expected a string');
  const { look, sagaId } = await statusOf(host, token, caller);
  const { state, isAsking } = await look(RunningRequest.of(host, sagaId)?.newest);
  return {
    requestId: requestId as string | number,
    status: state,
    hasPendingMessage: false,
    hasInputRequest: isAsking,
  };
}

/**
 * Reads the state of a token of this dialect. Rejects other tokens, since a used token leads to the
 * newest one.
 */
async function statusOf(host: SagaHostCore, token: string, caller: Caller): Promise<SagaStatus> {
  const status = await host.status(token, caller, { methods });
  if (status.requestId === undefined) throw refused(host, 'method');
  // The option may have changed since the token was issued.
  if (!(await mayResume(host, caller))) throw refused(host, 'principal');
  return status;
}

function refused(host: SagaHostCore, reason: 'method' | 'principal' | 'request'): TokenRefused {
  host.observer.reject(reason);
  return new TokenRefused(reason);
}

/**
 * Returns a host that reports each token to the client of a call, and continues until the client is
 * needed. Its turns have the caller of the call: another request for the saga ends only questions
 * and waits.
 */
function reporting(host: SagaHostCore, running: RunningRequest): SagaHostCore {
  const { caller, id } = running.call;
  const holderWith = (dialect: DialectCapabilities): Holder => ({
    kind: 'client',
    resumable: {
      id,
      beganAt: host.timing.clock(),
      dialect,
      report: (turn) => reportToken(host, running, turn),
    },
  });
  return {
    ...host,
    start: async (name, args, _caller, request = {}) => {
      const { dialect = {} } = request;
      const holder = holderWith(dialect);
      return await host.start(name, args, caller, {
        ...request,
        dialect: { ...dialect, ...onlyLooks },
        holder,
      });
    },
    resume: async (token, answers, _caller, request = {}) => {
      const { dialect = {} } = request;
      const looks = answers !== undefined && answers.length > 0;
      return await host.resume(token, answers, caller, {
        ...request,
        dialect: looks ? { ...dialect, ...onlyLooks } : dialect,
        holder: holderWith(dialect),
      });
    },
  };
}

/** The client gets a token with its answers before any step runs. */
const onlyLooks: Pick<DialectCapabilities, 'effects'> = { effects: 'never' };

/**
 * Reports the newest token to the client. After a failure, the client still has an older token,
 * which is as good.
 */
async function reportToken(
  host: SagaHostCore,
  running: RunningRequest,
  turn: SuspendedTurn,
): Promise<void> {
  running.note(turn);
  const { call } = running;
  const { token, retryAfterMs = 0, expiresAt } = turn;
  const params = {
    requestId: call.id,
    resumeToken: token,
    // In seconds.
    ...(retryAfterMs > 0 ? { minWait: Math.ceil(retryAfterMs / 1000) } : {}),
    maxWait: Math.max(0, Math.floor((expiresAt - host.timing.clock()) / 1000)),
  };
  await call.notify({ method: resumePolicy, params }).catch(() => undefined);
}

/**
 * `true` if a client resumes requests. Over HTTP without a session, only the `_meta` of the request
 * declares it.
 */
function declares({ client, meta }: ClientCall): boolean {
  const { capabilities = meta[capabilitiesKey] } = client;
  const { resumableRequests, experimental } = record(capabilities);
  return isRecord(resumableRequests) || isRecord(record(experimental)['resumableRequests']);
}

function record(value: unknown): { readonly [key: string]: Json | undefined } {
  return isRecord(value) ? (value as { readonly [key: string]: Json }) : {};
}

async function mayResume({ gate }: Pick<HostParts, 'gate'>, caller: Caller): Promise<boolean> {
  return (
    gate.anonymous.resumableRequests === 'accept' || (await principalOf(caller, gate)) !== null
  );
}
