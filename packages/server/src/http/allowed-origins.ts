import { optionError } from '@mcp-saga/core/shared';
import { hostOf, loopbackNames } from './allowed-hosts.ts';

/** Creates a check of the `Origin` header. Throws TypeError for an invalid entry. */
export function originCheck(allowed: readonly string[] | undefined): (request: Request) => boolean {
  const origins = allowed === undefined ? undefined : toOrigins(allowed);
  return (request) => {
    const origin = request.headers.get('origin');
    if (origin === null) return true;
    if (origins === undefined) return isOwn(origin, hostOf(request));
    return origins.includes('*') || origins.includes(origin);
  };
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
    const known = URL.canParse(origin) ? new URL(origin).origin : '';
    const isOrigin = /^[a-z][a-z\d+.-]*:\/\/[^\s/*]+$/.test(origin);
    // `URL` has no origin for browser extensions.
    if (origin === '*' || (isOrigin && (known === origin || !/^https?:/.test(origin))))
      return origin;
    const hint = /^https?:\/\//.test(known) ? `: did you mean '${known}'?` : '';
    throw optionError(`allowedOrigins[${index}]: not an origin${hint}. ${forms}`);
  });
}

const forms =
  "Write a scheme and a host: 'https://app.example', 'http://localhost:6274'; or '*' for every page.";

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
  const origin = sent.get('origin');
  if (origin === null) return response;
  const { status, statusText, body } = response;
  const headers = new Headers(response.headers);
  headers.append('vary', 'Origin');
  headers.set('access-control-allow-origin', origin);
  headers.set(
    'access-control-expose-headers',
    'www-authenticate, mcp-session-id, mcp-protocol-version',
  );
  return new Response(body, { status, statusText, headers });
}
