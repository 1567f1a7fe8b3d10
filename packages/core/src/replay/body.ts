import { AuthoringError } from '../values/errors.ts';
import type { SagaBody, Steps } from '../model/command.ts';
import { type EffectSpec } from '../effects/effect-of.ts';
import { kindOf } from '../effects/make-command.ts';
import { isIterator } from '../values/generators.ts';
import type { Schema } from '../values/standard-schema.ts';
import { undoMark } from '../values/path.ts';

export interface GeneratorProgramOptions {
  readonly name: string;
  readonly input: Schema | undefined;
  readonly acceptsReuse: boolean;
  /** `false`: a command that asks or waits throws. Default: the saga may suspend. */
  readonly suspends?: false;
  readonly onMismatch: 'fail' | 'compensate';
  readonly body: SagaBody<never, unknown>;
}

/**
 * Calls a body. Throws AuthoringError if the result is not a generator, and errors of the body
 * before its first yield.
 */
export function startBody(
  name: string,
  body: SagaBody<never, unknown>,
  input: unknown,
): Steps<unknown> {
  const iterator: unknown = body(input as never);
  const { next, [Symbol.asyncIterator]: async } = Object(iterator) as Partial<AsyncGenerator>;
  if (typeof next !== 'function' || async !== undefined) {
    throw new AuthoringError(
      `The body of saga '${name}' is not a generator function. Write: saga({…}, function* (input) { … }).`,
      { anchor: 'bodies' },
    );
  }
  return iterator as Steps<unknown>;
}

/**
 * Checks the result of a body. Throws AuthoringError for a command, a helper, and a promise:
 * `yield*` is missing.
 */
export function resultOf(returned: unknown): unknown {
  const { then } = Object(returned) as Partial<Promise<unknown>>;
  // A command has a `then`, too.
  if (typeof then !== 'function' && !isIterator(returned)) return returned;
  throw new AuthoringError(
    `The saga returned ${kindOf(returned)}. Write: return yield* step('id', async () => …), or return yield* helper(…).`,
    { anchor: 'bodies' },
  );
}

/**
 * Finds steps that differ only in position: the same ID in a loop, or in two branches of an array,
 * without `key` or `input`. If the code changes the order, each step gets the result of another
 * step, and replay cannot notice.
 */
export class RepeatedSteps {
  /** The first path of each shape. */
  readonly #first = new Map<string, string>();
  /** Prefixes of calls. The arguments distinguish the steps below. */
  readonly #calls: string[] = [];

  /**
   * Notes a command. Throws AuthoringError, not meant for the body, for a new step that differs
   * only in position.
   */
  note(spec: EffectSpec, path: string, isReplaying: boolean): void {
    if (spec.kind === 'call' && spec.args !== undefined) this.#calls.unshift(`${path}/`);
    if (spec.kind !== 'step' || spec.key !== undefined || spec.input !== undefined) return;
    if (path.startsWith(undoMark)) return;
    const shape = this.#shapeOf(path);
    const first = this.#first.get(shape);
    if (first === undefined) this.#first.set(shape, path);
    if (first === undefined || isReplaying) return;
    throw new AuthoringError(
      `Steps '${first}' and '${path}' differ only in their position. If their order changes, each gets the ` +
        'result of the other. Give them `key` or `input`, or different IDs.',
      { anchor: 'steps-in-a-loop' },
    );
  }

  /** The path without counters and array indexes. */
  #shapeOf(path: string): string {
    const call = this.#calls.find((prefix) => path.startsWith(prefix)) ?? '';
    const rest = path.slice(call.length);
    return call + rest.replaceAll(/#\d+/g, '').replaceAll(/(?<=^|\/)\d+(?=\/)/g, '*');
  }
}
