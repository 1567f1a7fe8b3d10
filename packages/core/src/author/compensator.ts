import { AuthoringError } from '../values/errors.ts';
import type { CheckedCompensator } from './checks/checked-undo.ts';
import type { Compensator, CompensatorContext } from '../model/undo-types.ts';
import { generatorKind, isIterator } from '../values/generators.ts';
import { assertStepId } from '../values/path.ts';
import { validate, type InferOutput, type Schema } from '../values/standard-schema.ts';

/**
 * Defines a named compensator. The journal records its name and arguments, so an undo works after
 * the code of the step is gone.
 * @param schema - checks the arguments, again when the compensator runs: newer code may run it
 * @throws AuthoringError if `undo` is a generator: a compensator yields no steps
 * @example
 * ```ts
 * const Payment = z.object({ id: z.string() });
 * const refund = compensator('refund', Payment, ({ args }) => bank.refund(args.id));
 * function* pay(): Steps<void> {
 *   yield* step('pay', async (): Promise<{ id: string }> => bank.pay(), {
 *     compensate: refund.for(({ result }) => ({ id: result.id })),
 *   });
 * }
 * ```
 */
export function compensator<S extends Schema, U = unknown>(
  name: string,
  schema: S,
  undo: ((undo: CompensatorContext<InferOutput<S>>) => U) & CheckedCompensator<U>,
): Compensator<S> {
  assertStepId(name);
  // No code would run the generator, and its step would count as undone.
  const noGenerator = `Compensator '${name}' is a function or an async function. It must not be a generator.`;
  if (generatorKind(undo) !== undefined) throw new AuthoringError(noGenerator, { anchor: 'undos' });
  const run = async (context: CompensatorContext<unknown>): Promise<void> => {
    const parsed = await validate(schema, context.args);
    if (!parsed.ok)
      throw new AuthoringError(
        `Compensator '${name}': its arguments are invalid: ${parsed.issues}`,
      );
    if (isIterator(await undo({ ...context, args: parsed.value })))
      throw new AuthoringError(noGenerator, { anchor: 'undos' });
  };
  return {
    name,
    for: (toArgs) => ({ name, run, bind: (facts) => ({ name, args: toArgs(facts), run }) }),
    run,
  };
}
