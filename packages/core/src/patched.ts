import { command, type Command } from './command.ts';
import { assertStepId } from './path.ts';

/**
 * Changes code under running sagas: true for sagas that had not come this far when the change was deployed, false for
 * those that had. `if (yield* patched('new-check')) …new… else …old…` Once decided for a saga, it stays. (R5)
 */
export function patched(id: string): Command<boolean> {
  assertStepId(id);
  return command<boolean>({ kind: 'patched', id });
}
