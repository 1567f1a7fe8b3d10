export type SourceFile = Readonly<Record<'name' | 'text', string>>;

/** File as a CommonJS module, without types. */
export type CompiledFile = Readonly<Record<'name' | 'code', string>>;

/** Saga or script that `mcp-saga dev` has loaded. */
export interface LoadedCode {
  /** Name of the saga, or of the exported script. */
  readonly name: string;
  /** Number of reloads before. */
  readonly version: number;
  /** Arguments of a saga, as JSON. A script has its own. */
  readonly input?: string;
}

/** Code to run: the files of the editor, or code on a disk. */
export type Code = readonly CompiledFile[] | LoadedCode;

/** Whole lines of a file, between the lines before and after them. */
export type Removable = Readonly<Record<'file' | 'before' | 'removed' | 'after', string>>;

/** Example of the page; of `mcp-saga dev`, a saga or a script. */
export interface Example {
  readonly name: string;
  readonly title: string;
  /** Heading of its part of the list. */
  readonly group?: string;
  readonly files: readonly SourceFile[];
  /** Present if the code runs without a compiler in the page. */
  readonly compiled?: Code;
  /** Lines that the demo removes, to break the saga. */
  readonly removable?: Removable;
  /** Initial arguments of a saga without a script, as JSON. */
  readonly input?: string;
}

/** Code that `mcp-saga dev` serves. `problem`: why a newer version is not served. */
export type Sources = Readonly<{ version: number; examples: readonly Example[]; problem?: string }>;

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

export type Answer = Given | OutsideAct;
export type Act = Answer | { readonly action: 'wait'; readonly ms: number };

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
  readonly isPaused?: boolean;
  readonly input?: string;
}
