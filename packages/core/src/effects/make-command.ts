/**
 * Commands, as the functions of an author make them and a body yields them. A command only carries
 * its specification: what it does is looked up by the engine (`effect-of.ts`), so that a module that
 * only defines sagas loads no engine.
 */
import { bodyLog } from '../values/body-log.ts';
import { readThrown } from '../values/step-error-data.ts';
import { AuthoringError, CommandAwaited } from '../values/errors.ts';
import { brand, type AskingCommand, type Command } from '../model/command.ts';
import type { CommandSpec, EffectSpec } from './effect-of.ts';

// Classes, not object literals with a generator method: 0.05 us a step against 2 to 3.
class Iteration<T> implements Iterator<Command<unknown>, T, unknown> {
  #command: Command<T> | undefined;

  constructor(source: Command<T>) {
    this.#command = source;
  }

  next(value: unknown): IteratorResult<Command<unknown>, T> {
    const first = this.#command;
    if (first === undefined) return { done: true, value: value as T };
    this.#command = undefined;
    return { done: false, value: first };
  }

  throw(error: unknown): IteratorResult<Command<unknown>, T> {
    this.#command = undefined;
    throw error;
  }

  return(value: T): IteratorResult<Command<unknown>, T> {
    this.#command = undefined;
    return { done: true, value };
  }
}

class YieldableCommand<T> implements Command<T> {
  readonly [brand]: CommandSpec;

  constructor(spec: CommandSpec) {
    this[brand] = spec;
    bodyLog()?.add(this);
  }

  [Symbol.iterator](): Iterator<Command<unknown>, T, unknown> {
    return new Iteration<T>(this);
  }

  /** Only `await` and promises look for this method: they would drop the command without a word. */
  // oxlint-disable-next-line unicorn/no-thenable -- so that `await` of a command is an error
  then(_: unknown, reject: (error: unknown) => void): void {
    reject(new CommandAwaited());
  }
}

/** Creates the command that a function of the author's API returns. */
export function command<T>(spec: CommandSpec): Command<T> {
  return new YieldableCommand<T>(spec);
}

/** Creates a command that asks the client. */
export function asking<T>(spec: EffectSpec): AskingCommand<T> {
  return command<T>(spec) as AskingCommand<T>;
}

/** Specification of a yielded command; undefined for another value. */
export function specOf(yielded: unknown): CommandSpec | undefined {
  return typeof yielded === 'object' && yielded !== null
    ? (yielded as { readonly [brand]?: CommandSpec })[brand]
    : undefined;
}

/**
 * Error for a body that yields another value.
 * @param kind - what it yields: see {@link kindOf}
 */
export function notACommand(kind: string, cause?: unknown): AuthoringError {
  return new AuthoringError(
    `The saga yielded ${kind}. Yield a command, such as yield* elicit(…) or yield* step('id', async () => …).`,
    { anchor: 'bodies', cause },
  );
}

/**
 * What V8 says of `yield*` on a value that cannot be iterated. Of a value in a variable, it says the
 * same as builtins such as `new Set({})`, whose frame ends without a line and a column.
 */
const notIterated = /^TypeError: (?:yield\* |(?:object|function) is not iterable \(.*\n.*\d\)?\n)/;

/**
 * Explains what a body threw, if it was `yield*` on a value that yields nothing, most often a
 * promise. Returns other errors as they are: also the same one of an engine with other words.
 */
export function explained(thrown: unknown): unknown {
  const stack = readThrown(Object(thrown), 'stack');
  return typeof stack === 'string' && notIterated.test(stack)
    ? notACommand('a value that is no command, such as a promise', thrown)
    : thrown;
}

/** Kind of a value that is yielded or returned by mistake, with the likely correction. */
export function kindOf(yielded: unknown): string {
  if (yielded === undefined || yielded === null) return String(yielded);
  if (Array.isArray(yielded)) return 'an array (write yield* all([…]) for several commands)';
  if (typeof yielded === 'function') return 'a function (call the helper: yield* helper(…))';
  const { then, next } = yielded as Partial<Promise<unknown> & Generator>;
  if (specOf(yielded) !== undefined) return 'a command';
  if (typeof then === 'function') return 'a promise';
  if (typeof next === 'function') return 'a generator (write yield* before the helper)';
  return `a value of type ${typeof yielded}`;
}
