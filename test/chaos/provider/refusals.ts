import { hashOf } from '../seeded.ts';
import type { Kind } from './ledger.ts';

/** Whether a provider will not do something, whoever asks and how often: a parcel that is out of stock. */
export function isOutOfStock(kind: Kind, purchase: string): boolean {
  return kind === 'ship' && hashOf(`stock ${purchase}`) % 12 === 0;
}

/** Whether a provider will not undo something: a charge that was a final sale. It is residue, and has to be named. */
export function isFinalSale(kind: Kind, purchase: string): boolean {
  return kind === 'charge' && hashOf(`final ${purchase}`) % 12 === 0;
}
