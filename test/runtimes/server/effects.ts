/** Effect of a step or of an undo. */
export interface Effect {
  readonly what: string;
  readonly idempotencyKey: string;
}

/** Recorded effects and errors of calls, by the label of the call. */
export class Effects {
  readonly #byLabel = new Map<string, Effect[]>();

  note(label: string, what: string, idempotencyKey: string): void {
    this.#byLabel.set(label, [...this.of(label), { what, idempotencyKey }]);
  }

  of(label: string): readonly Effect[] {
    return this.#byLabel.get(label) ?? [];
  }
}
