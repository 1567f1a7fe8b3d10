/** File of the editor. */
export interface SourceFile {
  readonly name: string;
  readonly text: string;
}

/** File as a CommonJS module, without types. */
export interface CompiledFile {
  readonly name: string;
  readonly code: string;
}

/** Example of the page. */
export interface Example {
  readonly name: string;
  readonly title: string;
  readonly files: readonly SourceFile[];
  /** Of the first example only, for a fast first run. */
  readonly compiled?: readonly CompiledFile[];
}

/** Answer of the client. Answers apply in order, each to the next question with the ID. */
export interface Given {
  readonly id: string;
  readonly action: 'accept' | 'decline' | 'cancel';
  /** Absent in a link without values: the engine answers in the simplest way. */
  readonly content?: unknown;
}

/** Answer of another person to an approval, or an event of another system. */
export interface OutsideAct {
  readonly id: string;
  readonly action: 'approve' | 'deny' | 'send';
  /** Subject of the person. Default: a new person. */
  readonly by?: string;
  /** Fields of the form, or the event. Absent: the initial content. */
  readonly content?: unknown;
}

/** Time that passes without an answer. */
export interface Wait {
  readonly action: 'wait';
  readonly ms: number;
}

/** Answer to a question, an approval, or an event. */
export type Answer = Given | OutsideAct;

/** Action of the person at the page. */
export type Act = Answer | Wait;

/** Client: complete, without a capability, or with an immediate decline of each question. */
export type ClientKind = 'complete' | 'declining' | 'no-elicitation' | 'no-sampling';

/** Fork: a token of another lane, used again with other answers. */
export interface Fork {
  /** Number of the lane, from 0. Lane 0 is the run itself. */
  readonly lane: number;
  /** Number of the token in the lane, from 0. */
  readonly point: number;
  readonly answers: readonly Act[];
}

/** All actions of a person. The engine derives all lanes from the source and the session. */
export interface Session {
  readonly answers: readonly Act[];
  readonly forks: readonly Fork[];
  /** Default: a complete client. */
  readonly client?: ClientKind;
  /** Stops the clock at each wait. */
  readonly isPaused?: boolean;
}
