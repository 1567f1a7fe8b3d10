/** Difference between the clocks of QStash and of this process, in seconds. */
const tolerance = 30;

/** Expected facts of a signature. */
export interface SignatureFacts {
  /** Destination of the request. */
  readonly url: string;
  /** Time, in milliseconds since the epoch. */
  readonly now: number;
}

/**
 * Verifies the `Upstash-Signature` of a request: a JWT with HS256, by one of the keys. Returns the
 * digest of the signed body. Returns undefined if the signature is not of QStash, for another URL,
 * or expired.
 * @see https://upstash.com/docs/qstash/features/security
 */
export async function verifySignature(
  jwt: string | null,
  keys: readonly string[],
  { url, now }: SignatureFacts,
): Promise<string | undefined> {
  const [header = '', payload = '', signature = '', ...more] = (jwt ?? '').split('.');
  if (more.length > 0) return undefined;
  const bytes = fromBase64url(signature);
  if (bytes === undefined) return undefined;
  const signed = new TextEncoder().encode(`${header}.${payload}`);
  const verified = await Promise.all(keys.map(async (key) => await isSignedBy(key, bytes, signed)));
  if (!verified.includes(true)) return undefined;
  const { iss, sub, exp, nbf, body } = Object(parse(payload)) as {
    readonly [claim: string]: unknown;
  };
  const seconds = now / 1_000;
  const isInTime =
    typeof exp === 'number' &&
    seconds < exp + tolerance &&
    typeof nbf === 'number' &&
    nbf - tolerance <= seconds;
  if (iss !== 'Upstash' || sub !== url || !isInTime || typeof body !== 'string') return undefined;
  return withoutPadding(body);
}

/** Returns the SHA-256 of a text, in base64url without padding. */
export async function digestOf(text: string): Promise<string> {
  const digest = new Uint8Array(
    await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)),
  );
  return withoutPadding(
    btoa(String.fromCharCode(...digest))
      .replaceAll('+', '-')
      .replaceAll('/', '_'),
  );
}

async function isSignedBy(
  key: string,
  signature: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  // HS256, whatever the header of the token says.
  const hmac = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey(
    'raw',
    new TextEncoder().encode(key),
    hmac,
    false,
    ['verify'],
  );
  return await crypto.subtle.verify('HMAC', imported, signature, signed);
}

function parse(part: string): unknown {
  const bytes = fromBase64url(part);
  try {
    return bytes === undefined ? undefined : JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

function fromBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
    return Uint8Array.from(binary, (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

function withoutPadding(text: string): string {
  return text.replace(/=+$/, '');
}
