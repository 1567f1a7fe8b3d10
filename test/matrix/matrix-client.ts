import type { Answers, ToolCall } from './answers.ts';
import type { World } from './world.ts';

/** One way to call a saga: a client, a dialect, a transport. */
export interface MatrixClient {
  readonly name: string;
  /** Calls a tool, answers what it asks, and gives its result. */
  call(world: World, call: ToolCall, answers: Answers): Promise<unknown>;
}
