/**
 * A whole server: `serveSagas` returns a handler of requests for any runtime. A request goes
 * through `http` (host, origin, user), then through `serving` (directly, or by a server of the
 * SDK), then to its dialect. Answer pages, webhooks, and wake-ups of a queue have paths of their
 * own.
 */
import { present, troubleshootingLink } from '@mcp-saga/core/program';
import type { KeysOption } from '@mcp-saga/seal';
import { hostCheck } from './http/allowed-hosts.ts';
import {
  nobody,
  senderOf,
  uncheckable,
  unauthorized,
  type RefusedToken,
  type Sender,
} from './http/authenticate-request.ts';
import { preflightResponse, readableBy, toOriginChecks } from './http/allowed-origins.ts';
import {
  assertServeOptions,
  type KeysOfEnv,
  type ServeSagasOptions,
} from './http/serve-options.ts';
import type { Program } from '@mcp-saga/core';
import type { SagaHostOptions, DemandedOptions } from './model/host-options.ts';
import { readJson } from './http/json-body.ts';
import { answerRequest, isAnswerPath } from './outside/answer-request.ts';
import { protectedResource } from './http/protected-resource.ts';
import { mostValues, overfullPart } from './http/repeated-values.ts';
import { forInvocation, type SagaHostCore } from './requests/host.ts';
import { attachSagas } from './mcp/attach.ts';
import { toolsFor } from './mcp/attach-saga-methods.ts';
import type { DeliveryResult, QueueMessage } from './model/queue-types.ts';
import { deliver } from './queue/deliver.ts';
import { answerWake, wakePath } from './queue/wake-endpoint.ts';
import { coreOf, givenOptions, hostOf } from './saga-host.ts';
import { refusalOf } from './serving/direct-response.ts';
import { serveDirectly } from './serving/serve-directly.ts';
import type { SdkServing } from './serving/sdk-serving.ts';
import { whyBySdk } from './serving/why-by-sdk.ts';
import { studioOf } from './settings/check-options.ts';
import { quietly } from './settings/observer-hooks.ts';
import { onceAMinute, outline } from './settings/default-log.ts';
import { tryExtend } from './serving/serving-extend.ts';
import { principalOfUser } from './settings/user-principal.ts';

export type { ProtectedResourceOptions } from './http/protected-resource.ts';
export type { HttpOptions, ServeAuthOptions, ServeSagasOptions } from './http/serve-options.ts';

/**
 * Server for runtimes with the web standard `fetch` interface: Node with srvx, Bun, Deno,
 * Cloudflare Workers, and others.
 */
export interface SagaServer<Env = unknown> {
  fetch(request: Request, env?: Env, runtime?: unknown): Promise<Response>;
  /**
   * Continues the saga of a `queue` message, like `host.deliver`: for queues that call a function,
   * such as SQS with AWS Lambda. `services` of the host gets `env`.
   */
  deliver(message: QueueMessage, env?: Env): Promise<DeliveryResult>;
  /**
   * Responds to a request for the page of the option `studio`, like `host.studio`: check the
   * operator before.
   */
  studio(request: Request): Promise<Response>;
}

/**
 * Serves sagas over streamable HTTP, without sessions. Export the result as the default export of a
 * module. The type of the environment is that of the parameter of `keys`, `services`, or
 * `auth.authenticate`: write no type arguments, so that the sagas are checked, too.
 * @throws TypeError, RangeError, or SealError for an invalid option, with the name of the option.
 * If `keys` is a function, `fetch` checks the keys with the first request.
 * @example
 * ```ts
 * const greet = saga({ name: 'greet', version: '1' }, function* () {
 *   const { name } = yield* elicit('name', { message: 'Your name?', schema: z.object({ name: z.string() }) });
 *   return `Hello, ${name}`;
 * });
 * export default serveSagas({ name: 'greeter', version: '1.0.0', sagas: [greet] });
 * ```
 */
export function serveSagas<P extends Program, Env = unknown>(
  given: Omit<ServeSagasOptions<Env>, 'sagas'> & DemandedOptions<P>,
): SagaServer<Env> {
  // The types of the sagas have done their work.
  const options: ServeSagasOptions<Env> = given;
  assertServeOptions(options);
  const {
    name,
    version,
    keys,
    auth = {},
    anonymous: accepted,
    http = {},
    extend,
    ...rest
  } = options;
  const { authenticate, oauth, ...hostAuth } = auth;
  // Nobody is authenticated: then every request is anonymous, which the host must accept.
  const anonymous =
    authenticate === undefined ? ({ ...accepted, calls: 'accept' } as const) : (accepted ?? {});
  // With it, the host knows that callers are told apart.
  const { principal = authenticate === undefined ? undefined : principalOfUser } = hostAuth;
  const { path = '/mcp', allowedHosts, allowedOrigins, handler } = http;
  const create = (resolved: { readonly keys?: SagaHostOptions['keys'] }): SagaHostCore =>
    coreOf(
      hostOf({
        ...rest,
        ...resolved,
        auth: { ...hostAuth, ...present({ principal }) },
        anonymous,
        name,
      }),
    );
  let host = typeof keys === 'function' ? undefined : create(present({ keys }));
  const whyForeign = hostCheck(allowedHosts);
  const origins = toOriginChecks(allowedOrigins);
  const resource = oauth === undefined ? undefined : protectedResource(oauth);
  const serverInfo = { name, version };
  // The SDK serves servers with further tools, and streams that are always wanted.
  const streams = handler?.responseMode === 'sse' ? 'stream' : undefined;
  const leftToSdk = extend === undefined ? streams : 'extend';
  let sdk: Promise<SdkServing> | undefined;
  // Most requests need no SDK, which is slow to load.
  const loadSdk = (core: SagaHostCore): Promise<SdkServing> =>
    (sdk ??= import('./serving/sdk-serving.ts').then(({ sdkServing }) =>
      sdkServing({
        serverInfo,
        handler,
        attach: (server, { env, waitUntil, parsedBody }) => {
          const invocation = { env, ...present({ waitUntil }) };
          attachSagas(core, server, invocation, toolsFor(core, parsedBody));
          extend?.(server);
        },
        onError: core.observer.hooks.onError,
      }),
    ));
  if (host !== undefined && extend !== undefined) tryExtend(host.sagas, extend);
  let newestEnv: Env | undefined;

  /** Serves answer pages and webhooks. */
  async function answerOutside(request: Request, env: Env, runtime: unknown): Promise<Response> {
    return await answerRequest(coreFor(env, runtime), request, async () => {
      const { response, user, refused } = await senderOf(() => authenticate?.(request, env));
      if (response !== undefined) return response;
      if (refused !== undefined) warnOfRefusal(hostFor(env), refused);
      // A link may be opened by somebody who never signs in here, and a person with a bad session
      // sees the page that asks them to sign in.
      return user === undefined ? { principal: 'anonymous' } : { user };
    });
  }

  async function answer(request: Request, env: Env, runtime: unknown): Promise<Response> {
    const all = hostFor(env);
    const sender = await senderOf(() => authenticate?.(request, env)).catch((error: unknown) => {
      all.observer.hooks.onError(error);
      return { response: uncheckable() };
    });
    const { response, user, refused }: Sender = sender;
    if (response !== undefined) return response;
    if (refused !== undefined) {
      warnOfRefusal(all, refused);
      return unauthorized(refused);
    }
    if (authenticate !== undefined && user === undefined && anonymous.calls !== 'accept')
      return unauthorized(nobody);
    const served = {
      env,
      ...(await readJson(request, handler?.maxRequestBodySize)),
      ...present({ user }),
      ...waitUntilOf(runtime ?? env),
    };
    const overfull = overfullPart(served);
    if (overfull !== undefined)
      return refusalOf(served.parsedBody, `${overfull}: more than ${mostValues} values`);
    const core = forInvocation(all, served);
    const direct =
      leftToSdk === undefined ? serveDirectly(core, serverInfo, served, handler) : undefined;
    if (direct !== undefined) return await direct;
    const { telemetry, hooks } = all.observer;
    if (telemetry?.servedBySdk !== undefined)
      quietly(() => telemetry.servedBySdk?.(whyBySdk(served, leftToSdk)), hooks.onError);
    const serveBySdk = await loadSdk(all);
    return await serveBySdk(served);
  }

  const hostFor = (env: Env): SagaHostCore => {
    newestEnv = env;
    if (host !== undefined) return host;
    const made = create(
      typeof keys === 'function'
        ? { keys: reloadable(keys(env), () => keys(newestEnv as Env)) }
        : {},
    );
    if (extend !== undefined) tryExtend(made.sagas, extend);
    return (host = made);
  };
  const coreFor = (env: Env, runtime: unknown): SagaHostCore =>
    forInvocation(hostFor(env), { env, ...waitUntilOf(runtime ?? env) });
  const receive = rest.queue?.receive?.bind(rest.queue);

  let isTimeToWarn: ((reason: string) => boolean) | undefined;

  /** Tells the operator about a refused request, at most once a minute: anybody can send such requests. */
  function warnOnceAMinute(
    { observer, timing }: SagaHostCore,
    reason: string,
    warning: string,
  ): void {
    isTimeToWarn ??= onceAMinute(timing.clock);
    if (!isTimeToWarn(reason)) return;
    const link = troubleshootingLink('401-or-403-over-http');
    observer.hooks.onWarning(`${warning} See ${link}`);
  }

  /** Tells the operator which error of `authenticate` refused a token. */
  function warnOfRefusal(all: SagaHostCore, { cause }: RefusedToken): void {
    // Without a token, nothing was thrown.
    if (cause === undefined) return;
    const warning = `auth.authenticate refused a token: it threw ${outline(cause)}`;
    warnOnceAMinute(all, 'authenticate', warning);
  }

  /** Refuses a request by its host or its page. */
  function refuse(why: string, env: unknown): Response {
    try {
      warnOnceAMinute(hostFor(env as Env), '403', `A request got status 403. ${why}`);
    } catch {
      // A host that cannot be created says so at the next request that is allowed.
    }
    return forbidden(why);
  }

  const server: SagaServer<Env> = {
    deliver: (message, env) => deliver(coreFor(env as Env, undefined), message, {}),
    studio: async (request) => await studioOf(options).fetch(request),
    // Some runtimes pass no `env`. The author declares its type.
    fetch: async (request, env, runtime) => {
      // In less time than by the class `URL`.
      const [, pathname = ''] = /^[^:]+:\/\/[^/]*([^?#]*)/.exec(request.url) ?? [];
      const foreign = whyForeign(request, env);
      const metadata =
        foreign === undefined ? await resource?.respond(request, pathname) : undefined;
      if (metadata !== undefined) return metadata;
      if (isAnswerPath(pathname) && options.url !== undefined)
        return foreign === undefined
          ? await answerOutside(request, env as Env, runtime)
          : refuse(foreign, env);
      const isWake = receive !== undefined && pathname === wakePath;
      if (!isWake && pathname !== path)
        return new Response(`Not found. MCP is served at ${path}\n`, { status: 404 });
      if (foreign !== undefined) return refuse(foreign, env);
      if (!origins.isAllowed(request))
        return refuse('Its Origin is not in http.allowedOrigins of the server.', env);
      if (isWake) {
        const core = coreFor(env as Env, runtime);
        return await answerWake(request, {
          receive,
          deliver: (message) => deliver(core, message, {}),
          onError: core.observer.hooks.onError,
          maxTokenBytes: core.limits.maxTokenBytes,
        });
      }
      const isListed = origins.isListed(request);
      const response =
        (isListed ? preflightResponse(request) : undefined) ??
        (await answer(request, env as Env, runtime));
      const challenged = resource?.challenge(response) ?? response;
      return isListed ? readableBy(request, challenged) : challenged;
    },
  };
  givenOptions.set(server, options);
  return server;
}

/**
 * Makes keys for a host of the result of `keys(env)`. Calls `again` for later loads of a promise.
 */
function reloadable(
  given: ReturnType<KeysOfEnv>,
  again: () => ReturnType<KeysOfEnv>,
): SagaHostOptions['keys'] {
  if (!(given instanceof Promise)) return given;
  let first: Promise<KeysOption | undefined> | undefined = given;
  // Reported by the load. The first request may need no keys.
  given.catch(() => undefined);
  return async () => {
    const keys = first ?? again();
    first = undefined;
    return (await keys) as KeysOption;
  };
}

/** Makes a 403 for a rejected host or page, in the form of the SDK. */
function forbidden(message: string): Response {
  const error = { code: -32_000, message };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 403 });
}

/**
 * Finds `waitUntil` of a runtime that stops after the response. Vercel passes it in the place of
 * `env`.
 */
function waitUntilOf(runtime: unknown): { readonly waitUntil?: (work: Promise<unknown>) => void } {
  const { waitUntil } = Object(runtime) as { waitUntil?: (work: Promise<unknown>) => void };
  // Called as a method: Workers require the `this` value.
  return typeof waitUntil === 'function'
    ? { waitUntil: (work) => waitUntil.call(runtime, work) }
    : {};
}
