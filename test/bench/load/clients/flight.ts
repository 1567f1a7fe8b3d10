/** One user of the tool: at any time a question of a call is open. */
export interface Flight {
  /**
   * Answers the question that is open, and waits for what comes next. Where that is the result, the next call begins
   * at once, so that a question is open again.
   */
  next(): Promise<Progress>;
}

/** What came of an answer. */
export interface Progress {
  /** How many requests it took. */
  readonly requests: number;
  /** What the tool said, where a call came to its end. */
  readonly told?: string;
}

/** Calls the tool, up to its first question. */
export type Board = (url: string) => Promise<Flight>;
