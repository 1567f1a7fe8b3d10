import { command } from '../effects/effect-of.ts';
import { AuthoringError } from '../values/errors.ts';
import type { Command } from '../model/command.ts';
import type { Program } from '../model/program.ts';
import type { CallArguments } from './call.ts';
import type { Schema } from '../values/standard-schema.ts';

/**
 * Starts over as another saga, or as this one, with new arguments and an empty journal: how a saga that loops keeps a
 * small token. What stands on the undo stack would be lost, so it throws unless the stack is empty: undo it, or pivot.
 * A prompt goes on as a prompt, a resource as a resource. A saga with `forks: 'accept'` cannot go on as one with `forks: 'refuse'`,
 * which its older tokens would begin again: the saga fails. (E7)
 */
export function continueAs<I extends Schema | undefined>(
  other: Program & { readonly input: I },
  args: CallArguments<I>,
): Command<never> {
  if (typeof (other as Partial<Program> | undefined)?.advance !== 'function')
    throw new AuthoringError('continueAs() needs a saga, as saga(…) returns it.');
  return command<never>({ kind: 'continueAs', program: other, args: args ?? {} });
}
