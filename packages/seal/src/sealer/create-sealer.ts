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
