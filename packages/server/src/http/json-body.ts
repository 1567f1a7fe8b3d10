// Far more than a call with a token takes, and nothing that a process would feel.
const longest = 1024 * 1024;

/** A request whose body may have been read. */
export interface ReadRequest {
  readonly request: Request;
  /** The body; left out where it is still to be read. */
  readonly parsedBody?: unknown;
}

/**
 * Reads the JSON that is posted in one go, where its declared length is within bounds. The SDK copies a request, and
 * reads it as a stream to count its bytes: on Node that is a fifth of what a call costs.
 *
 * What has no length, what is too long and what is no JSON is left to the SDK, which knows how to refuse it.
 *
 * @param maxBytes - the longest body that is served; no more than 1 MiB is read here
 */
export async function readJson(request: Request, maxBytes: number = longest): Promise<ReadRequest> {
  const limit = Math.min(maxBytes, longest);
  const declared = request.headers.get('content-length') ?? '';
  const isBounded = /^[1-9]\d*$/.test(declared) && Number(declared) <= limit;
  if (request.method !== 'POST' || !isBounded) return { request };
  const text = await textOf(request);
  try {
    // HTTP holds a body to its length. Where something else hands on requests, the SDK counts again.
    if (text.length <= limit) return { request, parsedBody: JSON.parse(text) };
  } catch {
    // No JSON.
  }
  const { url, method, headers, signal } = request;
  return { request: new Request(url, { method, headers, signal, body: text }) };
}

async function textOf(request: Request): Promise<string> {
  try {
    return await request.text();
  } catch {
    // Its client is gone in the middle of it. Who still listens is told that there was nothing to parse.
    return '';
  }
}
