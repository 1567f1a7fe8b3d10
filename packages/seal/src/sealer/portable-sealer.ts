import { chain } from '../model/maybe-promise.ts';
import { encodeClaims, type Purpose } from '../token/claims.ts';
import { TokenRefused } from '../model/errors.ts';
import { hmac, hmacPortable, nonceLength, takeNonce } from '../digest/hash.ts';
import { toHeader } from '../token/envelope.ts';
import { expandInput, secretInput } from '../keys/key-schedule.ts';
import {
  pack,
  deflatePortable,
  encodeStreams,
  inflatePortable,
  isDeflated,
  store,
} from '../token/layout.ts';
import type { Sealer } from './sealer.ts';
import {
  admit,
  assertSealable,
  assertTokenFits,
  findKey,
  nonceInput,
  type SealingKey,
  type Setup,
} from './sealer-setup.ts';

/**
 * Implementation with WebCrypto, jose, and the compression streams of the web platform. Loads jose
 * with the first token: the modules of jose take as long to load as this package, and a process
 * with the built-in crypto of Node never needs them.
 */
export function createPortableSealer(setup: Setup): Sealer {
  const { audience, codec, first, limits } = setup;
  const encoder = new TextEncoder();
  const utf8 = (text: string): Uint8Array => encoder.encode(text);

  return {
    newSagaId: () => codec.encode(setup.random(16)),

    deriveSecret: (name) =>
      chain(first.prk(), (prk) => hmac(prk, secretInput(audience, first.kid, name))),

    seal: async (purpose, sid, claims, streams) => {
      assertSealable(purpose, sid);
      const { kid } = first;
      const bytes = encodeClaims(claims, { purpose, audience, kid, sid });
      const encoded = encodeStreams(streams, utf8, limits);
      const stored = encoded.map(async (stream) =>
        store(stream, stream.compress ? await deflatePortable(stream.bytes) : undefined),
      );
      const plaintext = pack({ claims: bytes, streams: await Promise.all(stored) });
      assertTokenFits(plaintext.length, first.header.length, limits);
      const key = await tokenKey(first, purpose, sid);
      const input = nonceInput(purpose, plaintext);
      const nonce =
        input === undefined
          ? (takeNonce(claims.jti) ?? setup.random(nonceLength))
          : (await hmacPortable(key, input)).subarray(0, nonceLength);
      const { CompactEncrypt } = await import('jose/jwe/compact/encrypt');
      return new CompactEncrypt(plaintext)
        .setProtectedHeader({ ...toHeader(kid, sid) })
        .setInitializationVector(nonce)
        .encrypt(key);
    },

    open: async (token, expect) => {
      const envelope = setup.envelopes.read(token);
      const key = await tokenKey(
        findKey(setup, envelope, expect.purpose),
        expect.purpose,
        envelope.sid,
      );
      const { sealed, streams } = admit(setup, envelope, await decrypt(token, key), expect);
      const inflated: Uint8Array[] = [];
      // One after the other, to bound memory.
      for (const stream of streams) {
        inflated.push(isDeflated(stream) ? await inflatePortable(stream) : stream.bytes);
      }
      return { ...sealed, streams: inflated, stored: streams };
    },
  };

  async function tokenKey(
    { kid, prk }: SealingKey,
    purpose: Purpose,
    sid: string,
  ): Promise<Uint8Array> {
    return hmacPortable(await prk(), expandInput({ purpose, audience, kid, sid }));
  }
}

async function decrypt(token: string, key: Uint8Array): Promise<Uint8Array> {
  const { compactDecrypt } = await import('jose/jwe/compact/decrypt');
  try {
    const { plaintext } = await compactDecrypt(token, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      // The header has no `zip`.
      maxDecompressedLength: 0,
    });
    return plaintext;
  } catch {
    throw new TokenRefused('undecryptable');
  }
}
