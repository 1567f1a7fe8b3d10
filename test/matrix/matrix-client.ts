import type { Answers, ToolCall } from './answers.ts';
import type { World } from './world.ts';

/** One combination of client, dialect, and transport that calls a saga. */
export interface MatrixClient {
  readonly name: string;
  /** Calls a tool, answers the questions, and returns the result. */
  call(world: World, call: ToolCall, answers: Answers): Promise<unknown>;
}
