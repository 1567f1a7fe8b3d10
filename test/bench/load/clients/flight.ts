/** One user of the tool, with a pending question at any time. */
export interface Flight {
  /**
   * Answers the pending question and waits for the response. If the response is the result, starts
   * the next call, so that a question is pending again.
   */
  next(): Promise<Progress>;
}

/** Outcome of an answer. */
export interface Progress {
  /** Milliseconds on the clock of each request that the answer took. */
  readonly latencies: readonly number[];
  /** Text of the tool's result, if the call has ended. */
  readonly told?: string;
}

/** Calls the tool, and stops at its first question. */
export type Board = (url: string) => Promise<Flight>;
