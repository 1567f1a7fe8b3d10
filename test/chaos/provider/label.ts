import type { Kind } from './ledger.ts';

/** Names an effect in what a client reads. The judge finds it in the ledger by that name. */
export function labelOf(kind: Kind, purchase: string): string {
  return `${kind} ${purchase}`;
}

/** Names every effect of a purchase: an interrupted turn may have gone further than its retry. */
export function labelOfAll(purchase: string): string {
  return `turn ${purchase}`;
}

/**
 * The labels of undone or uncompensated steps. A step named `turn N` has none: it stands for the purchase that the other
 * labels name.
 *
 * @param saga - the purchase of the saga if no label names one
 */
export function labelsOf(
  steps: readonly { readonly stepId: string; readonly label?: string }[],
  saga: string,
): readonly string[] {
  const labels = steps.flatMap(({ label }) => label ?? []);
  const purchase = labels[0]?.split(' ')[1] ?? saga.replace(/^tickets:/, 'tour:');
  return steps.some(({ stepId }) => isTurn(stepId)) ? [...labels, labelOfAll(purchase)] : labels;
}

/** `true` if a step ID stands for an interrupted turn. */
export function isTurn(stepId: string): boolean {
  return /^turn \d+$/.test(stepId);
}
