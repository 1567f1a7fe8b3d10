/** What the code of a step is given. */
export interface StepGiven {
  /** Whatever the host's caller passes to server steps. */
  readonly context: unknown;
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
  /** The step's `input`. */
  readonly input?: unknown;
  /** Not there for a poll, which changes nothing, nor for a promise, which has none. */
  readonly idempotencyKey?: string;
  /** Of an undo: the idempotency key of the step it undoes. */
  readonly stepKey?: string;
}

/** One call of an author's code. */
export interface StepCall {
  /** `fallback`: what answers a question in the client's stead. `promise`: a plain promise that a machine invokes. */
  readonly kind: 'step' | 'poll' | 'fallback' | 'promise';
  readonly path: string;
  /** Of an undo: the path of the step it undoes, and behind it, where it has steps of its own, their path. */
  readonly undoes: string | undefined;
  readonly step: StepGiven;
  /** The author's code. */
  readonly run: (step: StepGiven) => unknown;
}
