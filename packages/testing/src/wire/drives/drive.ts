import { SagaTestError } from '../../values/errors.ts';
import type { Channel, Fields, Listener } from '../channel/channel.ts';
import type { Answerer } from '../channel/wire-answers.ts';

export interface ToolCall {
  readonly name: string;
  readonly arguments: Fields;
}

/** A client in a call, as a dialect uses it. */
export interface Driving {
  readonly answerer: Pick<Answerer, 'answer'>;
  /** Sends a request, again after each cut. */
  send(method: string, params: Fields, listener?: Listener): Promise<Fields>;
  sendOnce: Channel['send'];
  /** Throws the error of a cut, unless the client tries again. */
  onCut(error: unknown): void;
  /** Stores a token, and returns what the client sends back. */
  holds(token: unknown): unknown;
  wait(ms: number): Promise<void>;
}

/** Drives a call to its result. */
export type Drive = (driving: Driving, call: ToolCall) => Promise<Fields>;

/** Error for a call that does not end. */
export function endless({ name }: ToolCall): SagaTestError {
  return new SagaTestError('script', `The call of '${name}' has not ended in ${maxRounds} rounds.`);
}

/** Maximum number of rounds of a call. */
export const maxRounds = 1_000;
