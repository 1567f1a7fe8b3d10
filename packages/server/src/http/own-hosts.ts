/** Host names of loopback. */
export const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * Default host names of a request; undefined for any.
 *
 * In DNS rebinding, a web page changes its own name to resolve to the user's machine. Requests of the page then reach a
 * local server under the name of the page. Two kinds of request must therefore name loopback: requests to a server on
 * loopback, if the runtime tells the address; and requests of a plain HTTP page to its own name.
 *
 * @param env - second argument of `fetch`: on Bun, the server
 */
export function ownHosts(request: Request, env: unknown): readonly string[] | undefined {
  return listensOnLoopback(request, env) || isToOwnPage(request) ? loopbackNames : undefined;
}

/** The host in the `Host` header of a request, or in `:authority` of HTTP/2, which servers put into the URL. */
export function hostOf({ headers, url }: Request): string {
  return headers.get('host') ?? new URL(url).host;
}

interface Listener {
  address?(): unknown;
}

interface RuntimeRequest {
  /** Added by srvx on Node and on Bun. */
  readonly runtime?: {
    readonly node?: { readonly req?: { readonly socket?: { readonly server?: Listener } } };
    readonly bun?: { readonly server?: unknown };
  };
}

function listensOnLoopback(request: Request, env: unknown): boolean {
  const { node, bun } = (request as RuntimeRequest).runtime ?? {};
  const addresses = [node?.req?.socket?.server?.address?.(), bunAddress(bun?.server), bunAddress(env)];
  return addresses.some((listening) => {
    const { address } = Object(listening) as { readonly address?: unknown };
    return typeof address === 'string' && /^(127\.|::1$|::ffff:127\.)/.test(address);
  });
}

/** The address of a Bun server. Its `hostname` is no help: it is `localhost` on all addresses. */
function bunAddress(server: unknown): unknown {
  const { address, requestIP } = Object(server) as {
    readonly address?: unknown;
    readonly requestIP?: unknown;
  };
  return typeof requestIP === 'function' ? address : undefined;
}

/** `true` if a page sends to its own plain HTTP origin. Rebinding needs a DNS name, and TLS fails for that name. */
function isToOwnPage(request: Request): boolean {
  const origin = request.headers.get('origin') ?? '';
  if (!origin.startsWith('http://') || origin.slice('http://'.length) !== hostOf(request)) return false;
  return URL.canParse(origin) && !/^(\[|[\d.]+$)/.test(new URL(origin).hostname);
}
