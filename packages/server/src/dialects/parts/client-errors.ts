/** JSON-RPC error of version 1 of the SDK for a request without a response in time. */
export const requestTimedOut = -32_001;

const connectionClosed = -32_000;

/**
 * Tells why a request to a client has no response; undefined for an error that the client sent.
 * Version 1 of the SDK has numbers for its own errors, version 2 has names.
 */
export function whyUnanswered(error: unknown): 'timed out' | 'disconnected' | undefined {
  const { code } = Object(error) as { readonly code?: unknown };
  if (code === requestTimedOut || code === 'REQUEST_TIMEOUT') return 'timed out';
  return typeof code !== 'number' || code === connectionClosed ? 'disconnected' : undefined;
}
