import type { MaybePromise } from '../model/maybe-promise.ts';
import { encodeClaims, type Purpose } from '../token/claims.ts';
import { TokenRefused } from '../model/errors.ts';
import type { Envelope } from '../token/envelope.ts';
import { expandInput } from '../keys/key-schedule.ts';
import {
  pack,
  unpack,
  type StoredStream,
  encodeStreams,
  inflateSync,
  isDeflated,
  store,
} from '../token/layout.ts';
import { prefersKeyObjects, type NodeBuiltins, type NodeKey } from '../platform/node.ts';
import type { Sealer } from './sealer.ts';
import {
  admit,
  assertSealable,
  assertTokenFits,
  findKey,
  type SealingKey,
  type Setup,
} from './sealer-setup.ts';

const gcm = { authTagLength: 16 } as const;

/** The synchronous implementation, over `node:crypto` and `node:zlib`. */
export function createFastSealer(setup: Setup, node: NodeBuiltins): Sealer {
  const { audience, codec, first, limits } = setup;
  const { Buffer, crypto, zlib } = node;
  const utf8 = (text: string): Uint8Array => Buffer.from(text, 'utf8');
  const tokenKey = createKeyDerivation(setup, node);

  return {
    newSagaId: () => codec.encode(setup.random(16)),

    seal: (purpose, sid, claims, streams) => {
      assertSealable(purpose, sid);
      const { kid } = first;
      const contents = {
        claims: utf8(encodeClaims(claims, { purpose, audience, kid, sid })),
        streams: encodeStreams(streams, utf8, limits).map((stream) =>
          store(stream, stream.compress ? zlib.deflateRawSync(stream.bytes) : undefined),
        ),
      };
      assertTokenFits(contents, first.header.length, limits);
      const header = first.header.write(sid);
      const nonce = setup.random(12);
      const cipher = crypto.createCipheriv('aes-256-gcm', tokenKey(first, purpose, sid), nonce, gcm);
      cipher.setAAD(Buffer.from(header, 'latin1'));
      const ciphertext = cipher.update(pack(contents));
      cipher.final();
      return `${header}..${codec.encode(nonce)}.${codec.encode(ciphertext)}.${codec.encode(cipher.getAuthTag())}`;
    },

    open: (token, expect) => {
      const envelope = setup.envelopes.read(token);
      const key = tokenKey(findKey(setup, envelope, expect.purpose), expect.purpose, envelope.sid);
      const { claims, streams } = unpack(decrypt(key, envelope), limits);
      const text = Buffer.from(claims.buffer, claims.byteOffset, claims.length).toString('utf8');
      // Claims first: what is expired or another's is not worth inflating.
      const sealed = admit(setup, envelope, text, expect);
      // Member by member: a spread takes 2 us, as much as the HMAC of the key.
      const { purpose, audience: service, kid, sid } = sealed;
      return { claims: sealed.claims, purpose, audience: service, kid, sid, streams: streams.map(inflate) };
    },
  };

  function decrypt(key: NodeKey | Uint8Array, { header, nonce, ciphertext, tag }: Envelope): Uint8Array {
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

  function inflate(stream: StoredStream): Uint8Array {
    return isDeflated(stream) ? inflateSync(zlib, stream) : stream.bytes;
  }
}

// A turn opens one token of a saga and seals the next: with its key kept, one HMAC instead of two.
const keptKeys = 64;

/** HKDF-Expand for one token. The keys of the ring are Node's own objects: some releases take longer with bytes. */
function createKeyDerivation(
  { audience, keys }: Setup,
  { crypto }: NodeBuiltins,
): (key: SealingKey, purpose: Purpose, sid: string) => NodeKey | Uint8Array {
  const asObjects = prefersKeyObjects();
  const prks = new Map(Array.from(keys, ([kid, { prk }]) => [kid, crypto.createSecretKey(atOnce(prk()))]));
  const kept = new Map<string, NodeKey | Uint8Array>();
  const toInput = createExpandInput(audience);
  return ({ kid }, purpose, sid) => {
    // Neither a purpose nor the id of a saga has a space in it.
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
  if (prk instanceof Promise)
    throw new TypeError('The ring of keys was made where node:crypto was not at hand');
  return prk;
}

/** `expandInput`, where all but the saga id is written once for each purpose and key. The result is used at once. */
function createExpandInput(audience: string): (purpose: Purpose, kid: string, sid: string) => Uint8Array {
  const inputs = new Map<string, Uint8Array>();
  return (purpose, kid, sid) => {
    const name = `${purpose} ${kid}`;
    let input = inputs.get(name);
    if (input === undefined) inputs.set(name, (input = expandInput({ purpose, audience, kid, sid })));
    // The saga id is the last text, one byte before the end; it is ASCII and always of one length.
    const start = input.length - 1 - sid.length;
    for (let index = 0; index < sid.length; index += 1) input[start + index] = sid.charCodeAt(index);
    return input;
  };
}
