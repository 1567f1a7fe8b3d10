import { optionError } from '@mcp-saga/core/shared';
import { hostOf, loopbackNames } from './allowed-hosts.ts';

/** What a server does with the pages of other origins. */
export interface Origins {
  /** `true` if a request may be served: it comes from no page, or from an allowed one. */
  isAllowed(request: Request): boolean;
  /**
   * `true` if the browser of the page gets the headers of CORS. Pages of the own host need none, and
   * no other page gets them unless it is listed.
   */
  isListed(request: Request): boolean;
}

/** Reads the option. Throws TypeError for an invalid entry. */
export function toOriginChecks(allowed: readonly string[] | undefined): Origins {
  const listed = toOrigins(allowed ?? []);
  const isListed = (request: Request): boolean => {
    const origin = request.headers.get('origin');
    return (
      origin !== null &&
      listed.some((one) => one === '*' || one === origin || isOnAnyPort(one, origin))
    );
  };
  return {
    isListed,
    isAllowed: (request) => {
      const origin = request.headers.get('origin');
      if (origin === null) return true;
      return allowed === undefined ? isOwn(origin, hostOf(request)) : isListed(request);
    },
  };
}

/** `true` for an origin of the host of `http://localhost:*`. */
function isOnAnyPort(listed: string, origin: string): boolean {
  return listed.endsWith(':*') && origin.replace(/:\d+$/, '') === listed.slice(0, -2);
}

/** `true` for a page of the server's own host. On loopback, pages of all local servers count. */
function isOwn(origin: string, host: string): boolean {
  if (!URL.canParse(origin) || !URL.canParse(`http://${host}`)) return false;
  const page = new URL(origin);
  const own = new URL(`${page.protocol}//${host}`);
  return (
    page.host === own.host || [page, own].every(({ hostname }) => loopbackNames.includes(hostname))
  );
}

function toOrigins(allowed: readonly string[]): readonly string[] {
  if (!Array.isArray(allowed)) throw optionError(`allowedOrigins: expected a list. ${forms}`);
  return allowed.map((given: unknown, index) => {
    const origin = String(given);
    const exact = origin.replace(/:\*$/, '');
    const known = URL.canParse(exact) ? new URL(exact).origin : '';
    const isOrigin = /^[a-z][a-z\d+.-]*:\/\/[^\s/*]+$/.test(exact);
    // `URL` has no origin for browser extensions.
    if (origin === '*' || (isOrigin && (known === exact || !/^https?:/.test(exact)))) return origin;
    const hint = /^https?:\/\//.test(known) ? `: did you mean '${known}'?` : '';
    throw optionError(`allowedOrigins[${index}]: not an origin${hint}. ${forms}`);
  });
}

const forms =
  "Write a scheme and a host: 'https://app.example', 'http://localhost:6274', 'http://localhost:*' for every port; or '*' for every page.";

const methods = 'GET, POST, DELETE, OPTIONS';

/** Responds to a CORS preflight request; undefined for other requests. */
export function preflightResponse({ method, headers }: Request): Response | undefined {
  if (method !== 'OPTIONS' || headers.get('access-control-request-method') === null)
    return undefined;
  // Echoed, because tools define `Mcp-Param-*` headers.
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

/** Adds the headers that allow the page of a request to read the response. */
export function readableBy({ headers: sent }: Request, response: Response): Response {
  const { status, statusText, body } = response;
  const headers = new Headers(response.headers);
  headers.append('vary', 'Origin');
  headers.set('access-control-allow-origin', sent.get('origin') ?? '');
  headers.set(
    'access-control-expose-headers',
    'www-authenticate, mcp-session-id, mcp-protocol-version',
  );
  return new Response(body, { status, statusText, headers });
}
