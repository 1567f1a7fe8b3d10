/** One thing that a step did, or that an undo did. */
export interface Effect {
  readonly what: string;
  readonly idempotencyKey: string;
}

/** What the steps of one call did, and why the host ended it, if it did: by the label the call was given. */
export class Effects {
  readonly #byLabel = new Map<string, Effect[]>();

  note(label: string, what: string, idempotencyKey: string): void {
    this.#byLabel.set(label, [...this.of(label), { what, idempotencyKey }]);
  }

  of(label: string): readonly Effect[] {
    return this.#byLabel.get(label) ?? [];
  }
}
