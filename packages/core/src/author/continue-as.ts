import { command } from '../effects/make-command.ts';
import { AuthoringError } from '../values/errors.ts';
import type { Command } from '../model/command.ts';
import { isProgram, type Program } from '../model/program.ts';
import type { CallArguments } from './call.ts';
import type { Schema } from '../values/standard-schema.ts';

/**
 * Restarts the saga, or another saga, with new arguments and an empty journal. Keeps the token of a
 * looping saga small. The undo stack must be empty: undo the steps, or pass a pivot. A prompt
 * continues as a prompt, a resource as a resource.
 *
 * A saga with `reuse: 'ok'` fails if the other saga does not declare it: older tokens would start
 * the other saga again.
 * @throws AuthoringError (in the body) if a step is left to undo
 * @example
 * ```ts
 * const Page = z.object({ page: z.number() });
 * const report = saga({ name: 'report', version: '1', input: Page }, function* () {
 *   return 'Done';
 * });
 * function* next(page: number): Steps<void> {
 *   if (page < 100) yield* continueAs(report, { page: page + 1 });
 * }
 * ```
 */
export function continueAs<I extends Schema | undefined>(
  other: Program & { readonly input: I },
  args: CallArguments<I>,
): Command<never> {
  if (!isProgram(other))
    throw new AuthoringError('continueAs() needs a saga, as saga(…) returns it.', {
      anchor: 'arguments-of-commands',
    });
  return command<never>({ kind: 'continueAs', program: other, args: args ?? {} });
}
