import type { Command } from './command.ts';
import type { Fiber } from './fiber.ts';

interface Returns {
  return: (this: unknown, value: unknown) => IteratorResult<Command<unknown>, unknown>;
}

/**
 * Tells a fiber's generator to end, and notes whether what it then yields comes from a helper it delegates to.
 *
 * In the language, a generator that delegates by `yield*` forgets that it was told to end when the `finally` of the
 * inner one has yielded: it goes on behind the `yield*`, and steps would run after an abort. So a helper is told again
 * after the first command of its `finally`. Whether it is a helper, only the calls to its `return` method tell, which
 * the language looks up each time: for as long as this one synchronous call takes, they are watched. (E6)
 */
export function endGenerator(fiber: Fiber): IteratorResult<Command<unknown>, unknown> {
  const { iterator } = fiber;
  const prototype = Object.getPrototypeOf(function* () {}.prototype) as Returns;
  const original = prototype.return;
  fiber.delegates = false;
  try {
    prototype.return = function (value) {
      const result = original.call(this, value);
      if (this !== iterator && result.done !== true) fiber.delegates = true;
      return result;
    };
  } catch {
    // The prototype is frozen, so nobody can tell: to cut a `finally` short is better than to go on after an abort.
    fiber.delegates = true;
  }
  try {
    return (iterator as unknown as Returns).return(undefined);
  } finally {
    if (prototype.return !== original) prototype.return = original;
  }
}
