import { AuthoringError } from '../values/errors.ts';
import { command } from '../effects/make-command.ts';
import type { Command, GuardedCommand } from '../model/command.ts';
import type { IsGuarded } from './checks/yielded-commands.ts';
import type { BodyResult, Saga } from './sagas/saga.ts';
import { assertStepId } from '../values/path.ts';
import type { InferInput, Schema } from '../values/standard-schema.ts';

/** Arguments of a saga, before its schema parses them. */
export type CallArguments<I extends Schema | undefined> = I extends Schema
  ? InferInput<I>
  : Record<string, never> | undefined;

/**
 * Runs another saga inside the calling saga, in a scope named after the other saga. Both share the
 * token, the journal, and the undo stack. The input schema of the other saga parses the arguments
 * once, and the journal records the parsed arguments. `answeredBy` of the other saga holds for its
 * questions, and `reuse` of the calling saga for both.
 * @throws StepError (in the body) with code `invalid_input` if the arguments are invalid
 * @example
 * ```ts
 * const Trip = z.object({ city: z.string() });
 * const book = saga({ name: 'book', version: '1', input: Trip }, function* ({ city }) {
 *   return yield* step('book', async (): Promise<string> => api.book(city));
 * });
 * function* plan(): Steps<void> {
 *   yield* call(book, { city: 'Oslo' });
 * }
 * ```
 */
export function call<
  I extends Schema | undefined,
  O extends Schema | undefined,
  R extends BodyResult<O>,
  S,
>(
  other: Saga<I, O, R> & S,
  args: CallArguments<I>,
): IsGuarded<S> extends true ? GuardedCommand<R> : Command<R> {
  if (typeof (other as Partial<typeof other> | undefined)?.body !== 'function')
    throw new AuthoringError('call() needs a saga, as saga(…) returns it.', {
      anchor: 'arguments-of-commands',
    });
  assertStepId(other.name);
  const issued = command<R>({
    kind: 'call',
    id: other.name,
    input: other.input,
    args: args ?? {},
    answeredBy: other.answeredBy,
    body: other.body,
  });
  // oxlint-disable-next-line typescript/no-unnecessary-type-assertion -- the condition is not decided here
  return issued as IsGuarded<S> extends true ? GuardedCommand<R> : Command<R>;
}
