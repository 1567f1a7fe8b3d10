import type { Kind } from './ledger.ts';

/**
 * Label of an effect in the texts that a client reads. The judge finds the effect in the ledger by
 * this label.
 */
export function labelOf(kind: Kind, purchase: string): string {
  return `${kind} ${purchase}`;
}

/** Label of all effects of a purchase: an interrupted turn may have run further than its retry. */
export function labelOfAll(purchase: string): string {
  return `turn ${purchase}`;
}

/**
 * Labels of undone or uncompensated steps. A step named `turn N` has no label: it stands for the
 * purchase in the other labels.
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
