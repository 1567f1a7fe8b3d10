import type { Steps } from './command.ts';
import type { SagaBody } from './saga.ts';

/**
 * Calls a body, and gives its generator.
 *
 * @throws TypeError where it is not a generator function; what the body throws before it has begun
 */
export function startBody(name: string, body: SagaBody<never, unknown>, input: unknown): Steps<unknown> {
  const iterator: unknown = body(input as never);
  const { next, [Symbol.asyncIterator]: async } = Object(iterator) as Partial<AsyncGenerator>;
  if (typeof next !== 'function' || async !== undefined) {
    throw new TypeError(
      `The body of saga '${name}' is not a generator function. Write: saga({…}, function* (input) { … }).`,
    );
  }
  return iterator as Steps<unknown>;
}
