import { present } from '@mcp-saga/core/program';
import type { Program } from '@mcp-saga/core';
import { attachSagas, type AttachOptions } from './mcp/attach.ts';
import type { McpServerLike } from './mcp/sdk.ts';
import type { SagaHostOptions } from './model/host-options.ts';
import type { CancelHostRequest, HostRequest } from './model/host-requests.ts';
import type { Caller } from './model/caller.ts';
import type { SagaTurn } from './model/turn.ts';
import { createHostCore, type SagaHostCore, type SagaInspection } from './requests/host.ts';
import type { StepAnswer } from './wire/step-answers.ts';

/** Runs sagas and stores nothing: between two requests, the token that the client holds is the entire state of a saga. */
export interface SagaHost {
  /** The sagas that the host serves. */
  readonly sagas: readonly Program[];
  /**
   * Starts a saga.
   *
   * @throws SagaHostError `unknown_saga`, `invalid_params`, `forbidden`, `not_admitted`, `principal_missing`, `guard_down`
   * @throws TurnAborted if the signal of the request aborts
   */
  start(name: string, args: unknown, request?: HostRequest): Promise<SagaTurn>;
  /**
   * Continues a saga from its token. A failed saga is a turn like any other; the token before it stays as it is.
   *
   * A process that cannot continue the saga now throws `version_gone` or `ReplayMismatch`, and reports it to `onError`. Nothing
   * ran, and the token stays good: send the same request again later. Once the token has expired, it is rejected. A saga with
   * `onMismatch: 'compensate'` is undone instead.
   *
   * @throws TokenRefused with one frozen message for every defect of the token
   * @throws AnswerConflict if a repeated answer differs from the answer before
   * @throws SagaHostError `invalid_params`, naming the field; `not_admitted`, `guard_down`, `busy`, `clock_behind`: the token stays
   * good
   * @throws SagaHostError `version_gone`: this host does not serve the version of the saga, and the token stays good
   * @throws ReplayMismatch if the code does not do what the journal records: the token stays good
   * @throws TurnAborted if the signal of the request aborts
   */
  resume(token: string, answers?: readonly StepAnswer[], request?: HostRequest): Promise<SagaTurn>;
  /**
   * Ends a saga and undoes what it did, in this one request. Offered for sagas with a guard or `forks: 'accept'`; any
   * token but the newest is rejected and does nothing. A cancel token of `onSuspended` needs no caller.
   *
   * By a cancel token, a saga past a pivot goes forward instead, as far as possible without its client: through retries, sleeps
   * and polls, until it ends or only its client could continue it. Short waits (`limits.maxHoldMs`) are held. If it has to wait
   * longer, or has run for `limits.turnBudgetMs`, it stays as it is, and this throws `NotEnded`: a queue that delivers a message
   * again after an error brings it to its end. The queue need not try before `retryAfterMs`, and may use the message that
   * `onSuspended` received meanwhile, whose `cancelAfter` is that time.
   *
   * @throws SagaHostError `cancel_not_offered`; `guard_down`, `busy`, `clock_behind`: deliver it again
   * @throws SagaHostError `no_progress` if two turns in a row neither end the saga nor record anything
   * @throws NotEnded if the saga goes forward, and has not ended yet: deliver it again
   * @throws SagaHostError `version_gone`: this host does not serve the version, and the token is not a cancel token
   * @throws ReplayMismatch if its code was changed, and nothing is done: deliver it again after the change was rolled back
   * @throws TokenRefused if the token is not good, or not the newest
   */
  cancel(token: string, request?: CancelHostRequest): Promise<SagaTurn>;
  /** Opens a token to look at it, expired or not, of any principal: for operators, never for a client. Throws TokenRefused. */
  inspect(token: string): Promise<SagaInspection>;
  /**
   * Registers the sagas on an `McpServer` of the MCP SDK, version 2 or 1: the tools, the methods `tools/callSaga`,
   * `tools/resumeSaga` and `tools/cancelSaga`, and the capability that announces them. Call it before the server is connected.
   *
   * @throws TypeError if it is no McpServer, or has sagas already
   */
  attach(server: McpServerLike, options?: AttachOptions): void;
}

// Off the public object: a host that is printed or serialized must not show keys, or what they open.
const cores = new WeakMap<SagaHost, SagaHostCore>();

/**
 * Creates a host: sagas, keys, and the rules by which they meet.
 *
 * @throws TypeError, RangeError or SealError for options without a meaning: an unknown option, two sagas of one name, no keys, …
 */
export function createSagaHost(options: SagaHostOptions): SagaHost {
  const core = createHostCore(options);
  const host: SagaHost = {
    sagas: core.sagas,
    start: (name, args, request) => core.start(name, args, toCaller(request)),
    resume: (token, answers, request) => core.resume(trimmed(token), answers, toCaller(request)),
    cancel: (token, request = {}) => {
      const { reason } = request;
      return core.cancel(trimmed(token), toCaller(request), present({ reason }));
    },
    inspect: (token) => core.inspect(trimmed(token)),
    attach: (server, attachOptions) => attachSagas(core, server, attachOptions),
  };
  cores.set(host, core);
  return host;
}

/** Returns the host as dialects know it. */
export function coreOf(host: SagaHost): SagaHostCore {
  const core = cores.get(host);
  if (core === undefined) throw new TypeError('Expected what createSagaHost() returns.');
  return core;
}

/** Removes white space around a pasted token. Clients have none to paste: their dialects reject it. */
function trimmed(token: string): string {
  return typeof token === 'string' ? token.trim() : token;
}

function toCaller({ caller, signal }: HostRequest = {}): Caller {
  return { ...caller, ...present({ signal }) };
}
