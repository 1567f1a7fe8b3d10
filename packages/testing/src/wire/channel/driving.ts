import { SagaTestError } from '../../values/errors.ts';
import type { Channel, Fields, Listener } from './channel.ts';
import type { Answerer } from './wire-answers.ts';

/** A call of a tool. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Fields;
}

/** One client at work: what a dialect needs to see a call through. */
export interface Driving {
  readonly answerer: Pick<Answerer, 'answer'>;
  /** Sends a request; where the connection is cut, again, until there is an answer. */
  send(method: string, params: Fields, listener?: Listener): Promise<Fields>;
  /** Sends a request once. */
  sendOnce: Channel['send'];
  /** What the client does when the connection was cut: throws, where it does not try again. */
  onCut(error: unknown): void;
  /** A token came; gives what the client sends back. */
  holds(token: unknown): unknown;
  /** Lets time pass. */
  wait(ms: number): Promise<void>;
}

/** Sees a call through to its result. */
export type Drive = (driving: Driving, call: ToolCall) => Promise<Fields>;

/** The error for a call that does not end. */
export function endless({ name }: ToolCall): SagaTestError {
  return new SagaTestError('script', `The call of '${name}' has not ended in ${maxRounds} rounds.`);
}

/** How many rounds a call may take. */
export const maxRounds = 1_000;
