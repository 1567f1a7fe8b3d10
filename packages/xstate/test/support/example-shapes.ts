import type { Provider } from '@mcp-saga/testing';
import { elicit, idempotencyKeyOf } from '@mcp-saga/xstate';
import { fromPromise, type AnyActorRef } from 'xstate';
import { z } from 'zod';

/** A promise of a machine that does what `tell` says, once for each key, and returns `result`. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- a long type of XState
export function work<Input, Result = undefined>(
  provider: Provider<string>,
  tell: (input: Input) => string,
  result: (input: Input) => Result,
) {
  return fromPromise(async ({ input, self }: { input: Input; self: AnyActorRef }) => {
    provider.do(idempotencyKeyOf(self), tell(input));
    return result(input);
  });
}

/** A promise of a machine that does `name`, whatever its input, and returns nothing. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- a long type of XState
export function act<Input = undefined>(provider: Provider<string>, name: string) {
  return work<Input>(
    provider,
    () => name,
    () => undefined,
  );
}

/** The value of a state, as text. */
export function stateOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface Choice<Event extends string> {
  readonly answer: { readonly event: Event };
  readonly send: (event: { readonly type: Event }) => void;
}

/** Entry of `asks` for a state that waits for events without data. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- a long type of XState
export function choose<const Event extends string>(...events: readonly Event[]) {
  return {
    ask: elicit({ message: 'What next?', schema: z.object({ event: z.enum(events) }) }),
    onAnswer: ({ answer, send }: Choice<Event>): void => send({ type: answer.event }),
  };
}

interface ChoiceOrEnd<Event extends string> {
  readonly answer: { readonly event?: Event | undefined };
  readonly send: (event: { readonly type: Event }) => void;
  readonly end: () => void;
}

/** Like `choose`, for a machine without an end: it ends if no event is chosen. */
// oxlint-disable-next-line typescript/explicit-module-boundary-types -- a long type of XState
export function chooseOrEnd<const Event extends string>(...events: readonly Event[]) {
  return {
    ask: elicit({ message: 'What next?', schema: z.object({ event: z.enum(events).optional() }) }),
    onAnswer: ({ answer: { event }, send, end }: ChoiceOrEnd<Event>): void =>
      event === undefined ? end() : send({ type: event }),
  };
}
