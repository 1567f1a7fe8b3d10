import type { Kind } from './ledger.ts';

/** What names an effect in what a client reads: the judge finds it in the ledger by that. */
export function labelOf(kind: Kind, purchase: string): string {
  return `${kind} ${purchase}`;
}
