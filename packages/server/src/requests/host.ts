import type { Program, TimelineEntry } from '@mcp-saga/core';
import type { Claims } from '@mcp-saga/seal';
import type { StepAnswer } from '../wire/step-answers.ts';
import type { Caller } from '../model/caller.ts';
import { cancel } from './cancel.ts';
import { fromHandle } from '../token/handles.ts';
import { toHostParts, type HostParts } from '../settings/host-parts.ts';
import type { SagaHostOptions } from '../model/host-options.ts';
import { readTimeline } from '../token/resolve-program.ts';
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

/** The host with all facts of requests, for dialects. Holds live sealers, so no public object leads to it. */
export interface SagaHostCore extends HostParts {
  readonly sagas: readonly Program[];
  start(name: string, args: unknown, caller?: Caller, request?: StartRequest): Promise<SagaTurn>;
  resume(
    token: string,
    answers?: readonly StepAnswer[],
    caller?: Caller,
    request?: ResumeRequest,
  ): Promise<SagaTurn>;
  cancel(token: string, caller?: Caller, request?: CancelRequest): Promise<SagaTurn>;
  /** Reads how far a saga is, with all the checks of `resume` and without a turn. Throws TokenRefused. */
  status(token: string, caller?: Caller, request?: StatusRequest): Promise<SagaStatus>;
  inspect(token: string): Promise<SagaInspection>;
}

/** Makes the part of a host that knows nothing of MCP: sagas, keys, and the rules by which they meet. */
export function createHostCore(options: SagaHostOptions): SagaHostCore {
  const host = toHostParts(options);
  return {
    ...host,
    sagas: host.registry.current,
    start: (name, args, caller = {}, request = {}) => start(host, name, args, caller, request),
    resume: (token, answers, caller = {}, request = {}) => resume(host, token, answers, caller, request),
    cancel: (token, caller = {}, request = {}) => cancel(host, token, caller, request),
    status: (token, caller = {}, request = {}) => statusOf(host, token, caller, request),
    inspect: (token) => inspect(host, token),
  };
}

async function inspect(host: HostParts, token: string): Promise<SagaInspection> {
  const { token: given, purpose } = await fromHandle(host, token);
  const sealed = await host.keys.sealer.open(given, { purpose, ignoreExpiry: true });
  const { sagaId, claims, state } = toSealedSaga(sealed);
  const program = host.registry.version(claims.saga.name, claims.saga.version, host.timing.clock());
  return {
    sagaId,
    keyId: sealed.kid,
    claims,
    expired: claims.exp <= host.timing.clock(),
    timeline: program === undefined ? undefined : readTimeline(program, state.program),
    tokenBytes: given.length,
    trace: state.trace,
  };
}
