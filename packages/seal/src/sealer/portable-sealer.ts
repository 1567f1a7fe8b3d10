import { compactDecrypt } from 'jose/jwe/compact/decrypt';
import { CompactEncrypt } from 'jose/jwe/compact/encrypt';
import { encodeClaims, type Purpose } from '../token/claims.ts';
import { TokenRefused } from '../model/errors.ts';
import { hmacPortable } from '../digest/hash.ts';
import { toHeader } from '../token/envelope.ts';
import { expandInput } from '../keys/key-schedule.ts';
import {
  pack,
  unpack,
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
  type SealingKey,
  type Setup,
} from './sealer-setup.ts';

/** The implementation over WebCrypto, the web platform's compression streams and jose. */
export function createPortableSealer(setup: Setup): Sealer {
  const { audience, codec, first, limits } = setup;
  const encoder = new TextEncoder();
  const utf8 = (text: string): Uint8Array => encoder.encode(text);

  return {
    newSagaId: () => codec.encode(setup.random(16)),

    seal: async (purpose, sid, claims, streams) => {
      assertSealable(purpose, sid);
      const { kid } = first;
      const bytes = utf8(encodeClaims(claims, { purpose, audience, kid, sid }));
      const encoded = encodeStreams(streams, utf8, limits);
      const stored = encoded.map(async (stream) =>
        store(stream, stream.compress ? await deflatePortable(stream.bytes) : undefined),
      );
      const contents = { claims: bytes, streams: await Promise.all(stored) };
      assertTokenFits(contents, first.header.length, limits);
      const key = await tokenKey(first, purpose, sid);
      return new CompactEncrypt(pack(contents))
        .setProtectedHeader({ ...toHeader(kid, sid) })
        .setInitializationVector(setup.random(12))
        .encrypt(key);
    },

    open: async (token, expect) => {
      const envelope = setup.envelopes.read(token);
      const key = await tokenKey(findKey(setup, envelope, expect.purpose), expect.purpose, envelope.sid);
      const { claims, streams } = unpack(await decrypt(token, key), limits);
      // Claims first: what is expired or another's is not worth inflating.
      const sealed = admit(setup, envelope, new TextDecoder().decode(claims), expect);
      const inflated: Uint8Array[] = [];
      // One after the other, so that no two are in memory half inflated.
      for (const stream of streams) {
        inflated.push(isDeflated(stream) ? await inflatePortable(stream) : stream.bytes);
      }
      return { ...sealed, streams: inflated };
    },
  };

  async function tokenKey({ kid, prk }: SealingKey, purpose: Purpose, sid: string): Promise<Uint8Array> {
    return hmacPortable(await prk(), expandInput({ purpose, audience, kid, sid }));
  }
}

async function decrypt(token: string, key: Uint8Array): Promise<Uint8Array> {
  try {
    const { plaintext } = await compactDecrypt(token, key, {
      keyManagementAlgorithms: ['dir'],
      contentEncryptionAlgorithms: ['A256GCM'],
      // The header that was read has no `zip`; jose shall not inflate one either.
      maxDecompressedLength: 0,
    });
    return plaintext;
  } catch {
    throw new TokenRefused('undecryptable');
  }
}
