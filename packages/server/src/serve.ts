/** One line to a running server, on any runtime that speaks the web's Request and Response. */
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  type CreateMcpHandlerOptions,
} from '@modelcontextprotocol/server';
import { hostCheck } from './http/allowed-hosts.ts';
import { originCheck, preflightResponse, readableBy } from './http/allowed-origins.ts';
import type { SagaHostOptions } from './model/host-options.ts';
import { readJson } from './http/json-body.ts';
import { protectedResource, type ProtectedResourceOptions } from './http/protected-resource.ts';
import { createSagaHost, type SagaHost } from './saga-host.ts';

export type { ProtectedResourceOptions } from './http/protected-resource.ts';

/** What is served, and how. `Env` is what the runtime hands to `fetch` beside the request, the bindings of a Worker say. */
export interface ServeSagasOptions<Env = unknown> extends Omit<SagaHostOptions, 'audience' | 'keys'> {
  /** The server's name, for clients; also the audience of its tokens, unless that is given. */
  readonly name: string;
  /** The server's version, for clients. */
  readonly version: string;
  readonly audience?: string;
  /** As for `createSagaHost`; or a function of the runtime's `env`, where keys are bindings (Cloudflare Workers). */
  readonly keys?: SagaHostOptions['keys'] | ((env: Env) => SagaHostOptions['keys']);
  /**
   * Hosts that requests may name: `'mcp.example'` on every port, `'localhost:3000'` on one. Requests to others get a 403.
   * Protects from DNS rebinding, by which a web page reaches a server on the user's machine. Behind a proxy that passes
   * `Host` on, list the names of the proxy.
   *
   * Default: `['localhost', '127.0.0.1', '[::1]']` for a server on loopback (known on Node with srvx, and on Bun if
   * `fetch` gets the server), and for requests of a plain HTTP page to its own name. Otherwise any host.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Origins of the web pages that may send requests, as browsers name them: `'https://app.example'`; `'*'` for every page.
   * Requests of other pages get a 403. Requests without an `Origin` header are not of a page, and are served.
   *
   * Default: pages of the server's own host; for a host on loopback, all pages on loopback.
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Answers the CORS requests of browsers, so that allowed pages of other origins can send requests and read the answers.
   *
   * @default false
   */
  readonly cors?: boolean;
  /**
   * Tells clients where their users sign in: serves the metadata of RFC 9728 at
   * `/.well-known/oauth-protected-resource/mcp`, and names them in every `Bearer` challenge. Goes with `authenticate`.
   */
  readonly oauth?: ProtectedResourceOptions;
  /** The path that is served. Default `/mcp`. */
  readonly path?: string;
  /** What server steps get as `context`. Default: the runtime's `env`. */
  readonly context?: (request: Request, env: Env) => unknown;
  /**
   * Auth info of a request, from whatever checks its access token: the SDK's `requireBearerAuth({ verifier })` as it is.
   * A `Response` is sent in place of an answer: a 401 that says where to sign in. For undefined and null the answer is a
   * plain 401, unless `anonymous` accepts them. Goes with `principal`, which makes a user of it.
   */
  readonly authenticate?: (request: Request, env: Env) => Promise<Authenticated> | Authenticated;
  /**
   * `accept` serves requests without auth info. Their sagas have no principal: any anonymous request with the token
   * continues them. Default: 401.
   */
  readonly anonymous?: 'accept';
  /** Registers more on each request's `McpServer`: other tools, prompts, resources. */
  readonly extend?: (server: McpServer) => void;
  /** Options of the SDK's handler: body limits, response mode, … */
  readonly handler?: CreateMcpHandlerOptions;
}

type AuthInfo = NonNullable<
  NonNullable<Parameters<ReturnType<typeof createMcpHandler>['fetch']>[1]>['authInfo']
>;

type Authenticated = AuthInfo | Response | undefined | null;

/** A server: hand it to the runtime as it is. */
export interface SagaServer<Env = unknown> {
  fetch(request: Request, env?: Env, runtime?: unknown): Promise<Response>;
}

/**
 * Serves sagas over streamable HTTP, statelessly: `export default serveSagas({ name, version, sagas })`.
 *
 * @throws TypeError for one of `authenticate` and `principal` without the other, for `anonymous` or `oauth` without both, for a
 * `path` without a slash, and for hosts, origins and URLs of a wrong form; else as `createSagaHost` does, with `keys` as a function not before the first request
 */
export function serveSagas<Env = unknown>(options: ServeSagasOptions<Env>): SagaServer<Env> {
  assertUsers(options);
  assertServed(options);
  const {
    name,
    version,
    keys,
    path = '/mcp',
    allowedHosts,
    allowedOrigins,
    cors = false,
    oauth,
    context,
    authenticate,
    anonymous,
    extend,
    handler,
    ...rest
  } = options;
  const create = (resolved: { readonly keys?: SagaHostOptions['keys'] }): SagaHost =>
    createSagaHost({ ...rest, ...resolved, audience: options.audience ?? name });
  let host = typeof keys === 'function' ? undefined : create(keys === undefined ? {} : { keys });
  const whyForeign = hostCheck(allowedHosts);
  const isAllowed = originCheck(allowedOrigins);
  const resource = oauth === undefined ? undefined : protectedResource(oauth);
  // What a runtime gives beside a request, for the server that is made for it.
  const given = new WeakMap<
    Request,
    { readonly request: Request; readonly env: Env; readonly runtime: unknown }
  >();
  const toServer = ({ requestInfo }: { readonly requestInfo?: Request }): McpServer => {
    const beside = requestInfo === undefined ? undefined : given.get(requestInfo);
    if (beside === undefined || host === undefined)
      throw new TypeError('The MCP SDK handed on another request than it was given.');
    try {
      const server = new McpServer({ name, version }, { capabilities: { logging: {} } });
      host.attach(server, {
        context: context === undefined ? beside.env : context(beside.request, beside.env),
        ...waitUntilOf(beside.runtime ?? beside.env),
      });
      extend?.(server);
      if (handler?.bus === undefined) fixLists(server);
      return server;
    } catch (error) {
      host.settings.hooks.onError(error);
      throw error;
    }
  };
  // One for all requests, since it counts the streams that are open.
  const shared = createMcpHandler(toServer, handler);

  async function answer(request: Request, env: Env, runtime: unknown): Promise<Response> {
    host ??= create(typeof keys === 'function' ? { keys: keys(env) } : {});
    const found = await authenticate?.(request, env);
    if (isResponse(found)) return found;
    // Without types, `authenticate` may return false or an empty string.
    const authInfo = typeof found === 'object' && found !== null ? found : undefined;
    const isAnonymous = (found ?? undefined) === undefined && anonymous === 'accept';
    if (authenticate !== undefined && authInfo === undefined && !isAnonymous) return unauthorized();
    const { request: read, ...body } = await readJson(request, handler?.maxRequestBodySize);
    given.set(read, { request, env, runtime });
    const isHandedOn = 'parsedBody' in body || request.method !== 'POST' || (await isModern(read, handler));
    // The SDK makes the server of other requests for a copy of them.
    const mcp = isHandedOn ? shared : createMcpHandler(() => toServer({ requestInfo: read }), handler);
    return await mcp.fetch(read, { ...body, ...(authInfo === undefined ? {} : { authInfo }) });
  }

  return {
    // What `env` is, the author says. Runtimes that give nothing are served by options that look at nothing.
    fetch: async (request, env, runtime) => {
      const { pathname } = new URL(request.url);
      const foreign = whyForeign(request, env);
      const metadata = foreign === undefined ? resource?.respond(request) : undefined;
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

/** A server that lives for one request never changes its lists. Clients that were told otherwise keep a stream open for it. */
function fixLists({ server }: McpServer): void {
  const capabilities = server.getCapabilities();
  for (const list of ['tools', 'prompts', 'resources'] as const)
    if (capabilities[list] !== undefined) server.registerCapabilities({ [list]: { listChanged: false } });
}

/** `true` for a request of MCP 2026-07-28, which has to name its method in a header. */
async function isModern(
  request: Request,
  { maxRequestBodySize }: CreateMcpHandlerOptions = {},
): Promise<boolean> {
  if (!request.headers.has('mcp-method')) return false;
  return !(await isLegacyRequest(
    request,
    undefined,
    maxRequestBodySize === undefined ? {} : { maxRequestBodySize },
  ));
}

/**
 * Whether a gate refuses. By the name of its class: servers for Node put a class of their own in the place of `Response`,
 * and what `fetch` gives, or was made before, is none of that one. Taken for auth info, it would let the request in.
 */
function isResponse(authInfo: Authenticated): authInfo is Response {
  return authInfo instanceof Response || Object.prototype.toString.call(authInfo) === '[object Response]';
}

/** The 401 for a request without auth info. It must name a scheme (RFC 9110, section 15.5.2). */
function unauthorized(): Response {
  const headers = { 'www-authenticate': 'Bearer' };
  return new Response('This server needs an access token.\n', { status: 401, headers });
}

/** Without the one every call fails, and without the other nobody is told from anybody: neither shows before a call comes. */
function assertUsers<Env>({ authenticate, principal, anonymous, oauth }: ServeSagasOptions<Env>): void {
  if (oauth !== undefined && authenticate === undefined) {
    throw new TypeError('serveSagas has oauth and no authenticate, which checks the access tokens.');
  }
  if (anonymous !== undefined && (anonymous !== 'accept' || authenticate === undefined)) {
    throw new TypeError("anonymous: expected 'accept', beside authenticate, or undefined.");
  }
  if (authenticate !== undefined && principal === undefined) {
    throw new TypeError(
      'serveSagas has authenticate and no principal. Give it principal: (authInfo) => ({ issuer, subject, client }), ' +
        "which says whose a saga is; or principal: 'client-only' where the users of one client application may " +
        'go on with the sagas of each other.',
    );
  }
  if (principal !== undefined && authenticate === undefined) {
    throw new TypeError(
      'serveSagas has principal and no authenticate, so that no request has a user, and whoever has a token ' +
        'goes on with its saga. Give it authenticate: (request) => …, which checks the access token; or leave principal out.',
    );
  }
}

/** A path that no URL has would serve nobody. */
function assertServed<Env>({ name, version, path = '/mcp' }: ServeSagasOptions<Env>): void {
  if (typeof name !== 'string' || name === '' || typeof version !== 'string') {
    throw new TypeError(
      "serveSagas needs a name and a version, for clients: name: 'deployer', version: '1.0.0'.",
    );
  }
  if (typeof path !== 'string' || !/^\/[^?#]*$/.test(path)) {
    throw new TypeError("path: expected the path of a URL, which begins with a slash: '/mcp'.");
  }
}

/** The `waitUntil` of a runtime that ends with the answer, as it hands it to `fetch`: beside `env`, or in its place (Vercel). */
function waitUntilOf(runtime: unknown): { readonly waitUntil?: (work: Promise<unknown>) => void } {
  const { waitUntil } = Object(runtime) as { waitUntil?: (work: Promise<unknown>) => void };
  // Called on its own object, which Workers insist on.
  return typeof waitUntil === 'function' ? { waitUntil: (work) => waitUntil.call(runtime, work) } : {};
}
