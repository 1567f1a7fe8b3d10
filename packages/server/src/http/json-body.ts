// Bytes. Far larger than a call with a token, and small for a process.
const longest = 1024 * 1024;

/** Request whose body may have been read. */
export interface ReadRequest {
  readonly request: Request;
  /** Parsed body. Absent: the body was not read. */
  readonly parsedBody?: unknown;
}

/**
 * Reads posted JSON if its declared length is within bounds: on Node, the SDK's stream takes a
 * fifth of a call. The SDK reads and rejects all other bodies.
 */
export async function readJson(request: Request, maxBytes: number = longest): Promise<ReadRequest> {
  const limit = Math.min(maxBytes, longest);
  const declared = request.headers.get('content-length') ?? '';
  const isBounded = /^[1-9]\d*$/.test(declared) && Number(declared) <= limit;
  if (request.method !== 'POST' || !isBounded) return { request };
  // Empty after the client disconnected, as the SDK reports.
  const text = await request.text().catch(() => '');
  try {
    // HTTP limits a body to its declared length. Behind other transports, the SDK counts again.
    if (text.length <= limit) return { request, parsedBody: JSON.parse(text) };
  } catch {
    // Not JSON.
  }
  const { url, method, headers, signal } = request;
  return { request: new Request(url, { method, headers, signal, body: text }) };
}
