import { optionError } from '../model/option-error.ts';
import { chain, type MaybePromise } from '../model/maybe-promise.ts';
import { encodeClaims, type Purpose } from '../token/claims.ts';
import { TokenRefused } from '../model/errors.ts';
import { hmac, nonceLength, takeNonce } from '../digest/hash.ts';
import type { Envelope } from '../token/envelope.ts';
import { expandInput, secretInput } from '../keys/key-schedule.ts';
import {
  pack,
  type StoredStream,
  encodeStreams,
  inflateSync,
  isDeflated,
  store,
} from '../token/layout.ts';
import { prefersKeyObjects, type NodeBuiltins, type NodeKey } from '../platform/node.ts';
import { createGrownDeflate } from './deflate-grown.ts';
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

const gcm = { authTagLength: 16 } as const;

/** Synchronous implementation with `node:crypto` and `node:zlib`. */
export function createFastSealer(setup: Setup, node: NodeBuiltins): Sealer {
  const { audience, codec, first, limits } = setup;
  const { Buffer, crypto, zlib } = node;
  const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');
  const tokenKey = createKeyDerivation(setup, node);
  const grown = new WeakMap<object, (bytes: Uint8Array) => Uint8Array>();

  return {
    newSagaId: () => codec.encode(setup.random(16)),

    deriveSecret: (name) =>
      chain(first.prk(), (prk) => hmac(prk, secretInput(audience, first.kid, name))),

    seal: (purpose, sid, claims, streams) => {
      assertSealable(purpose, sid);
      const { kid } = first;
      const plaintext = pack({
        claims: encodeClaims(claims, { purpose, audience, kid, sid }),
        streams: encodeStreams(streams, utf8, limits).map((stream, at) =>
          store(stream, stream.compress ? deflate(stream.bytes, streams[at]?.grows) : undefined),
        ),
      });
      assertTokenFits(plaintext.length, first.header.length, limits);
      const header = first.header.write(sid);
      const key = tokenKey(first, purpose, sid);
      const input = nonceInput(purpose, plaintext);
      const nonce =
        input === undefined
          ? (takeNonce(claims.jti) ?? setup.random(nonceLength))
          : crypto.createHmac('sha256', key).update(input).digest().subarray(0, nonceLength);
      const cipher = crypto.createCipheriv('aes-256-gcm', key, nonce, gcm);
      cipher.setAAD(Buffer.from(header, 'latin1'));
      const ciphertext = cipher.update(plaintext);
      cipher.final();
      return `${header}..${codec.encode(nonce)}.${codec.encode(ciphertext)}.${codec.encode(cipher.getAuthTag())}`;
    },

    open: (token, expect) => {
      const envelope = setup.envelopes.read(token);
      const key = tokenKey(findKey(setup, envelope, expect.purpose), expect.purpose, envelope.sid);
      const { sealed, streams: stored } = admit(setup, envelope, decrypt(key, envelope), expect);
      // A spread takes 2 us, as long as the HMAC of the key.
      const { claims, purpose, kid, sid } = sealed;
      return {
        claims,
        purpose,
        audience: sealed.audience,
        kid,
        sid,
        streams: stored.map(inflate),
        stored,
      };
    },
  };

  function decrypt(
    key: NodeKey | Uint8Array,
    { header, nonce, ciphertext, tag }: Envelope,
  ): Uint8Array {
    try {
      const decipher = crypto.createDecipheriv('aes-256-gcm', key, nonce, gcm);
      decipher.setAAD(Buffer.from(header, 'latin1'));
      decipher.setAuthTag(tag);
      const plaintext = decipher.update(ciphertext);
      decipher.final();
      return new Uint8Array(plaintext.buffer, plaintext.byteOffset, plaintext.length);
    } catch {
      throw new TokenRefused('undecryptable');
    }
  }

  function deflate(bytes: Uint8Array, grows: object | undefined): Uint8Array {
    if (grows === undefined) return zlib.deflateRawSync(bytes);
    let known = grown.get(grows);
    if (known === undefined) grown.set(grows, (known = createGrownDeflate(node)));
    return known(bytes);
  }

  function inflate(stream: StoredStream): Uint8Array {
    return isDeflated(stream) ? inflateSync(zlib, stream) : stream.bytes;
  }
}

// Maximum number of derived keys, one for each saga: a turn opens a token and seals the next with
// the same key.
const keptKeys = 1000;

/**
 * Derives token keys by HKDF-Expand. Key objects hold the keys of the ring: some releases of Node
 * take longer with bytes.
 */
function createKeyDerivation(
  { audience, keys }: Setup,
  { crypto }: NodeBuiltins,
): (key: SealingKey, purpose: Purpose, sid: string) => NodeKey | Uint8Array {
  const asObjects = prefersKeyObjects();
  const prks = new Map(
    Array.from(keys, ([kid, { prk }]) => [kid, crypto.createSecretKey(atOnce(prk()))]),
  );
  const kept = new Map<string, NodeKey | Uint8Array>();
  const toInput = createExpandInput(audience);
  return ({ kid }, purpose, sid) => {
    // Purposes and saga IDs contain no space.
    const name = `${purpose} ${sid} ${kid}`;
    const known = kept.get(name);
    if (known !== undefined) return known;
    const prk = prks.get(kid);
    if (prk === undefined) throw new TokenRefused('unknown_key');
    const bytes = crypto
      .createHmac('sha256', prk)
      .update(toInput(purpose, kid, sid))
      .digest();
    const key = asObjects ? crypto.createSecretKey(bytes) : bytes;
    if (kept.size >= keptKeys) kept.clear();
    kept.set(name, key);
    return key;
  };
}

function atOnce(prk: MaybePromise<Uint8Array>): Uint8Array {
  if (prk instanceof Promise) throw optionError('The key ring was made without node:crypto');
  return prk;
}

/** `expandInput` with one buffer for each purpose and key, into which the saga ID is written. */
function createExpandInput(
  audience: string,
): (purpose: Purpose, kid: string, sid: string) => Uint8Array {
  const inputs = new Map<string, Uint8Array>();
  return (purpose, kid, sid) => {
    const name = `${purpose} ${kid}`;
    let input = inputs.get(name);
    if (input === undefined)
      inputs.set(name, (input = expandInput({ purpose, audience, kid, sid })));
    // The saga ID is the last text, one byte before the end, in ASCII, and has a fixed length.
    const start = input.length - 1 - sid.length;
    for (let index = 0; index < sid.length; index += 1)
      input[start + index] = sid.charCodeAt(index);
    return input;
  };
}
