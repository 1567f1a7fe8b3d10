import { assertKnownOptions, optionNames } from '../values/known-options.ts';
import { command } from '../effects/effect-of.ts';
import type { Command } from '../model/command.ts';
import { assertStepId } from '../values/path.ts';

/** Options of {@link patched}. */
export interface PatchOptions {
  /**
   * `false`: the process continues sagas to which another process has applied the change, and applies it to no other saga.
   * Deploy `false` to every process before `true`. The value must not depend on the saga.
   *
   * @default true
   */
  readonly enabled?: boolean;
}

const none: PatchOptions = {};
const names = /* @__PURE__ */ optionNames<PatchOptions>({ enabled: true });

/**
 * Changes code under running sagas: `true` for a saga that reaches the change after its deploy, `false` for a saga that was
 * already past it. The decision stays the same for the rest of the saga.
 *
 * @example
 * if (yield* patched('credit-check')) yield* step('check', () => credit.check());
 */
export function patched(id: string, options: PatchOptions = none): Command<boolean> {
  assertStepId(id);
  if (options !== none) assertKnownOptions('patched', id, options, names);
  const { enabled = true } = options;
  return command<boolean>({ kind: 'patched', id, enabled });
}
