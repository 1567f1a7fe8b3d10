import { isRecord, present } from '@mcp-saga/core/program';
import type { Json, Program } from '@mcp-saga/core';
import { TokenRefused } from '@mcp-saga/seal';
import type { Caller } from '../model/caller.ts';
import type { DialectTraits } from '../model/dialect-traits.ts';
import { SagaHostError } from '../wire/errors.ts';
import type { ResumeRequest } from '../model/host-requests.ts';
import type { SagaHostCore } from '../requests/host.ts';
import type { SagaStatus } from '../requests/status.ts';
import type { SagaTurn, SuspendedTurn } from '../model/turn.ts';
import { bindToRequest, digestRequestId } from '../token/sealed-saga.ts';
import { WireError, type FrozenAnswer } from '../wire/wire-error.ts';
import { resumeTokenMethod, resumeTokenRefused } from './parts/begin-call.ts';
import type { CallMethod, ClientCall } from '../model/client-call.ts';
import type { Dialect } from './parts/dialect.ts';
import { multiRoundTrip } from './multi-round-trip.ts';
import { push } from './push.ts';
import { resumeToken } from './resume-token.ts';
import type { HostParts } from '../settings/host-parts.ts';
import { principalOf } from '../requests/open-saga.ts';

/** The methods of this dialect. */
export const resumableMethods = { resume: 'requests/resume', status: 'requests/getStatus' } as const;

/** How it answers a token that does not open. */
export const resumeRefused: FrozenAnswer = resumeTokenRefused;

const resumePolicy = 'notifications/requests/resumePolicy';

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

const invalidParams = -32_602;

/** The methods that may have started a saga that is resumed: calls of tools, in each dialect that has one of its own. */
const methods: readonly string[] = ['tools/call', resumeTokenMethod];

/** The dialects a resumable request is answered in, in the order they are tried: those that answer it themselves. */
const dialects: readonly Dialect[] = [push, multiRoundTrip, resumeToken];

/**
 * Serves resumable requests (SEP-975) on top of the dialect of the client: returns the host that this dialect must call.
 *
 * That host commits and reports a token before the first server step, after each step, and at each wait. A cut connection
 * continues by `requests/resume` from the newest token that the client has.
 */
export async function resumable(
  host: SagaHostCore,
  call: ClientCall,
  dialect: Dialect,
): Promise<SagaHostCore> {
  const isDeclared = call.method === 'tools/call' && dialects.includes(dialect) && declares(call);
  return isDeclared && (await mayResume(host, call.caller)) ? telling(host, call) : host;
}

/** `requests/resume {resumeToken}`: answers as the request that was cut would have been, for this client. */
export async function resumeRequest(
  host: SagaHostCore,
  params: unknown,
  caller: Caller,
  callOf: (saga: Program, method: CallMethod) => ClientCall,
): Promise<object> {
  const { resumeToken: token } = fields(params);
  if (typeof token !== 'string') throw invalid('resumeToken: expected a string');
  const { saga, requestId } = await statusOf(host, token, caller);
  if (saga.task === 'require') {
    // It runs as a task or not at all, and its tokens were handed out by those who see to that.
    throw refused(host, 'method');
  }
  // The token is all that it brings, whatever the SDK found in its params.
  const nothingElse = {
    requestState: undefined,
    inputResponses: undefined,
    params: {},
    meta: {},
    isResumable: true,
  };
  const call = { ...callOf(saga, 'tools/call'), ...nothingElse };
  // The answer belongs to the request that was cut: its client waits for that ID.
  if (requestId !== undefined && requestId !== (await digestRequestId(call.id)))
    throw refused(host, 'request');
  const dialect = dialects.find((candidate) => candidate.serves(call, host)) ?? resumeToken;
  const told = telling(host, call);
  const result = await dialect.answer(
    {
      ...told,
      // To the dialect it is the call that begins: by what it hands out, the call goes on in this dialect.
      start: (_name, _args, by, { traits = {}, method } = {}) =>
        told.resume(token, [], by, {
          methods,
          traits,
          follows: true,
          ...present({ method }),
        }),
      // It may have begun in another dialect, for another client.
      resume: (next, answers, by, request) => told.resume(next, answers, by, { ...request, methods }),
    },
    call,
  );
  if (Object(result).resultType !== 'input_required') return result;
  // Custom methods may not answer so (spec 2026-07-28), but the call itself may: the client has to send it again.
  const { resultType: reason, ...needed } = result as { readonly resultType: string };
  throw new WireError(invalidParams, 'Input is required: send the original request with this requestState', {
    reason,
    ...needed,
  });
}

/** What `requests/getStatus` answers. */
export interface RequestStatus {
  readonly requestId: string | number;
  readonly status: 'processing' | 'completed' | 'failed';
  /** Always false: messages are not kept, but produced again. */
  readonly hasPendingMessage: false;
  /** Whether the saga waits for its client. */
  readonly hasInputRequest: boolean;
}

/** Answers `requests/getStatus` without running anything. Never reports `completed`: the resumed request reports its end. */
export async function getStatus(host: SagaHostCore, params: unknown, caller: Caller): Promise<RequestStatus> {
  const { requestId, resumeToken: token } = fields(params);
  if (typeof requestId !== 'string' && !Number.isSafeInteger(requestId)) {
    throw invalid('requestId: expected a string or a whole number');
  }
  if (typeof token !== 'string') throw invalid('resumeToken: expected a string');
  const { asked, fails } = await statusOf(host, token, caller);
  return {
    requestId: requestId as string | number,
    status: fails ? 'failed' : 'processing',
    hasPendingMessage: false,
    hasInputRequest: asked.length > 0,
  };
}

/** Looks up a token of this dialect. Tokens of other requests are refused, since a used one leads to the newest token. */
async function statusOf(host: SagaHostCore, token: string, caller: Caller): Promise<SagaStatus> {
  const status = await host.status(token, caller, { methods });
  if (!status.isResumable) throw refused(host, 'method');
  // The token may be older than the option.
  if (!(await mayResume(host, caller))) throw refused(host, 'principal');
  return status;
}

function refused(host: SagaHostCore, reason: 'method' | 'principal' | 'request'): TokenRefused {
  host.observer.reject(reason);
  return new TokenRefused(reason);
}

/** A host that tells the client of a call each token, and goes on where nobody has to come for that. */
function telling(host: SagaHostCore, call: ClientCall): SagaHostCore {
  return {
    ...host,
    start: async (name, args, caller, request = {}) => {
      const { traits = {}, method } = request;
      const looked = await host.start(name, args, caller, {
        ...request,
        traits: { ...steppingOf(call, traits), ...onlyLooks },
      });
      return await goneOn(host, call, looked, {
        traits,
        looked: true,
        ...(method === undefined ? {} : { methods: [method] }),
      });
    },
    resume: async (token, answers, caller, request = {}) => {
      const { traits = {}, method } = request;
      const allowed = method === undefined ? request.methods : [method];
      const looks = answers !== undefined && answers.length > 0;
      const stepping = steppingOf(call, traits);
      const turn = await host.resume(token, answers, caller, {
        ...request,
        traits: looks ? { ...stepping, ...onlyLooks } : stepping,
      });
      return await goneOn(host, call, turn, {
        traits,
        looked: looks,
        ...present({ methods: allowed }),
      });
    },
  };
}

/** The client is to have a token of what it brought, before anything runs on it. (E1) */
const onlyLooks: Pick<DialectTraits, 'runs'> = { runs: false };

/** The traits of a turn that hands out a token after each server step. */
function steppingOf({ id }: ClientCall, traits: DialectTraits): DialectTraits {
  return { ...traits, isResumable: true, requestId: id, checkpointAfterStep: true };
}

/** Goes on from a turn until the client is needed. It is told the token of each turn before the next one is taken. */
async function goneOn(
  host: SagaHostCore,
  call: ClientCall,
  first: SagaTurn,
  {
    traits,
    looked,
    ...request
  }: Pick<ResumeRequest, 'methods'> & { readonly traits: DialectTraits; readonly looked: boolean },
): Promise<SagaTurn> {
  const began = host.timing.clock();
  const onCommit = (committed: SuspendedTurn): Promise<void> => tell(host, call, committed);
  const next = { ...request, traits: steppingOf(call, traits), isOwnRound: true, follows: true, onCommit };
  let turn = first;
  for (let isLook = looked; turn.status === 'suspended'; isLook = false) {
    // The client keeps the token before the page: if the result is lost, resuming shows the page again.
    if (turn.hasPage === true) return turn;
    // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
    turn = await bindToRequest(host, turn, call.id);
    // oxlint-disable-next-line no-await-in-loop -- it knows of each turn before the next one
    await tell(host, call, turn);
    const isDone = isLook ? turn.steps.length > 0 : !isHeld(host, traits, turn, began);
    const isDue = turn.due !== undefined && turn.due <= host.timing.clock();
    if (traits.runs === false || (isDone && !isDue)) return turn;
    // oxlint-disable-next-line no-await-in-loop -- each turn follows from the one before
    turn = await host.resume(turn.token, [], call.caller, next);
  }
  return turn;
}

/** Whether a wait is held in this request: each turn holds it anew, where there is time for it. (W6) */
function isHeld(
  host: SagaHostCore,
  traits: DialectTraits,
  { steps, retryAfterMs = 0 }: SuspendedTurn,
  began: number,
): boolean {
  if (steps.length > 0) return false;
  const { maxHoldMs, turnBudgetMs, clientRounds } = host.limits;
  const { clock } = host.timing;
  const most = Math.min(traits.maxHold ?? maxHoldMs, turnBudgetMs);
  // A client that would come back at once need not come at all. One request may last as long as all rounds of a call.
  // A call by resume token holds a part of the wait only.
  const holdsAll = traits.holdsParts === true && (traits.asks?.length ?? 0) > 0 && most > 0;
  return clock() - began + retryAfterMs <= (holdsAll ? clientRounds * maxHoldMs : most);
}

/** Tells the client the newest token. Where it cannot be told it holds an older one, which is as good. */
async function tell(
  host: SagaHostCore,
  call: ClientCall,
  { token, retryAfterMs = 0, expiresAt }: SuspendedTurn,
): Promise<void> {
  const params = {
    requestId: call.id,
    resumeToken: token,
    // In seconds: when there is something to come for, and until when.
    ...(retryAfterMs > 0 ? { minWait: Math.ceil(retryAfterMs / 1000) } : {}),
    maxWait: Math.max(0, Math.floor((expiresAt - host.timing.clock()) / 1000)),
  };
  await call.notify({ method: resumePolicy, params }).catch(() => undefined);
}

/** `true` if a client resumes requests. Over HTTP without a session, only the `_meta` of the request can say so. */
function declares({ client, meta }: ClientCall): boolean {
  const { capabilities = meta[capabilitiesKey] } = client;
  const { resumableRequests, experimental } = record(capabilities);
  return isRecord(resumableRequests) || isRecord(record(experimental)['resumableRequests']);
}

function fields(params: unknown): { readonly [key: string]: unknown } {
  if (!isRecord(params)) throw invalid('expected an object');
  return params;
}

function record(value: unknown): { readonly [key: string]: Json | undefined } {
  return isRecord(value) ? (value as { readonly [key: string]: Json }) : {};
}

function invalid(message: string): SagaHostError {
  return new SagaHostError('invalid_params', `Invalid params: ${message}`);
}

/** `true` if a caller may resume requests. */
async function mayResume(
  { gate: { principal }, offers: { resumableRequests } }: Pick<HostParts, 'gate' | 'offers'>,
  caller: Caller,
): Promise<boolean> {
  return resumableRequests.bearer === 'accept' || (await principalOf(caller, principal)) !== null;
}
