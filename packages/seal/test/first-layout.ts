import type { Binding, Claims } from '../src/index.ts';
import type { StoredStream } from '../src/token/layout.ts';

/** The claims of layout 1, which older releases write: a JSON array. */
export function encodeFirstClaims(
  claims: Claims,
  { purpose, audience, kid, sid }: Binding,
): string {
  const { method, entry, saga, principal, engine, turn, jti, born, iat, exp } = claims;
  const binding = [purpose, audience, kid, sid];
  const call = [method, entry.target, entry.argsDigest, saga.name, saga.version];
  return JSON.stringify([...binding, ...call, principal, engine, turn, jti, born, iat, exp]);
}

/** A plaintext of layout 1. */
export function packFirst(claims: string, streams: readonly StoredStream[] = []): Uint8Array {
  const text = Buffer.from(claims);
  const head = Buffer.alloc(6 + 8 * streams.length);
  head[0] = 1;
  head[1] = streams.length;
  head.writeUInt32BE(text.length, 2);
  for (const [index, { bytes, inflated }] of streams.entries()) {
    head.writeUInt32BE(bytes.length, 6 + 8 * index);
    head.writeUInt32BE(inflated, 10 + 8 * index);
  }
  const content = Buffer.concat([head, text, ...streams.map(({ bytes }) => bytes)]);
  return new Uint8Array(Buffer.concat([content, Buffer.alloc((64 - (content.length % 64)) % 64)]));
}
