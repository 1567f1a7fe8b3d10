/**
 * A sealer turns claims and streams of bytes into a token, and a token back into them. Two
 * implementations write and read the same tokens: `fast-sealer.ts` with `node:crypto`, without a
 * promise, and `portable-sealer.ts` with WebCrypto. `sealer-setup.ts` holds what both share: the
 * derived keys, and the checks of an opened token.
 *
 * 1. The envelope is parsed without a key, and its text must be the one that this format writes.
 * 2. The key is derived from the ring by purpose, audience, key ID, and saga, so that a token of
 *    another kind or service does not decrypt.
 * 3. After decryption, claims are compared with what the caller expects: time first, then method,
 *    call, and principal.
 *
 * - Every refusal is a `TokenRefused` with one text. Its reason is for the operator, and never
 *   reaches a client.
 * - Nothing of a token is used before its tag has been verified.
 */
import { createNodeBase64Url, portableBase64Url } from '../platform/base64url.ts';
import { SealError } from '../model/errors.ts';
import { createFastSealer } from './fast-sealer.ts';
import { loadNode } from '../platform/node.ts';
import { createPortableSealer } from './portable-sealer.ts';
import type { Sealer, SealerOptions } from './sealer.ts';
import { prepareSetup } from './sealer-setup.ts';

/**
 * Creates the sealer of a service.
 * @throws SealError `unsupported` if the runtime does not support the `fast` implementation
 * @throws TypeError for a bad ring or audience, RangeError for a bad limit
 * @example
 * ```ts
 * const sealer = createSealer({ ring: createKeyRing(keys), audience: 'shop' });
 * const { claims } = await sealer.open(token, { purpose: 'token' });
 * console.log(claims.saga.name);
 * ```
 */
export function createSealer(options: SealerOptions): Sealer {
  const implementation = options.implementation ?? 'auto';
  const node = implementation === 'portable' ? undefined : loadNode();
  if (node !== undefined)
    return createFastSealer(prepareSetup(options, createNodeBase64Url(node)), node);
  if (implementation === 'fast') {
    throw new SealError(
      'unsupported',
      'The fast implementation needs node:crypto and process.getBuiltinModule',
    );
  }
  return createPortableSealer(prepareSetup(options, portableBase64Url));
}
