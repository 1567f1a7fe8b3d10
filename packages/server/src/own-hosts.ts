const loopbackNames: readonly string[] = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The host names that a request may be sent to when its server names none; undefined for any.
 *
 * In an attack by DNS rebinding, a page that the user visits lets its own name resolve to the user's machine: its requests
 * then reach a server there, under the name of the page. Two kinds of request must name loopback therefore: those to a
 * server that listens on loopback, where the runtime tells; and those that a page of plain HTTP sends to its own name.
 *
 * @param env - what the runtime passed to `fetch` beside the request
 */
export function ownHosts(request: Request, env: unknown): readonly string[] | undefined {
  return listensOnLoopback(request, env) || isToOwnPage(request) ? loopbackNames : undefined;
}

interface Listener {
  address?(): unknown;
}

interface RuntimeRequest {
  /** What srvx adds to a request on Node and on Bun. */
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

/** The address of a server of Bun, which passes itself to `fetch` in the place of an `env`. */
function bunAddress(server: unknown): unknown {
  const { address, requestIP } = Object(server) as {
    readonly address?: unknown;
    readonly requestIP?: unknown;
  };
  return typeof requestIP === 'function' ? address : undefined;
}

/** `true` for a request of a page to its own origin. Rebinding needs a name, and TLS would fail for that name. */
function isToOwnPage({ headers }: Request): boolean {
  const origin = headers.get('origin') ?? '';
  if (!origin.startsWith('http://') || origin.slice('http://'.length) !== headers.get('host')) return false;
  return URL.canParse(origin) && !/^(\[|[\d.]+$)/.test(new URL(origin).hostname);
}
