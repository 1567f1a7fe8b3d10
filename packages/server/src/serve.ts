/** One line to a running server, on any runtime that speaks the web's Request and Response. */
import { present } from '@mcp-saga/core/program';
import { hostCheck } from './http/allowed-hosts.ts';
import { originCheck, preflightResponse, readableBy } from './http/allowed-origins.ts';
import { assertServeOptions, type Authenticated, type ServeSagasOptions } from './http/serve-options.ts';
import type { SagaHostOptions } from './model/host-options.ts';
import { readJson } from './http/json-body.ts';
import { protectedResource } from './http/protected-resource.ts';
import type { SagaHostCore } from './requests/host.ts';
import { attachSagas } from './mcp/attach.ts';
import { coreOf, createSagaHost } from './saga-host.ts';
import { serveDirectly } from './serving/serve-directly.ts';
import type { SdkServing } from './serving/sdk-serving.ts';
import { tryExtend } from './serving/try-extend.ts';

export type { ProtectedResourceOptions } from './http/protected-resource.ts';
export type { HttpOptions, ServeAuthOptions, ServeSagasOptions } from './http/serve-options.ts';

/** A server: hand it to the runtime as it is. */
export interface SagaServer<Env = unknown> {
  fetch(request: Request, env?: Env, runtime?: unknown): Promise<Response>;
}

/**
 * Serves sagas over streamable HTTP, statelessly: `export default serveSagas({ name, version, sagas })`.
 *
 * @throws TypeError for an unknown option, for a tool or prompt that `extend` registers twice, for one of `auth.authenticate` and `auth.principal` without the other, for
 * `auth.anonymous` or `auth.oauth` without both, for an `http.path` without a slash, and for hosts, origins and URLs of a wrong form; else as `createSagaHost` does, with `keys` as a function not before the first request
 */
export function serveSagas<Env = unknown>(options: ServeSagasOptions<Env>): SagaServer<Env> {
  assertServeOptions(options);
  const { name, version, keys, auth = {}, http = {}, context, extend, ...rest } = options;
  const { authenticate, anonymous, oauth, ...hostAuth } = auth;
  const { path = '/mcp', allowedHosts, allowedOrigins, cors = false, handler } = http;
  const create = (resolved: { readonly keys?: SagaHostOptions['keys'] }): SagaHostCore =>
    coreOf(createSagaHost({ ...rest, ...resolved, auth: hostAuth, audience: options.audience ?? name }));
  let host = typeof keys === 'function' ? undefined : create(present({ keys }));
  const whyForeign = hostCheck(allowedHosts);
  const isAllowed = originCheck(allowedOrigins);
  const resource = oauth === undefined ? undefined : protectedResource(oauth);
  const serverInfo = { name, version };
  // Servers that differ from request to request, and streams, are left to the SDK.
  const isDirect = extend === undefined && handler?.responseMode !== 'sse';
  let sdk: Promise<SdkServing> | undefined;
  // Most requests are answered without the SDK, which takes longer to load than everything else.
  const loadSdk = (core: SagaHostCore): Promise<SdkServing> =>
    (sdk ??= import('./serving/sdk-serving.ts').then(({ sdkServing }) =>
      sdkServing({
        serverInfo,
        handler,
        attach: (server, { stepContext, waitUntil }) => {
          attachSagas(core, server, { context: stepContext(), ...present({ waitUntil }) });
          extend?.(server);
        },
        onError: core.observer.hooks.onError,
      }),
    ));
  if (host !== undefined && extend !== undefined) tryExtend(host.sagas, extend);

  async function answer(request: Request, env: Env, runtime: unknown): Promise<Response> {
    host ??= create(typeof keys === 'function' ? { keys: keys(env) } : {});
    const found = await authenticate?.(request, env);
    if (isResponse(found)) return found;
    // Without types, `authenticate` may return false or an empty string.
    const authInfo = typeof found === 'object' && found !== null ? found : undefined;
    const isAnonymous = (found ?? undefined) === undefined && anonymous === 'accept';
    if (authenticate !== undefined && authInfo === undefined && !isAnonymous) return unauthorized();
    const served = {
      ...(await readJson(request, handler?.maxRequestBodySize)),
      ...present({ authInfo }),
      ...waitUntilOf(runtime ?? env),
      stepContext: () => (context === undefined ? env : context(request, env)),
    };
    const direct = isDirect ? serveDirectly(host, serverInfo, served) : undefined;
    return await (direct ?? (await loadSdk(host))(served));
  }

  return {
    // What `env` is, the author says. Runtimes that give nothing are served by options that look at nothing.
    fetch: async (request, env, runtime) => {
      const { pathname } = new URL(request.url);
      const foreign = whyForeign(request, env);
      const metadata = foreign === undefined ? await resource?.respond(request) : undefined;
      if (metadata !== undefined) return metadata;
      if (pathname !== path) return new Response(`Nothing here: MCP is served at ${path}\n`, { status: 404 });
      if (foreign !== undefined) return refused(foreign);
      if (!isAllowed(request))
        return refused('Invalid Origin: this page is not among the allowedOrigins of the server');
      const response =
        (cors ? preflightResponse(request) : undefined) ?? (await answer(request, env as Env, runtime));
      const challenged = resource === undefined ? response : resource.challenge(response);
      return cors ? readableBy(request, challenged) : challenged;
    },
  };
}

/** The 403 for a request to a foreign host or of a foreign page, as the SDK writes it. */
function refused(message: string): Response {
  const error = { code: -32_000, message };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 403 });
}

/** `true` for a `Response`, by the name of its class: servers for Node replace the class, and auth info would let it in. */
function isResponse(authInfo: Authenticated): authInfo is Response {
  return authInfo instanceof Response || Object.prototype.toString.call(authInfo) === '[object Response]';
}

/** The 401 for a request without auth info. It must name a scheme (RFC 9110, section 15.5.2). */
function unauthorized(): Response {
  const headers = { 'www-authenticate': 'Bearer' };
  return new Response('This server needs an access token.\n', { status: 401, headers });
}

/** The `waitUntil` of a runtime that ends with the answer, as it hands it to `fetch`: beside `env`, or in its place (Vercel). */
function waitUntilOf(runtime: unknown): { readonly waitUntil?: (work: Promise<unknown>) => void } {
  const { waitUntil } = Object(runtime) as { waitUntil?: (work: Promise<unknown>) => void };
  // Called on its own object, which Workers insist on.
  return typeof waitUntil === 'function' ? { waitUntil: (work) => waitUntil.call(runtime, work) } : {};
}
