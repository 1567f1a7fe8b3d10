import { hostOf, ownHosts } from './own-hosts.ts';

interface AllowedHost {
  readonly hostname: string;
  /** Empty: every port. */
  readonly port: string;
}

// A URL and a `Host` header leave them out.
const defaultPorts = ['80', '443'];

/** Creates a check of the `Host` header, which returns the reason for a refusal. Throws TypeError for an invalid entry. */
export function hostCheck(
  allowed: readonly string[] | undefined,
): (request: Request, env: unknown) => string | undefined {
  const own = allowed === undefined ? undefined : toAllowedHosts(allowed);
  return (request, env) => {
    const hosts = own ?? ownHosts(request, env)?.map((hostname) => ({ hostname, port: '' }));
    if (hosts === undefined) return undefined;
    const host = hostOf(request);
    if (host === '') return 'Missing Host header';
    if (!URL.canParse(`http://${host}`)) return `Invalid Host header: ${host}`;
    const port = /:(\d+)$/.exec(host)?.[1] ?? '';
    const isSamePort = (entry: AllowedHost): boolean =>
      entry.port === '' || entry.port === port || (port === '' && defaultPorts.includes(entry.port));
    const { hostname: named } = new URL(`http://${host}`);
    const isAllowed = hosts.some((entry) => entry.hostname === named && isSamePort(entry));
    return isAllowed ? undefined : `Invalid Host: ${named}`;
  };
}

function toAllowedHosts(allowed: readonly string[]): readonly AllowedHost[] {
  if (!Array.isArray(allowed) || allowed.length === 0)
    throw new TypeError(`allowedHosts: expected a list of at least one host. ${forms}`);
  return allowed.map((host: unknown, index) => {
    const name = typeof host === 'string' ? host.toLowerCase() : '';
    const url = `http://${name}`;
    const isHost = /^[^\s/?#@*\\]+$/.test(name) && URL.canParse(url) && !name.endsWith(':');
    const { hostname = '' } = isHost ? new URL(url) : {};
    // A URL rewrites some names, such as 127.1. Requests name the rewritten form.
    if (!isHost || (name !== hostname && !name.startsWith(`${hostname}:`)))
      throw new TypeError(`allowedHosts[${index}]: not a host name${suggested(host)}. ${forms}`);
    return { hostname, port: name.slice(hostname.length + 1) };
  });
}

const forms = "Write a host name, with or without a port: 'mcp.example', 'localhost:3000', '[::1]'.";

/** Suggests the closest host name for an entry. */
function suggested(host: unknown): string {
  if (typeof host !== 'string') return '';
  const url = host.includes('://') ? host : host.includes(':') ? `http://[${host}]` : `http://${host}`;
  const meant = URL.canParse(url) ? new URL(url).host : '';
  return meant === '' || meant.includes('*') ? '' : `: did you mean '${meant}'?`;
}
