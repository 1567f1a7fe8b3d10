import { AuthoringError } from '../values/errors.ts';
import type { SagaBody, Steps } from '../model/command.ts';
import { specOf } from '../effects/effect-of.ts';
import { isIterator } from '../values/generators.ts';
import type { Schema } from '../values/standard-schema.ts';

/** What a generator program needs of its saga. */
export interface GeneratorProgramOptions {
  readonly name: string;
  readonly input: Schema | undefined;
  readonly commitFirst: boolean;
  readonly declaresForks: boolean;
  readonly onMismatch: 'fail' | 'compensate';
  readonly body: SagaBody<never, unknown>;
}

/**
 * Calls a body, and gives its generator.
 *
 * @throws AuthoringError where it is not a generator function; what the body throws before it has begun
 */
export function startBody(name: string, body: SagaBody<never, unknown>, input: unknown): Steps<unknown> {
  const iterator: unknown = body(input as never);
  const { next, [Symbol.asyncIterator]: async } = Object(iterator) as Partial<AsyncGenerator>;
  if (typeof next !== 'function' || async !== undefined) {
    throw new AuthoringError(
      `The body of saga '${name}' is not a generator function. Write: saga({…}, function* (input) { … }).`,
    );
  }
  return iterator as Steps<unknown>;
}

/**
 * The result of a body, if it may be one.
 *
 * @throws AuthoringError for a command, a helper, and a promise: `yield*` is missing
 */
export function resultOf(returned: unknown): unknown {
  const isPromise = typeof (returned as Partial<Promise<unknown>> | null | undefined)?.then === 'function';
  const what =
    specOf(returned) !== undefined
      ? 'a command. Write: return yield* step(…)'
      : isIterator(returned)
        ? 'a generator. Write: return yield* helper(…)'
        : isPromise && "a promise. Write: return yield* step('id', async () => …)";
  if (what === false) return returned;
  throw new AuthoringError(`The saga returned ${what}.`);
}
