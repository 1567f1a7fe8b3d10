import { generatorKind, isIterator } from './generators.ts';
import { assertStepId } from './path.ts';
import { validate, type InferInput, type InferOutput, type Schema } from './standard-schema.ts';
import type { BoundUndo, UndoContext, UndoFacts } from './undo.ts';

/** What a named compensator gets to work with. */
export type CompensatorContext<A> = Omit<UndoContext<never, never>, 'result' | 'input'> & {
  readonly args: A;
};

/** An undo made of facts about its step. */
export interface BoundCompensator<R, I> {
  readonly name: string;
  /** Runs it with arguments as they were sealed. */
  readonly run: BoundUndo['run'];
  /** The undo with its arguments, made when the step is done. */
  bind(facts: UndoFacts<R, I>): BoundUndo;
}

/**
 * An undo that has a name, and arguments that are sealed when its step is done: it runs even where the saga's code
 * was changed or is gone. Give it to the host's `compensators` too, which is where it is found then.
 */
export interface Compensator<S extends Schema> {
  readonly name: string;
  /** The undo for `compensate(…)`, with these arguments. */
  with(args: InferInput<S>): BoundUndo;
  /** The undo for a step's `compensate`, with arguments made of its result and input. */
  for<R, I>(toArgs: (facts: UndoFacts<R, I>) => InferInput<S>): BoundCompensator<R, I>;
  /** Runs it with arguments as they were sealed. */
  run(undo: CompensatorContext<unknown>): Promise<void>;
}

/**
 * Defines a named compensator.
 *
 * @param schema - of its arguments, which are checked again when it runs: it may run by newer code
 * @throws TypeError where `undo` is a generator: it yields no steps
 */
export function compensator<S extends Schema>(
  name: string,
  schema: S,
  undo: (undo: CompensatorContext<InferOutput<S>>) => unknown,
): Compensator<S> {
  assertStepId(name);
  // Nobody would run one, and what it was to undo would count as undone.
  const noGenerator = `Compensator '${name}' is a function or an async function. It must not be a generator.`;
  if (generatorKind(undo) !== undefined) throw new TypeError(noGenerator);
  const run = async (context: CompensatorContext<unknown>): Promise<void> => {
    const parsed = await validate(schema, context.args);
    if (!parsed.ok) throw new TypeError(`Compensator '${name}': its arguments do not fit: ${parsed.issues}`);
    if (isIterator(await undo({ ...context, args: parsed.value }))) throw new TypeError(noGenerator);
  };
  return {
    name,
    with: (args) => ({ name, args, run }),
    for: (toArgs) => ({ name, run, bind: (facts) => ({ name, args: toArgs(facts), run }) }),
    run,
  };
}
