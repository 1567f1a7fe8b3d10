import type { Command } from '../model/command.ts';

type Step = IteratorResult<Command<unknown>, unknown>;
type Method = (this: unknown, value: unknown) => Step;
type Methods = { [name in 'next' | 'return' | 'throw']: Method };

/** A generator to end. Fields as in `Fiber`. */
interface EndedFiber {
  readonly iterator: Iterator<Command<unknown>, unknown, unknown>;
  helper: unknown;
  isOpaque: boolean;
  toldToEnd: boolean;
  goesOn: boolean;
}

/** Return value of a generator whose `finally` blocks all let the generator end. */
export const endValue: unique symbol = Symbol('end');

/** Yielded instead of the end of a helper. */
const helperEnded: unique symbol = Symbol('helper ended');

/**
 * Ends the generator of a fiber, and notes the innermost helper that has not ended yet.
 *
 * If the `finally` of a helper yields, the delegating generator (`yield*`) forgets the end: the
 * generator would continue after the `yield*`, and steps would run after an abort. So
 * `resumeHelper` ends the caller again when the helper is done. Helpers are visible only in calls
 * to `return` and `throw`. The language looks both methods up for each call, and one synchronous
 * call runs with replaced methods.
 */
export function endGenerator(fiber: EndedFiber): Step {
  const iterator = fiber.iterator as unknown as Methods;
  fiber.helper = undefined;
  fiber.toldToEnd = true;
  const end = (original: Method): Method =>
    function (value) {
      if (this === iterator) return original.call(this, value);
      let step: Step;
      try {
        step = original.call(this, value);
      } catch {
        // An error in the `finally` of a helper must not reach a `catch` of the caller.
        return { done: true, value };
      }
      if (step.done !== true) {
        fiber.helper ??= this;
        return step;
      }
      fiber.goesOn ||= step.value !== endValue;
      return { done: true, value };
    };
  return watched(fiber, 'return', end, () => iterator.return(endValue));
}

/**
 * Resumes the `finally` of a helper. The callers of the helper end as soon as the helper has ended.
 */
export function resumeHelper(fiber: EndedFiber, how: 'next' | 'throw', value: unknown): Step {
  const { helper } = fiber;
  const iterator = fiber.iterator as unknown as Methods;
  const { next } = Object.getPrototypeOf(function* () {}.prototype) as Methods;
  // Callers look up `throw` for each call, unlike `next`.
  const pass = (original: Method): Method =>
    function (given) {
      if (this !== helper) return original.call(this, given);
      try {
        const step = (how === 'next' ? next : original).call(this, value);
        if (step.done !== true) return step;
        fiber.goesOn ||= step.value !== endValue;
      } catch {
        // As above: the end of the saga wins over an error in a `finally`.
      }
      return { done: false, value: helperEnded as never };
    };
  const step = watched(fiber, 'throw', pass, () => iterator.throw(undefined));
  return step.value === helperEnded ? endGenerator(fiber) : step;
}

/** Makes one synchronous call with a replaced generator method. */
function watched(
  fiber: EndedFiber,
  name: 'return' | 'throw',
  change: (original: Method) => Method,
  call: () => Step,
): Step {
  const prototype = Object.getPrototypeOf(function* () {}.prototype) as Methods;
  const { throw: fail, [name]: original } = prototype;
  try {
    // Ending a helper takes both methods.
    prototype.throw = fail;
    prototype[name] = change(original);
  } catch {
    // The prototype is frozen and helpers are unknown: a cut `finally` is better than steps after
    // an abort.
    fiber.isOpaque = true;
    return call();
  }
  try {
    return call();
  } finally {
    prototype[name] = original;
  }
}
