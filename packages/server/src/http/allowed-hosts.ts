import { optionError } from '@mcp-saga/core/shared';

interface AllowedHost {
  readonly hostname: string;
  /** Empty: every port. */
  readonly port: string;
}

// URLs and `Host` headers omit these.
const defaultPorts = ['80', '443'];

/**
 * Creates a check of the `Host` header, which returns the reason for a rejection. Throws TypeError
 * for an invalid entry.
 */
export function hostCheck(
  allowed: readonly string[] | undefined,
): (request: Request, env: unknown) => string | undefined {
  const own = allowed === undefined ? undefined : toAllowedHosts(allowed);
  // The last allowed host: nearly all requests name the same one.
  let latest: string | undefined;
  return (request, env) => {
    const hosts = own ?? ownHosts(request, env);
    if (hosts === undefined) return undefined;
    const host = hostOf(request);
    if (host === latest) return undefined;
    if (host === '') return 'The request has no Host header.';
    if (!URL.canParse(`http://${host}`)) return 'The Host header of the request is no host name.';
    const port = /:(\d+)$/.exec(host)?.[1] ?? '';
    const isSamePort = (entry: AllowedHost): boolean =>
      entry.port === '' ||
      entry.port === port ||
      (port === '' && defaultPorts.includes(entry.port));
    const { hostname: named } = new URL(`http://${host}`);
    const isAllowed = hosts.some((entry) => entry.hostname === named && isSamePort(entry));
    if (!isAllowed) {
      const neither = own === undefined ? 'neither localhost nor' : 'not';
      return `Host '${named}' is ${neither} in http.allowedHosts of the server.`;
    }
    latest = host;
    return undefined;
  };
}

function toAllowedHosts(allowed: readonly string[]): readonly AllowedHost[] {
  if (!Array.isArray(allowed) || allowed.length === 0)
    throw optionError(`http.allowedHosts: expected a list of at least one host. ${forms}`);
  return allowed.map((host: unknown, index) => {
    const name = typeof host === 'string' ? host.toLowerCase() : '';
    const url = `http://${name}`;
    const isHost = /^[^\s/?#@*\\]+$/.test(name) && URL.canParse(url) && !name.endsWith(':');
    const { hostname = '' } = isHost ? new URL(url) : {};
    // A URL rewrites some names, such as 127.1. Requests contain the rewritten form.
    if (!isHost || (name !== hostname && !name.startsWith(`${hostname}:`)))
      throw optionError(`http.allowedHosts[${index}]: not a host name${suggested(host)} ${forms}`);
    return { hostname, port: name.slice(hostname.length + 1) };
  });
}

const forms =
  "Write a host name, with or without a port: 'mcp.example', 'localhost:3000', '[::1]'.";

function suggested(host: unknown): string {
  if (typeof host !== 'string') return '.';
  const url = host.includes('://')
    ? host
    : host.includes(':')
      ? `http://[${host}]`
      : `http://${host}`;
  const meant = URL.canParse(url) ? new URL(url).host : '';
  return meant === '' || meant.includes('*') ? '.' : `: did you mean '${meant}'?`;
}

/** Host names of loopback. */
export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

const loopback: readonly AllowedHost[] = loopbackNames.map((hostname) => ({ hostname, port: '' }));

/**
 * Returns the allowed host names of a request by default; undefined for all.
 *
 * In DNS rebinding, a web page changes its own name to resolve to the user's machine. Requests of
 * the page then reach a local server under the name of the page. Two kinds of request must
 * therefore name loopback: requests to a server on loopback, if the runtime exposes the address;
 * and requests of a plain HTTP page to its own name.
 * @param env - second argument of `fetch`: on Bun, the server
 */
function ownHosts(request: Request, env: unknown): readonly AllowedHost[] | undefined {
  return listensOnLoopback(request, env) || isToOwnPage(request) ? loopback : undefined;
}

/**
 * Returns the host of a request, from the `Host` header, or from `:authority` of HTTP/2, which
 * servers copy to the URL.
 */
export function hostOf({ headers, url }: Request): string {
  return headers.get('host') ?? new URL(url).host;
}

interface RuntimeRequest {
  /** Added by srvx on Node and on Bun. */
  readonly runtime?: {
    readonly node?: { readonly req?: { readonly socket?: NodeSocket | null } };
    readonly bun?: { readonly server?: unknown };
  };
}

type NodeSocket = { readonly server?: { address?(): unknown } };

// Asking for the address takes a system call. A closed server has no address, but its connections
// stay open.
const local = new WeakMap<NodeSocket, boolean>();

function listensOnLoopback(request: Request, env: unknown): boolean {
  const { node, bun } = (request as RuntimeRequest).runtime ?? {};
  const socket = node?.req?.socket ?? undefined;
  if (socket === undefined)
    return isLoopback(bunAddress(bun?.server)) || isLoopback(bunAddress(env));
  const known = local.get(socket) ?? isLoopback(socket.server?.address?.());
  local.set(socket, known);
  return known;
}

function isLoopback(listening: unknown): boolean {
  const { address } = Object(listening) as { readonly address?: unknown };
  return typeof address === 'string' && /^(127\.|::1$|::ffff:127\.)/.test(address);
}

/** Returns the address of a Bun server. Its `hostname` is `localhost` for all addresses. */
function bunAddress(server: unknown): unknown {
  const { address, requestIP } = Object(server) as {
    readonly address?: unknown;
    readonly requestIP?: unknown;
  };
  return typeof requestIP === 'function' ? address : undefined;
}

/**
 * `true` if a page sends to its own plain HTTP origin. Rebinding needs a DNS name, and TLS fails
 * for that name.
 */
function isToOwnPage(request: Request): boolean {
  const origin = request.headers.get('origin') ?? '';
  if (!origin.startsWith('http://') || origin.slice('http://'.length) !== hostOf(request))
    return false;
  return URL.canParse(origin) && !/^(\[|[\d.]+$)/.test(new URL(origin).hostname);
}
