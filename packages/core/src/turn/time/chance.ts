import type { Task } from '../../replay/fiber.ts';
import type { EntryType } from '../../journal/entry-types.ts';
import { deadlineOf, dueAt } from './waits.ts';

/**
 * `true` if a repetition of the turn may record another outcome for a task: a timer passes or does not, a step or poll
 * that failed succeeds, the claim of a `once` step is already taken. Any other step that succeeded succeeds again.
 *
 * @param began - when the turn began, by the clock of the task (ms since the epoch): a timer that was due by then is due in a
 *   repetition, too
 */
export function isChance(task: Task, type: EntryType, began: number): boolean {
  const { spec } = task;
  if (type === 'timedOut') return (deadlineOf(task) ?? 0) > began;
  if (spec.kind === 'sleep') return type === 'passed' && dueAt(task) > began;
  // A repetition cannot claim the step again: its outcome is unknown there.
  if (spec.kind === 'step' && spec.once && type !== 'retry') return true;
  // What follows the undo of a step does not depend on its outcome.
  if (spec.kind === 'step') return (type === 'failed' || type === 'unknown') && spec.of === undefined;
  return spec.kind === 'poll' && type !== 'cannot' && type !== 'withdrawn';
}
