import type { Channel, Fields, Listener } from '../channel.ts';

export interface ToolCall {
  readonly name: string;
  readonly arguments: Fields;
  readonly _meta?: Fields;
}

/** Answers the server's questions. */
export interface Asked {
  answer(question: {
    readonly id?: string;
    readonly method: string;
    readonly params?: object;
  }): Promise<Fields>;
}

/** A client during a call, as used by a dialect. */
export interface Driving {
  readonly answerer: Asked;
  /** Sends a request, and repeats it after each cut. */
  send(method: string, params: Fields, listener?: Listener): Promise<Fields>;
  sendOnce: Channel['send'];
  /** Throws the error of a cut, unless the client tries again. */
  onCut(error: unknown): void;
  /** Stores a token, and returns the value that the client sends back. */
  holds(token: unknown): unknown;
  wait(ms: number): Promise<void>;
}

/** Drives a call until its result. */
export type Drive = (driving: Driving, call: ToolCall) => Promise<Fields>;

/** Error for a call that does not end. */
export function endless({ name }: ToolCall): Error {
  return new Error(`The call of '${name}' has not ended in ${maxRounds} rounds.`);
}

/** Maximum number of rounds of a call. */
export const maxRounds = 1_000;

/** MCP methods by step type. The saga methods and resume tokens use the step types. */
export const methods: { readonly [type: string]: string } = {
  elicitation: 'elicitation/create',
  sampling: 'sampling/createMessage',
  roots: 'roots/list',
};
