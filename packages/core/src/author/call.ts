import { AuthoringError } from '../values/errors.ts';
import { command } from '../effects/effect-of.ts';
import type { Command } from '../model/command.ts';
import { assertCallable, type BodyResult, type Saga } from './sagas/saga.ts';
import type { InferInput, Schema } from '../values/standard-schema.ts';

/** The arguments of a saga, before its schema has parsed them. */
export type CallArguments<I extends Schema | undefined> = I extends Schema
  ? InferInput<I>
  : Record<string, never> | undefined;

/**
 * Runs another saga as a part of this one, in a scope of its name: it shares the token, the journal and the undo
 * stack. Its arguments are parsed by its input schema once, and journalled.
 *
 * @throws StepError (in the body) with code 'invalid_input' when the arguments do not fit
 */
export function call<I extends Schema | undefined, O extends Schema | undefined>(
  other: Saga<I, O>,
  args: CallArguments<I>,
): Command<BodyResult<O>> {
  if (typeof (other as Partial<typeof other> | undefined)?.body !== 'function')
    throw new AuthoringError('call() needs a saga, as saga(…) returns it.');
  assertCallable(other.name);
  return command<BodyResult<O>>({
    kind: 'call',
    id: other.name,
    input: other.input,
    args: args ?? {},
    body: other.body,
  });
}
