import type { User } from '@mcp-saga/core';
import { isResponse, type Authenticated } from './serve-options.ts';

/** Sender of a request, or why there is none. No member: nobody was found. */
export interface Sender {
  readonly user?: User;
  /** Response of the function, such as a redirect to a login page. */
  readonly response?: Response;
  readonly refused?: RefusedToken;
}

/** Refusal of an access token: `status` and `WWW-Authenticate` of the response (RFC 6750). */
export interface RefusedToken {
  readonly status: 401 | 403;
  readonly challenge: string;
  /** Error by which `auth.authenticate` refused the token, for the operator. */
  readonly cause?: unknown;
}

/**
 * Calls `auth.authenticate`. Without types, it may return false or an empty string: a refusal, also
 * for a server that accepts anonymous callers.
 *
 * A function that checks a token may throw. A thrown response counts as a returned one, and an error
 * that says that the token is not good becomes a challenge, so that the client asks for a new token.
 * Throws any other error: the check itself failed.
 */
export async function senderOf(ask: () => Authenticated | Promise<Authenticated>): Promise<Sender> {
  try {
    const found = await ask();
    if (isResponse(found)) return { response: found };
    if (found === undefined || found === null) return {};
    return typeof found === 'object' ? { user: found } : { refused: nobody };
  } catch (error) {
    if (isResponse(error)) return { response: error };
    const refused = toRefusedToken(error);
    if (refused === undefined) throw error;
    return { refused: { ...refused, cause: error } };
  }
}

/** A request without a user. A 401 must name a scheme (RFC 9110, section 15.5.2). */
export const nobody: RefusedToken = { status: 401, challenge: 'Bearer' };

const refusals: Readonly<Record<string, RefusedToken>> = {
  invalid_token: { status: 401, challenge: 'Bearer error="invalid_token"' },
  insufficient_scope: { status: 403, challenge: 'Bearer error="insufficient_scope"' },
};

/**
 * Recognizes the errors of the MCP SDK (OAuth error codes), of jose (a token that is expired, or
 * whose signature or claims are wrong), and of HTTP libraries (`status`).
 *
 * Clients of other services throw errors with a status, too: if a provider refuses the credentials of
 * this server, the token of the caller may still be good. Such errors hold the request or response of
 * the provider. Errors of http-errors say by `expose` whether they are for the client.
 */
function toRefusedToken(error: unknown): RefusedToken | undefined {
  const fields = Object(error) as Record<string, unknown>;
  const { code, errorCode = code, status, expose = true, request, response } = fields;
  const name = String(errorCode);
  if (Object.hasOwn(refusals, name)) return refusals[name];
  if (/^ERR_(?:JW[TSE]_|JWKS_NO_MATCHING_KEY$)/.test(name)) return refusals['invalid_token'];
  if (expose !== true || request !== undefined || response !== undefined) return undefined;
  if (status === 401) return refusals['invalid_token'];
  return status === 403 ? refusals['insufficient_scope'] : undefined;
}

/** Makes the response to a request without a user, or with a bad token. */
export function unauthorized({ status, challenge }: RefusedToken): Response {
  const text =
    status === 401
      ? 'The server requires a valid access token.\n'
      : 'The access token does not allow this request.\n';
  return new Response(text, { status, headers: { 'www-authenticate': challenge } });
}

/** Time after which a client asks again if its token could not be checked, in seconds. */
const retryAfter = 5;

/** Makes the response to a request whose sender could not be checked. Says nothing of the reason. */
export function uncheckable(): Response {
  return new Response('The server could not check the access token. Try again later.\n', {
    status: 503,
    headers: { 'cache-control': 'no-store', 'retry-after': String(retryAfter) },
  });
}
