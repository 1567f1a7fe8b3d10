/**
 * Checks of HTTP before MCP: the options of a server, its allowed hosts and origins, the size of a
 * body, the user of a request, and the OAuth metadata. A request that fails a check has run
 * nothing, and its response names what to change.
 */
import { optionError, type NamesOf } from '@mcp-saga/core/shared';
import type { Awaitable, User } from '@mcp-saga/core';
import type { KeysOption } from '@mcp-saga/seal';
import type { CreateMcpHandlerOptions, McpServer } from '@modelcontextprotocol/server';
import type {
  AuthOptions,
  KeySource,
  SagaHostOptions,
  ServicesOption,
} from '../model/host-options.ts';
import {
  assertKnown,
  assertKnownOptions,
  authNames,
  hostGroups,
  hostNames,
} from '../settings/known-options.ts';
import type { ProtectedResourceOptions } from './protected-resource.ts';

/** Result of `auth.authenticate`: a user, a response that rejects the request, or nothing. */
export type Authenticated = (unknown extends User ? object : User) | Response | undefined | null;

/** Function that returns the keys of a server, a promise of them, or their source. */
export type KeysOfEnv<Env = never> = (env: Env) => Awaitable<KeysOption | undefined> | KeySource;

/**
 * `true` for a `Response` of any class with that name: servers for Node replace the global class.
 */
export function isResponse(value: unknown): value is Response {
  return value instanceof Response || Object.prototype.toString.call(value) === '[object Response]';
}

/** Options for callers of a server. `Env` is the type of the second argument of `fetch`. */
export interface ServeAuthOptions<Env = unknown> extends AuthOptions {
  /**
   * Authenticates a request. Returns a user, a `Response` that rejects the request, or nothing,
   * which causes a 401 unless `anonymous.calls` is set. Steps get the user as `user`. Its `issuer`,
   * `subject`, and `client` are the owner of the saga, unless `principal` makes another owner.
   */
  readonly authenticate?: (request: Request, env: Env) => Promise<Authenticated> | Authenticated;
  /**
   * OAuth metadata for clients, served at `/.well-known/oauth-protected-resource/mcp` (RFC 9728)
   * and named in each `Bearer` challenge. Requires `authenticate`.
   */
  readonly oauth?: ProtectedResourceOptions;
}

/** Options for HTTP. */
export interface HttpOptions {
  /** Path of the server. @default '/mcp' */
  readonly path?: string;
  /**
   * Allowed hosts in requests: `'mcp.example'` on every port, `'localhost:3000'` on one. Other
   * requests get a 403. Protects against DNS rebinding, which lets a web page reach a server on the
   * user's machine. Behind a proxy that forwards `Host`, list the names of the proxy.
   *
   * Default: `['localhost', '127.0.0.1', '[::1]']` for a server on loopback (detected on Node with
   * srvx, and on Bun if `fetch` gets the server), and for requests of a plain HTTP page to its own
   * name. Otherwise any host.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Allowed origins of web pages, such as `'https://app.example'`, or `'http://localhost:*'` on every
   * port; `'*'` for every page. Their browsers get the headers of CORS, and requests of other pages
   * get a 403. Requests without an `Origin` header do not come from a page, and are served.
   *
   * Default: pages of the server's own host; for a host on loopback, all pages on loopback. They get
   * no headers of CORS, so a page of another port can read nothing.
   */
  readonly allowedOrigins?: readonly string[];
  /** Options of the SDK's handler, such as body limits and the response mode. */
  readonly handler?: CreateMcpHandlerOptions;
}

/**
 * Options of `serveSagas`. `Env` is the type of the second argument of `fetch`, such as the
 * bindings of a Worker.
 */
export interface ServeSagasOptions<Env = unknown> extends Omit<
  SagaHostOptions,
  'auth' | 'keys' | 'services'
> {
  /** Version of the server, shown to clients. */
  readonly version: string;
  /**
   * Keys that seal and open tokens, as for `createSagaHost`, or a function of `env` for keys in
   * bindings (Cloudflare Workers). The first request calls the function. If the result is a
   * promise, the function is called again every five minutes.
   * @default process.env.SAGA_KEYS
   */
  readonly keys?: KeysOption | KeySource | KeysOfEnv<Env> | undefined;
  /**
   * Options for callers: identity, permissions, and rate limits. Default: anonymous callers may use
   * all sagas.
   */
  readonly auth?: ServeAuthOptions<Env>;
  /**
   * Services of the process, as for `createSagaHost`, or a function of `env`, such as the bindings
   * of a Worker. Each step receives them, whether a request, a queue, or an answer page runs it.
   */
  readonly services?: ServicesOption<Env>;
  /** Options for HTTP: path, allowed hosts and origins, CORS. */
  readonly http?: HttpOptions;
  /**
   * Registers other tools, prompts, and resources on the `McpServer` of each request. Also called
   * once at the start, to check it.
   */
  readonly extend?: (server: McpServer) => void;
}

const serveNames: NamesOf<ServeSagasOptions> = {
  ...hostNames,
  version: true,
  http: true,
  extend: true,
};
const serveAuthNames: NamesOf<ServeAuthOptions> = {
  ...authNames,
  authenticate: true,
  oauth: true,
};
const oauthNames: NamesOf<ProtectedResourceOptions> = {
  resource: true,
  issuer: true,
  scopes: true,
};
const httpNames: NamesOf<HttpOptions> = {
  path: true,
  allowedHosts: true,
  allowedOrigins: true,
  handler: true,
};

/** Checks the options of a server, except those of its host. Throws TypeError. */
export function assertServeOptions<Env>(options: ServeSagasOptions<Env>): void {
  assertKnownOptions(options, serveNames, { ...hostGroups, auth: serveAuthNames, http: httpNames });
  assertKnown('auth.oauth', options.auth?.oauth, oauthNames);
  assertUsers(options);
  assertServed(options);
}

/** Without `authenticate`, users cannot be told apart, which does not show before a call. */
function assertUsers<Env>({ auth = {}, anonymous }: ServeSagasOptions<Env>): void {
  const { authenticate, principal, oauth } = auth;
  if (oauth !== undefined && authenticate === undefined)
    throw optionError('auth.oauth requires auth.authenticate to check access tokens.', {
      code: 'missing_option',
    });
  if (anonymous?.calls !== undefined && authenticate === undefined)
    throw optionError('anonymous.calls: without auth.authenticate, all callers are anonymous.');
  if (principal !== undefined && authenticate === undefined) {
    throw optionError(
      'auth.principal requires auth.authenticate: (request) => …, to check the access token. Otherwise, any client ' +
        'with a token can continue the saga.',
      { code: 'missing_option' },
    );
  }
}

/** The SDK checks its other options with the first request that it serves. */
function assertServed<Env>({ name, version, http = {} }: ServeSagasOptions<Env>): void {
  const { path = '/mcp', handler: { maxRequestBodySize = 1 } = {} } = http;
  if (typeof name !== 'string' || name === '' || typeof version !== 'string') {
    throw optionError(
      "serveSagas needs a name and a version: name: 'deployer', version: '1.0.0'.",
      {
        code: name === undefined || version === undefined ? 'missing_option' : 'invalid_option',
      },
    );
  }
  if (typeof path !== 'string' || !/^\/[^?#]*$/.test(path)) {
    throw optionError("http.path: expected the path of a URL, which begins with a slash: '/mcp'.");
  }
  if (!(Number.isFinite(maxRequestBodySize) && maxRequestBodySize > 0))
    throw optionError('http.handler.maxRequestBodySize: expected a positive number of bytes.', {
      type: RangeError,
    });
}
