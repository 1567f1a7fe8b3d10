import type { Program, TimelineEntry } from '@mcp-saga/core';
import type { Claims } from '@mcp-saga/seal';
import type { StepAnswer } from '../wire/step-answers.ts';
import type { Caller } from '../model/caller.ts';
import { cancel } from './cancel.ts';
import { fromHandle } from '../token/handles.ts';
import { toHostSettings, type HostSettings } from '../settings/host-settings.ts';
import type { SagaHostOptions } from '../model/host-options.ts';
import { readTimeline } from '../token/program-state.ts';
import { resume } from './resume.ts';
import { toSealedSaga } from '../token/sealed-saga.ts';
import { start } from './start.ts';
import { statusOf, type SagaStatus } from './status.ts';
import type { StatusRequest, StartRequest, ResumeRequest, CancelRequest } from '../model/host-requests.ts';
import type { SagaTurn } from '../model/turn.ts';

/** What is in a token, for operators. No answers and no results. */
export interface SagaInspection {
  readonly sagaId: string;
  readonly keyId: string;
  readonly claims: Claims;
  readonly expired: boolean;
  /** What happened so far; undefined when the saga is not served here. */
  readonly timeline: readonly TimelineEntry[] | undefined;
  readonly tokenBytes: number;
  /** What its trace hangs on, by OpenTelemetry a W3C `traceparent`; undefined where it is not traced. */
  readonly trace: string | undefined;
}

/** Runs sagas and keeps nothing: between two requests all there is of a saga is the token its client holds. */
export interface SagaHostCore {
  /** The sagas it serves. */
  readonly sagas: readonly Program[];
  /** The completed options; for dialects. */
  readonly settings: HostSettings;
  /**
   * Starts a saga.
   *
   * @throws SagaHostError `unknown_saga`, `invalid_params`, `forbidden`, `principal_missing`, `guard_down`
   * @throws TurnAborted when the caller's signal aborts
   */
  start(name: string, args: unknown, caller?: Caller, request?: StartRequest): Promise<SagaTurn>;
  /**
   * Continues a saga from its token. A failed saga is a turn like any other; the token before it stays as it is.
   *
   * A process that cannot continue the saga now throws `version_gone` or `ReplayMismatch`, and reports it to `onError`. Nothing
   * ran, and the token stays good: send the same request again later. Once the token has expired, it is refused. A saga with
   * `onMismatch: 'compensate'` is undone instead.
   *
   * @throws TokenRefused with one frozen message for whatever is wrong with the token
   * @throws AnswerConflict when a repeated answer is not what was answered before
   * @throws SagaHostError `invalid_params`, naming the field; `guard_down`, `busy`, `clock_behind`: the token stays good
   * @throws SagaHostError `version_gone`: this host does not serve the version of the saga, and the token stays good
   * @throws ReplayMismatch when the code does not do what the journal records: the token stays good
   * @throws TurnAborted when the caller's signal aborts
   */
  resume(
    token: string,
    answers?: readonly StepAnswer[],
    caller?: Caller,
    request?: ResumeRequest,
  ): Promise<SagaTurn>;
  /**
   * Ends a saga and undoes what it did, in this one request. Offered for sagas with a guard or `forks: 'accept'`; any
   * token but the newest is refused and does nothing. A cancel token of `onSuspended` needs no caller. (E6 to E8)
   *
   * By a cancel token, a saga past a pivot goes forward instead, as far as that goes without its client: through retries, sleeps
   * and polls, until it ends or only its client could go on. What is short (`limits.maxHoldMs`) is waited for. Where it has to wait for
   * longer, or has run for `limits.turnBudgetMs`, it stays as it is, and this throws `NotEnded`: a queue that delivers again what threw
   * brings it to its end. It need not try before `retryAfterMs`, and may do so with the message that `onSuspended` was
   * told meanwhile, whose `cancelAfter` is that time.
   *
   * @throws SagaHostError `cancel_not_offered`; `guard_down`, `busy`, `clock_behind`: deliver it again
   * @throws SagaHostError `no_progress` when two turns in a row neither end the saga nor record anything
   * @throws NotEnded when the saga goes forward, and has not ended yet: deliver it again
   * @throws SagaHostError `version_gone`: this host does not serve the version, and the token is not a cancel token
   * @throws ReplayMismatch when its code was changed, and nothing is done: deliver it again when the change was rolled back
   * @throws TokenRefused when the token is not good, or not the newest
   */
  cancel(token: string, caller?: Caller, request?: CancelRequest): Promise<SagaTurn>;
  /**
   * Looks how far a saga is, for a client that holds its token: with all the checks of `resume`, and without a turn.
   * Nothing runs. (W7)
   *
   * @throws TokenRefused with one frozen message for whatever is wrong with the token
   */
  status(token: string, caller?: Caller, request?: StatusRequest): Promise<SagaStatus>;
  /**
   * Opens a token to look at it, expired or not, whoever it belongs to: for operators, never for a client.
   *
   * @throws TokenRefused when it is not a token of this host
   */
  inspect(token: string): Promise<SagaInspection>;
}

/** Makes the part of a host that knows nothing of MCP: sagas, keys, and the rules by which they meet. */
export function createHostCore(options: SagaHostOptions): SagaHostCore {
  const settings = toHostSettings(options);
  return {
    sagas: settings.registry.current,
    settings,
    start: (name, args, caller = {}, request = {}) => start(settings, name, args, caller, request),
    resume: (token, answers, caller = {}, request = {}) => resume(settings, token, answers, caller, request),
    cancel: (token, caller = {}, request = {}) => cancel(settings, token, caller, request),
    status: (token, caller = {}, request = {}) => statusOf(settings, token, caller, request),
    inspect: (token) => inspect(settings, token),
  };
}

async function inspect(settings: HostSettings, token: string): Promise<SagaInspection> {
  const { token: given, purpose } = await fromHandle(settings, token);
  const sealed = await settings.sealer.open(given, { purpose, ignoreExpiry: true });
  const { sagaId, claims, state } = toSealedSaga(sealed);
  const program = settings.registry.version(claims.saga.name, claims.saga.version, settings.clock());
  return {
    sagaId,
    keyId: sealed.kid,
    claims,
    expired: claims.exp <= settings.clock(),
    timeline: program === undefined ? undefined : readTimeline(program, state.program),
    tokenBytes: given.length,
    trace: state.trace,
  };
}
