/** What is wrong with a case. */
export interface Violation {
  readonly what: string;
  /** The line of a test that fails for it, about its `run`. */
  readonly expects: string;
}
