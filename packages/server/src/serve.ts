/** One line to a running server, on any runtime that speaks the web's Request and Response. */
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  McpServer,
  type CreateMcpHandlerOptions,
} from '@modelcontextprotocol/server';
import type { SagaHostOptions } from './host/host-options.ts';
import { readJson } from './json-body.ts';
import { ownHosts } from './own-hosts.ts';
import { createSagaHost, type SagaHost } from './saga-host.ts';

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
   * Host names of the server, without ports: other hosts get a 403. Protects from DNS rebinding, by which a web page
   * reaches a server on the user's machine. Behind a proxy that passes `Host` on, list the names of the proxy.
   *
   * Default: `['localhost', '127.0.0.1', '[::1]']` for a server on loopback (known on Node with srvx, and on Bun if
   * `fetch` gets the server), and for requests of a plain HTTP page to its own name. Otherwise any host.
   */
  readonly allowedHosts?: readonly string[];
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
 * @throws TypeError for one of `authenticate` and `principal` without the other, for `anonymous` without both, and for a
 * `path` without a slash; else as `createSagaHost` does, with `keys` as a function not before the first request
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
  return {
    fetch: async (request, given, runtime) => {
      // What it is, the author says. Runtimes that give nothing are served by options that look at nothing.
      const env = given as Env;
      if (new URL(request.url).pathname !== path) {
        return new Response(`Nothing here: MCP is served at ${path}\n`, { status: 404 });
      }
      const hosts = allowedHosts ?? ownHosts(request, env);
      const refused = hosts === undefined ? undefined : hostHeaderValidationResponse(request, [...hosts]);
      if (refused !== undefined) return refused;
      host ??= create(typeof keys === 'function' ? { keys: keys(env) } : {});
      const serving = host;
      const found = await authenticate?.(request, env);
      if (isResponse(found)) return found;
      // Without types, `authenticate` may return false or an empty string.
      const authInfo = typeof found === 'object' && found !== null ? found : undefined;
      const isAnonymous = (found ?? undefined) === undefined && anonymous === 'accept';
      if (authenticate !== undefined && authInfo === undefined && !isAnonymous) return unauthorized();
      // A handler for each request, since the server it makes takes this request's context along.
      const mcp = createMcpHandler(() => {
        try {
          const server = new McpServer({ name, version }, { capabilities: { logging: {} } });
          serving.attach(server, {
            context: context === undefined ? env : context(request, env),
            ...waitUntilOf(runtime ?? env),
          });
          extend?.(server);
          return server;
        } catch (error) {
          serving.settings.hooks.onError(error);
          throw error;
        }
      }, handler);
      const { request: read, ...body } = await readJson(request, handler?.maxRequestBodySize);
      return await mcp.fetch(read, { ...body, ...(authInfo === undefined ? {} : { authInfo }) });
    },
  };
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
function assertUsers<Env>({ authenticate, principal, anonymous }: ServeSagasOptions<Env>): void {
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
