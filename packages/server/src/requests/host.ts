import { TokenRefused } from '@mcp-saga/seal';
import type { Program, RecordedReceipt, TimelineEntry } from '@mcp-saga/core';
import { historyOf, receiptsIn } from '@mcp-saga/core/program';
import type { Claims, Sealed } from '@mcp-saga/seal';
import type { StepAnswer } from '../wire/step-answers.ts';
import type { Caller } from '../model/caller.ts';
import { cancel } from './cancel.ts';
import { fromHandle } from '../token/handles.ts';
import type { LoadedSource } from '../settings/host-keys.ts';
import { toHostParts, type HostParts } from '../settings/host-parts.ts';
import { servicesFor } from '../settings/host-services.ts';
import type { WaitUntil } from '../settings/loaded-keys.ts';
import type { SagaHostOptions } from '../model/host-options.ts';
import { readTimeline } from '../token/resolve-program.ts';
import { resume } from './resume.ts';
import { toSealedSaga } from '../token/sealed-saga.ts';
import { openTenant, readTenant } from '../token/tenant-token.ts';
import { start } from './start.ts';
import { statusOf, type SagaStatus } from './status.ts';
import type {
  StatusRequest,
  StartRequest,
  ResumeRequest,
  CancelRequest,
} from '../model/request-types.ts';
import type { SagaTurn } from '../model/turn.ts';

/** Content of a token, for operators. Contains no contents of answers and no results. */
export interface SagaInspection {
  readonly sagaId: string;
  readonly keyId: string;
  readonly claims: Claims;
  readonly expired: boolean;
  /** Events so far; undefined if the saga is not served here. */
  readonly timeline: readonly TimelineEntry[] | undefined;
  /**
   * Receipts of the approvals and events so far, without the contents of the answers; undefined if
   * the saga is not served here.
   */
  readonly receipts: readonly RecordedReceipt[] | undefined;
  readonly tokenBytes: number;
  /** Sizes of the parts, in bytes. `stored` is less for a compressed part. */
  readonly parts: readonly {
    readonly part: string;
    readonly bytes: number;
    readonly stored: number;
  }[];
  /** Trace parent, with OpenTelemetry a W3C `traceparent`; undefined without tracing. */
  readonly trace: string | undefined;
}

/**
 * Host with all facts about requests, for dialects. No public object refers to the sealers inside.
 */
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
  /**
   * Reads the state of a saga, with all checks of `resume` and without a turn. Throws TokenRefused.
   */
  status(token: string, caller?: Caller, request?: StatusRequest): Promise<SagaStatus>;
  inspect(token: string, caller?: Caller): Promise<SagaInspection>;
  /** See {@link hostFor}. Undefined: the host has its keys. */
  readonly forCaller?: (caller: Caller) => Promise<SagaHostCore>;
  /** See {@link withTenantOf}. Undefined: the host has its keys. */
  readonly forNamed?: (token: string, from: TokenSource) => Promise<TenantToken>;
  /** See {@link forInvocation}. Undefined: all invocations are alike. */
  readonly invoked?: (invocation: Invocation) => SagaHostCore;
}

/** Parts of a runtime that belong to one request, one message, or one attached server. */
export interface Invocation {
  /** Environment of the runtime, for `services`. */
  readonly env?: unknown;
  /** Keeps the runtime alive for loads of keys in the background. */
  readonly waitUntil?: WaitUntil | undefined;
}

/** Creates the part of a host without MCP. */
export function createHostCore(options: SagaHostOptions): SagaHostCore {
  const parts = toHostParts(options);
  const { source } = parts.keys;
  const invoked = ({ env, waitUntil }: Invocation): SagaHostCore => {
    const host = { ...parts, services: servicesFor(options, env) };
    return source === undefined ? toCore(host) : toLoadingCore(host, source, waitUntil);
  };
  const core = invoked({});
  const isAlike = source === undefined && typeof options.services !== 'function';
  return isAlike ? core : { ...core, invoked };
}

/** Returns a host that chooses the keys of each request, before anything runs. */
function toLoadingCore(host: HostParts, source: LoadedSource, waitUntil?: WaitUntil): SagaHostCore {
  const forCaller = async (caller: Caller): Promise<SagaHostCore> =>
    toCore({ ...host, keys: await source.ofCaller(caller, waitUntil) });
  return {
    ...toCore(host),
    start: async (name, args, caller = {}, request) =>
      await (await forCaller(caller)).start(name, args, caller, request),
    resume: async (token, answers, caller = {}, request) =>
      await (await forCaller(caller)).resume(token, answers, caller, request),
    cancel: async (token, caller = {}, request) =>
      await (await forCaller(caller)).cancel(token, caller, request),
    status: async (token, caller = {}, request) =>
      await (await forCaller(caller)).status(token, caller, request),
    inspect: async (token, caller = {}) => await (await forCaller(caller)).inspect(token, caller),
    forCaller,
    forNamed: async (token, from) => {
      const { tenants } = source;
      if (tenants === undefined) return { host: await forCaller({}), token };
      const named = from === 'link' ? await openTenant(tenants.links, token) : readTenant(token);
      if (named === undefined) throw new TokenRefused('malformed');
      const keys = await tenants.of(named.tenant, waitUntil);
      return { host: { ...host, keys }, token: named.token };
    },
  };
}

/** Token that is used without a caller, and the host with the keys of its tenant. */
export interface TenantToken {
  readonly host: HostParts;
  readonly token: string;
}

/**
 * Origin of a token that is used without a caller. Anyone can send a link, but only the operator a
 * message.
 */
export type TokenSource = 'link' | 'queue';

/**
 * Chooses the keys for a token that is used without a caller: a ticket or a queue message. Throws
 * TokenRefused, or `keys_down`.
 */
export async function withTenantOf(
  core: SagaHostCore,
  token: string,
  from: TokenSource,
): Promise<TenantToken> {
  return core.forNamed === undefined ? { host: core, token } : await core.forNamed(token, from);
}

/** Returns the host with the keys for a caller. Throws `keys_down` or `tenant_missing`. */
export async function hostFor(core: SagaHostCore, caller: Caller): Promise<SagaHostCore> {
  return core.forCaller === undefined ? core : await core.forCaller(caller);
}

/** Returns the host for an invocation of the runtime. */
export function forInvocation(core: SagaHostCore, invocation: Invocation): SagaHostCore {
  return core.invoked === undefined ? core : core.invoked(invocation);
}

function toCore(host: HostParts): SagaHostCore {
  return {
    ...host,
    sagas: host.registry.current,
    start: (name, args, caller = {}, request = {}) => start(host, name, args, caller, request),
    resume: (token, answers, caller = {}, request = {}) =>
      resume(host, token, answers, caller, request),
    cancel: (token, caller = {}, request = {}) => cancel(host, token, caller, request),
    status: (token, caller = {}, request = {}) => statusOf(host, token, caller, request),
    inspect: (token) => inspect(host, token),
  };
}

async function inspect(host: HostParts, token: string): Promise<SagaInspection> {
  const { token: given, purpose } = await fromHandle(host, token);
  const sealed = await host.keys.sealer.open(given, { purpose, ignoreExpiry: true });
  const { sagaId, claims, state, tokenBytes } = toSealedSaga(sealed, given.length);
  const program = host.registry.version(claims.saga.name, claims.saga.version, host.timing.clock());
  return {
    sagaId,
    keyId: sealed.kid,
    claims,
    expired: claims.exp <= host.timing.clock(),
    timeline: program === undefined ? undefined : readTimeline(program, state.program),
    receipts: program === undefined ? undefined : receiptsIn(historyOf(state.program).entries),
    tokenBytes,
    parts: partsOf(sealed),
    trace: state.trace,
  };
}

/** Measures the parts of an opened token. */
export function partsOf({ stored }: Sealed): SagaInspection['parts'] {
  return stored.slice(0, 4).map(({ bytes, inflated }, at) => {
    const part = ['secrets', 'structure', 'client', 'server'][at] ?? '';
    return { part, bytes: inflated, stored: bytes.length };
  });
}
