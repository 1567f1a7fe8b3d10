import { optionError, type NamesOf } from '@mcp-saga/core/shared';
import { assertKnown } from '../settings/known-options.ts';
import { assertClock } from '../settings/clock.ts';

/** Options of {@link standardWebhook}. */
export interface StandardWebhookOptions {
  /** Returns the time, in milliseconds since the epoch. @default Date.now */
  readonly clock?: () => number;
}

const optionNames: NamesOf<StandardWebhookOptions> = { clock: true };

// The tolerance of the reference implementations.
const toleranceMs = 5 * 60_000;

/**
 * Makes a check of signatures by Standard Webhooks 1.0.0 (https://www.standardwebhooks.com), which
 * Svix, OpenAI, Supabase, and others send: HMAC-SHA256 of ID, time, and body, at most five minutes
 * old. Uses WebCrypto, and runs wherever a host runs.
 * @param secrets - a secret as `whsec_…` or base64; several while a secret is being rotated
 * @throws TypeError for a secret that is not base64, or has fewer than 24 bytes
 * @example
 * ```ts
 * const host = createSagaHost({
 *   sagas: [],
 *   name: 'shop',
 *   store: memoryStore(),
 *   url: 'https://shop.example',
 *   webhooks: { bank: standardWebhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw') },
 * });
 * ```
 */
export function standardWebhook(
  secrets: string | readonly string[],
  options: StandardWebhookOptions = {},
): (request: Request) => Promise<boolean> {
  assertKnown('standardWebhook', options, optionNames);
  const { clock = Date.now } = options;
  assertClock('standardWebhook.clock', clock);
  const keys = [secrets].flat().map(toKey);
  if (keys.length === 0) throw optionError('standardWebhook needs a secret.');
  return async (request) => {
    const id = request.headers.get('webhook-id');
    const timestamp = request.headers.get('webhook-timestamp') ?? '';
    const signatures = request.headers.get('webhook-signature') ?? '';
    if (id === null || !/^\d{1,12}$/.test(timestamp)) return false;
    if (Math.abs(clock() - Number(timestamp) * 1000) > toleranceMs) return false;
    const signed = new TextEncoder().encode(`${id}.${timestamp}.${await request.text()}`);
    const sent = signatures.split(' ').flatMap((signature) => {
      const [version, text = ''] = signature.split(',');
      return version === 'v1' ? (toBytes(text) ?? []) : [];
    });
    const checks = keys.flatMap((key) => sent.map((signature) => verify(key, signature, signed)));
    return (await Promise.all(checks)).includes(true);
  };
}

/** Compares in constant time. */
async function verify(
  key: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const imported = await crypto.subtle.importKey('raw', key, algorithm, false, ['verify']);
  return await crypto.subtle.verify('HMAC', imported, signature, signed);
}

function toKey(secret: string): Uint8Array<ArrayBuffer> {
  const key = typeof secret === 'string' ? toBytes(secret.replace(/^whsec_/, '')) : undefined;
  if (key === undefined || key.length < 24)
    throw optionError(
      'standardWebhook: expected a secret of at least 24 bytes in base64, such as whsec_….',
    );
  return key;
}

function toBytes(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
