import { assertKnownOptions } from '../values/known-options.ts';
import type { NamesOf } from '../values/unknown-option.ts';
import { command } from '../effects/make-command.ts';
import type { Command } from '../model/command.ts';
import { assertStepId } from '../values/path.ts';

/** Options of {@link patched}. */
export interface PatchOptions {
  /**
   * `false`: the process continues sagas to which another process applied the change, but applies
   * the change to no other saga. Deploy `false` to every process before `true`. The value must not
   * depend on the saga.
   * @default true
   */
  readonly enabled?: boolean;
}

const none: PatchOptions = {};
const names: NamesOf<PatchOptions> = { enabled: true };

/**
 * Changes code under running sagas: `true` if the saga reaches the change after the deploy, `false`
 * if the saga was already past the change, or waits for an answer or a time behind it. The decision
 * stays the same for the rest of the saga.
 * @example
 * ```ts
 * function* order(): Steps<void> {
 *   if (yield* patched('credit-check')) yield* step('check', () => bank.checkCredit());
 *   yield* step('charge', () => bank.charge());
 * }
 * ```
 */
export function patched(id: string, options: PatchOptions = none): Command<boolean> {
  assertStepId(id);
  if (options !== none) assertKnownOptions('patched', id, options, names);
  const { enabled = true } = options;
  return command<boolean>({ kind: 'patched', id, enabled });
}
