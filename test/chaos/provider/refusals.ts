import { hashOf } from '../seeded.ts';
import type { Kind } from './ledger.ts';

/** `true` if the provider refuses every attempt, such as for a parcel that is out of stock. */
export function isOutOfStock(kind: Kind, purchase: string): boolean {
  return kind === 'ship' && hashOf(`stock ${purchase}`) % 12 === 0;
}

/**
 * `true` if the provider refuses to undo a final sale. The step is then uncompensated, and must be
 * named.
 */
export function isFinalSale(kind: Kind, purchase: string): boolean {
  return kind === 'charge' && hashOf(`final ${purchase}`) % 12 === 0;
}
