import { AuthoringError } from '../values/errors.ts';
import type { Compensator, CompensatorContext } from '../model/undo.ts';
import { generatorKind, isIterator } from '../values/generators.ts';
import { assertStepId } from '../values/path.ts';
import { validate, type InferOutput, type Schema } from '../values/standard-schema.ts';

/**
 * Defines a named compensator.
 *
 * @param schema - of its arguments, which are checked again when it runs: it may run by newer code
 * @throws AuthoringError where `undo` is a generator: it yields no steps
 */
export function compensator<S extends Schema>(
  name: string,
  schema: S,
  undo: (undo: CompensatorContext<InferOutput<S>>) => unknown,
): Compensator<S> {
  assertStepId(name);
  // Nobody would run one, and what it was to undo would count as undone.
  const noGenerator = `Compensator '${name}' is a function or an async function. It must not be a generator.`;
  if (generatorKind(undo) !== undefined) throw new AuthoringError(noGenerator);
  const run = async (context: CompensatorContext<unknown>): Promise<void> => {
    const parsed = await validate(schema, context.args);
    if (!parsed.ok)
      throw new AuthoringError(`Compensator '${name}': its arguments do not fit: ${parsed.issues}`);
    if (isIterator(await undo({ ...context, args: parsed.value }))) throw new AuthoringError(noGenerator);
  };
  return {
    name,
    with: (args) => ({ name, args, run }),
    for: (toArgs) => ({ name, run, bind: (facts) => ({ name, args: toArgs(facts), run }) }),
    run,
  };
}
