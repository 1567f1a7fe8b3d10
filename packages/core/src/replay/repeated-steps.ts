import { AuthoringError } from '../values/errors.ts';
import type { EffectSpec } from '../effects/effect-of.ts';
import { undoMark } from '../values/path.ts';

/**
 * Finds steps that only their position tells apart: the same ID in a loop, or in two branches of an array, without `key` or
 * `input`. If the code changes their order, each gets the result of another one, and replay cannot notice.
 */
export class RepeatedSteps {
  /** The first path of each shape. */
  readonly #first = new Map<string, string>();
  /** Prefixes of calls. Their arguments tell the steps below them apart. */
  readonly #calls: string[] = [];

  /**
   * Notes a command.
   *
   * @throws AuthoringError for a step that only its position tells apart, unless it was recorded before. Not meant for the body,
   * whose reaction would not be replayed
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
    );
  }

  /** The path without counters and array indexes. */
  #shapeOf(path: string): string {
    const call = this.#calls.find((prefix) => path.startsWith(prefix)) ?? '';
    const rest = path.slice(call.length);
    return call + rest.replaceAll(/#\d+/g, '').replaceAll(/(?<=^|\/)\d+(?=\/)/g, '*');
  }
}
