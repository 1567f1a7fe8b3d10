import { localhostAllowedOrigins, validateOriginHeader } from '@modelcontextprotocol/server';
import { hostOf } from './own-hosts.ts';

/**
 * Makes the check of the web page that sends a request, which its browser names as `Origin`.
 *
 * @param allowed - `allowedOrigins` of the server
 * @returns `true` for a request of an allowed page, and for one that names no page
 * @throws TypeError for an entry that no browser names
 */
export function originCheck(allowed: readonly string[] | undefined): (request: Request) => boolean {
  const origins = allowed === undefined ? undefined : toOrigins(allowed);
  return (request) => {
    const origin = request.headers.get('origin');
    if (origin === null) return true;
    if (origins === undefined) return isOwn(origin, hostOf(request));
    return origins.includes('*') || origins.includes(origin);
  };
}

/** `true` for a page of the server itself. On the user's machine, other local servers count as the same. */
function isOwn(origin: string, host: string): boolean {
  if (!URL.canParse(origin) || !URL.canParse(`http://${host}`)) return false;
  const page = new URL(origin);
  const own = new URL(`${page.protocol}//${host}`);
  if (page.host === own.host) return true;
  const local = localhostAllowedOrigins();
  return local.includes(own.hostname) && validateOriginHeader(origin, local).ok;
}

function toOrigins(allowed: readonly string[]): readonly string[] {
  if (!Array.isArray(allowed)) throw new TypeError(`allowedOrigins: expected a list. ${forms}`);
  return allowed.map((given: unknown, index) => {
    const origin = String(given);
    const known = URL.canParse(origin) ? new URL(origin).origin : '';
    const isOrigin = /^[a-z][a-z\d+.-]*:\/\/[^\s/*]+$/.test(origin);
    // A URL knows no origins of browser extensions.
    if (origin === '*' || (isOrigin && (known === origin || !/^https?:/.test(origin)))) return origin;
    const hint = /^https?:\/\//.test(known) ? `: did you mean '${known}'?` : '';
    throw new TypeError(`allowedOrigins[${index}]: not an origin${hint}. ${forms}`);
  });
}

const forms =
  "Write it as browsers do, with its scheme and without a path: 'https://app.example', 'http://localhost:6274'; or '*' for every page.";

const methods = 'GET, POST, DELETE, OPTIONS';

/** The answer to the question of a browser whether a page may send a request; undefined for other requests. */
export function preflightResponse({ method, headers }: Request): Response | undefined {
  if (method !== 'OPTIONS' || headers.get('access-control-request-method') === null) return undefined;
  // Named by the page, since clients send headers that a tool names.
  const asked = headers.get('access-control-request-headers');
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods,
      'access-control-max-age': '600',
      ...(asked === null ? {} : { 'access-control-allow-headers': asked }),
    },
  });
}

/** A response that the page which sent the request may read. */
export function readableBy({ headers: sent }: Request, response: Response): Response {
  const { status, statusText, body } = response;
  const headers = new Headers(response.headers);
  headers.append('vary', 'Origin');
  const origin = sent.get('origin');
  if (origin !== null) {
    headers.set('access-control-allow-origin', origin);
    headers.set('access-control-expose-headers', 'www-authenticate, mcp-session-id, mcp-protocol-version');
  }
  return new Response(body, { status, statusText, headers });
}
