import { present } from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';
import type { Program } from '@mcp-saga/core';
import { attachSagas, type AttachOptions } from './mcp/attach.ts';
import type { McpServerLike } from './mcp/sdk.ts';
import type { SagaHostOptions, DemandedOptions } from './model/host-options.ts';
import type {
  CancelHostRequest,
  DeliveryRequest,
  HostRequest,
  StartHostRequest,
} from './model/request-types.ts';
import type { Caller } from './model/caller.ts';
import { answerRequest } from './outside/answer-request.ts';
import type { DeliveryResult, QueueMessage } from './model/queue-types.ts';
import type { SagaTurn } from './model/turn.ts';
import { deliver } from './queue/deliver.ts';
import { isKeyForm } from './requests/start-name.ts';
import { studioOf } from './settings/check-options.ts';
import { assertKnownRequest, requestNames } from './settings/known-options.ts';
import {
  createHostCore,
  forInvocation,
  type SagaHostCore,
  type SagaInspection,
} from './requests/host.ts';
import type { StepAnswer } from './wire/step-answers.ts';

/**
 * Runs sagas without storing anything: between two requests, the token of the client holds the
 * entire state of a saga.
 */
export interface SagaHost {
  /** Sagas of the host, in their newest versions. */
  readonly sagas: readonly Program[];
  /**
   * Starts a saga.
   * @throws SagaHostError `unknown_saga`, `invalid_params`, `forbidden`, `rate_limited`,
   * `principal_missing`, `client_cannot`, `guard_down`, `keys_down`; with `idempotencyKey` also
   * `busy`, `guard_full`, and `already_started`
   * @throws TurnAborted if `request.signal` aborts
   */
  start(name: string, args: unknown, request?: StartHostRequest): Promise<SagaTurn>;
  /**
   * Continues a saga from its token. A failed saga is returned as a turn with the status `failed`.
   *
   * If an error is temporary, the token stays valid: send the same request again later. With
   * `onMismatch: 'compensate'`, a saga with an incompatible version is undone instead.
   * @throws TokenRefused with one fixed message for each defect of the token
   * @throws AnswerConflict if a repeated answer differs from the recorded answer
   * @throws SagaHostError `invalid_params`, naming the field
   * @throws SagaHostError `rate_limited`, `guard_down`, `guard_full`, `keys_down`, `busy`,
   * `clock_behind`, `version_gone`: the token stays good
   * @throws ReplayMismatch if the code does not match the journal: the token stays valid
   * @throws TurnAborted if `request.signal` aborts: the token stays valid
   */
  resume(token: string, answers?: readonly StepAnswer[], request?: HostRequest): Promise<SagaTurn>;
  /**
   * Ends a saga and undoes its steps within this request. Requires a store, or `reuse: 'ok'`. A store
   * rejects tokens that the client has used with answers.
   * @throws SagaHostError `cancel_not_offered`; `no_progress` if two turns record nothing
   * @throws SagaHostError `guard_down`, `keys_down`, `busy`, `clock_behind`, `version_gone`: the
   * token stays good
   * @throws ReplayMismatch if the code does not match the journal: the token stays valid
   * @throws TokenRefused if the token is invalid, or was used with answers
   */
  cancel(token: string, request?: CancelHostRequest): Promise<SagaTurn>;
  /**
   * Continues the saga of a `queue` message, without its client. Queues with `start` call it
   * themselves. If the promise resolves, the queue may drop the message: the message of the next
   * turn is already in the queue. A message may arrive late, twice, and out of order.
   * @param request - `env` for `services`. A delivery acts for the principal sealed in the message,
   * and has no caller: its steps have no `user`.
   * @throws SagaHostError, ReplayMismatch, or TurnAborted: deliver the message again later
   * @throws TokenRefused if the message is invalid, or over 30 days late
   * @throws TypeError if the host has no queue
   * @example
   * ```ts
   * const worker = async (job: { readonly data: QueueMessage }) => {
   *   const { status, at } = await host.deliver(job.data);
   *   console.log(status, at);
   * };
   * ```
   */
  deliver(message: QueueMessage, request?: DeliveryRequest): Promise<DeliveryResult>;
  /**
   * Shows the content of a token of any principal, expired or not. For operators only, never for
   * clients. With `keys.tenantOf`, `request.caller` names the tenant. Throws TokenRefused, or
   * SagaHostError `keys_down`.
   */
  inspect(token: string, request?: Pick<HostRequest, 'caller'>): Promise<SagaInspection>;
  /**
   * Responds to a request for an answer page (`/saga/answer/…`) or a webhook (`/saga/event/…`), for
   * servers other than `serveSagas`. Requires the option `url`. The caller is the user who
   * opened the page. For an anonymous caller, only possession of the link counts. A webhook needs
   * no caller.
   */
  answer(request: Request, options?: Pick<HostRequest, 'caller' | 'env'>): Promise<Response>;
  /**
   * Responds to a request for the page of the option `studio`, below any path. The page is
   * read-only, and shows all sagas of the host: check the operator before.
   * @throws TypeError without the option
   */
  studio(request: Request): Promise<Response>;
  /**
   * Registers the sagas on an `McpServer` of the MCP SDK, version 1 or 2: tools, prompts,
   * resources, the saga methods, and their capability. Call `attach` before the server connects.
   * @throws TypeError if `server` is not an McpServer, is connected, or already has sagas
   */
  attach(server: McpServerLike, options?: AttachOptions): void;
}

// Kept outside of the public object: a printed or serialized host must not show keys.
const cores = new WeakMap<SagaHost, SagaHostCore>();

/** Options of hosts and of servers, for the command line. */
export const givenOptions: WeakMap<object, object> = new WeakMap();

/**
 * Creates a host: the sagas, and the keys and options to run them with. Use `serveSagas` for a
 * complete HTTP server.
 * @throws TypeError, RangeError, or SealError for an invalid option, with the name of the option
 * @example
 * ```ts
 * const greet = saga({ name: 'greet', version: '1' }, function* () {
 *   const { name } = yield* elicit('name', { message: 'Your name?', schema: z.object({ name: z.string() }) });
 *   return `Hello, ${name}`;
 * });
 * const host = createSagaHost({ sagas: [greet], name: 'greeter', keys });
 * const turn = await host.start('greet', {});
 * if (turn.status === 'suspended') console.log(turn.steps, turn.token);
 * ```
 */
export function createSagaHost<P extends Program>(
  options: Omit<SagaHostOptions, 'sagas'> & DemandedOptions<P>,
): SagaHost {
  return hostOf(options);
}

/** The same without demands on types, for code that passes on the options of others. */
export function hostOf(options: SagaHostOptions): SagaHost {
  const core = createHostCore(options);
  /** Checks the options of a method, before anything runs, and returns the host for its call. */
  const invoked = (
    request: HostRequest,
    names: { readonly [name: string]: true },
  ): SagaHostCore => {
    assertKnownRequest(request, names);
    return forInvocation(core, request);
  };
  const host: SagaHost = {
    sagas: core.sagas,
    start: async (name, args, request = {}) =>
      await invoked(request, requestNames.start).start(name, args, toStarter(request), {
        holder: { kind: 'client', returns: 'told' },
      }),
    resume: async (token, answers, request = {}) =>
      await invoked(request, requestNames.resume).resume(
        trimmed(token),
        answers,
        toCaller(request),
      ),
    cancel: async (token, request = {}) =>
      await invoked(request, requestNames.cancel).cancel(
        trimmed(token),
        toCaller(request),
        present({ reason: request.reason }),
      ),
    deliver: async (message, request = {}) =>
      await deliver(invoked(request, requestNames.deliver), message, toCaller(request)),
    inspect: async (token, request = {}) =>
      await invoked(request, requestNames.inspect).inspect(trimmed(token), toCaller(request)),
    answer: async (request, given = {}) => {
      const keyed = invoked(given, requestNames.answer);
      return await answerRequest(keyed, request, () => Promise.resolve(toCaller(given)));
    },
    studio: async (request) => await studioOf(options).fetch(request),
    attach: (server, attachOptions) => attachSagas(core, server, attachOptions),
  };
  cores.set(host, core);
  givenOptions.set(host, options);
  startQueue(options, core);
  return host;
}

/** Lets a queue with its own worker deliver messages to a host. */
function startQueue({ queue, testing = {} }: SagaHostOptions, core: SagaHostCore): void {
  const { observer, timing } = core;
  queue?.start?.({
    deliver: (message) => deliver(forInvocation(core, {}), message, {}),
    clock: timing.clock,
    sleep: testing.sleep,
    onError: observer.hooks.onError,
    onWarning: (message) => {
      if (!observer.isTrial) observer.hooks.onWarning(message);
    },
  });
}

/** Returns the internals of a host, for dialects. */
export function coreOf(host: SagaHost): SagaHostCore {
  const core = cores.get(host);
  if (core === undefined) throw optionError('Expected a host from createSagaHost().');
  return core;
}

/** Removes white space around a token that an operator pasted. */
function trimmed(token: string): string {
  return typeof token === 'string' ? token.trim() : token;
}

/** Reads the caller of a start from its checked options. */
function toStarter(request: StartHostRequest): Caller {
  const { idempotencyKey: key } = request;
  if (key === undefined) return toCaller(request);
  if (!isKeyForm(key))
    throw optionError('host.start: idempotencyKey: expected a string of 1 to 256 characters.');
  return { ...toCaller(request), clientKey: () => ({ key, from: 'server' }) };
}

/** Reads the caller from the checked options of a method. */
function toCaller({ caller, signal }: HostRequest): Caller {
  const from = caller === 'anonymous' ? { principal: caller } : caller;
  return { ...from, ...present({ signal }) };
}
