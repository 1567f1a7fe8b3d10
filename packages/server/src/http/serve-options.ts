import type { createMcpHandler, CreateMcpHandlerOptions, McpServer } from '@modelcontextprotocol/server';
import type { AuthOptions, SagaHostOptions } from '../model/host-options.ts';
import {
  assertKnownOptions,
  authNames,
  hostGroups,
  hostNames,
  type NamesOf,
} from '../settings/known-options.ts';
import type { ProtectedResourceOptions } from './protected-resource.ts';

/** Auth info, as the SDK has it. */
export type AuthInfo = NonNullable<
  NonNullable<Parameters<ReturnType<typeof createMcpHandler>['fetch']>[1]>['authInfo']
>;

/** Result of `auth.authenticate`: auth info, a response that refuses the request, or nothing. */
export type Authenticated = AuthInfo | Response | undefined | null;

/** Options for callers of a server. `Env` is what the runtime passes to `fetch` beside the request. */
export interface ServeAuthOptions<Env = unknown> extends AuthOptions {
  /**
   * Checks a request first: returns auth info, a `Response` to refuse with, or nothing: a 401 unless `anonymous` accepts it.
   * Requires `principal`.
   */
  readonly authenticate?: (request: Request, env: Env) => Promise<Authenticated> | Authenticated;
  /** `accept` serves requests without auth info. Any anonymous request with a token continues its saga. Default: 401. */
  readonly anonymous?: 'accept';
  /**
   * Tells clients where their users sign in: serves the metadata of RFC 9728 at
   * `/.well-known/oauth-protected-resource/mcp`, and names them in every `Bearer` challenge. Requires `authenticate`.
   */
  readonly oauth?: ProtectedResourceOptions;
}

/** Options for HTTP. */
export interface HttpOptions {
  /** Path of the server. Default `/mcp`. */
  readonly path?: string;
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
  /** Answers the CORS requests of browsers, so that allowed pages of other origins can send requests. Default `false`. */
  readonly cors?: boolean;
  /** Options of the SDK's handler: body limits, response mode, … */
  readonly handler?: CreateMcpHandlerOptions;
}

/** Options of a server. `Env` is what the runtime passes to `fetch` beside the request, such as the bindings of a Worker. */
export interface ServeSagasOptions<Env = unknown> extends Omit<
  SagaHostOptions,
  'audience' | 'auth' | 'keys'
> {
  /** Name of the server, for clients. Also the audience of its tokens, unless `audience` is given. */
  readonly name: string;
  /** Version of the server, for clients. */
  readonly version: string;
  /** The name of this service, sealed into each token. Default: `name`. */
  readonly audience?: string;
  /** Keys as for `createSagaHost`, or a function of the runtime's `env`, if keys are bindings (Cloudflare Workers). */
  readonly keys?: SagaHostOptions['keys'] | ((env: Env) => SagaHostOptions['keys']);
  /** Callers: who they are, and what they may do. */
  readonly auth?: ServeAuthOptions<Env>;
  /** The path, and the pages and hosts that are served. */
  readonly http?: HttpOptions;
  /** Returns the `context` of server steps. Default: the runtime's `env`. */
  readonly context?: (request: Request, env: Env) => unknown;
  /** Registers other tools, prompts, and resources on the `McpServer` of each request. Also called once at the start. */
  readonly extend?: (server: McpServer) => void;
}

const serveNames: NamesOf<ServeSagasOptions> = {
  ...hostNames,
  name: true,
  version: true,
  http: true,
  context: true,
  extend: true,
};
const serveAuthNames: NamesOf<ServeAuthOptions> = {
  ...authNames,
  authenticate: true,
  anonymous: true,
  oauth: true,
};
const httpNames: NamesOf<HttpOptions> = {
  path: true,
  allowedHosts: true,
  allowedOrigins: true,
  cors: true,
  handler: true,
};

/** Checks the options of a server, other than those of its host. Throws TypeError. */
export function assertServeOptions<Env>(options: ServeSagasOptions<Env>): void {
  assertKnownOptions(options, serveNames, { ...hostGroups, auth: serveAuthNames, http: httpNames });
  assertUsers(options);
  assertServed(options);
}

/** Without `principal` calls fail, and without `authenticate` users cannot be told apart: neither shows before a call. */
function assertUsers<Env>({ auth = {} }: ServeSagasOptions<Env>): void {
  const { authenticate, principal, anonymous, oauth } = auth;
  if (oauth !== undefined && authenticate === undefined)
    throw new TypeError('auth.oauth requires auth.authenticate, which checks the access tokens.');
  if (anonymous !== undefined && (anonymous !== 'accept' || authenticate === undefined))
    throw new TypeError("auth.anonymous: expected 'accept', beside authenticate, or undefined.");
  if (authenticate !== undefined && principal === undefined) {
    throw new TypeError(
      'auth.authenticate requires auth.principal: (authInfo) => ({ issuer, subject, client }), which names the owner of a ' +
        "saga; or 'client-only', if the users of one client application may continue the sagas of each other.",
    );
  }
  if (principal !== undefined && authenticate === undefined) {
    throw new TypeError(
      'auth.principal requires auth.authenticate: (request) => …, which checks the access token. Without it, any client ' +
        'with a token continues its saga.',
    );
  }
}

/** A path that no URL has would serve no client. The SDK checks the rest of its options with the first request it serves. */
function assertServed<Env>({ name, version, http = {} }: ServeSagasOptions<Env>): void {
  const { path = '/mcp', handler: { maxRequestBodySize = 1 } = {} } = http;
  if (typeof name !== 'string' || name === '' || typeof version !== 'string') {
    throw new TypeError("serveSagas needs a name and a version: name: 'deployer', version: '1.0.0'.");
  }
  if (typeof path !== 'string' || !/^\/[^?#]*$/.test(path)) {
    throw new TypeError("http.path: expected the path of a URL, which begins with a slash: '/mcp'.");
  }
  if (!(Number.isFinite(maxRequestBodySize) && maxRequestBodySize > 0))
    throw new RangeError('http.handler.maxRequestBodySize: expected a positive number of bytes.');
}
