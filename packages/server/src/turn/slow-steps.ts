import type { StepEvent } from '@mcp-saga/core';
import type { HostParts } from '../settings/host-parts.ts';
import { withoutKeys } from '../settings/log-path.ts';
import { longestTimerMs } from '../settings/clock.ts';

/**
 * Warns of each step that runs for longer than `limits.turnBudgetMs`, once a turn. The budget only ends a turn between two steps, so
 * a step that never settles holds its request.
 *
 * @returns observer for the events of one turn
 */
export function slowSteps(
  { limits: { turnBudgetMs }, observer }: Pick<HostParts, 'limits' | 'observer'>,
  saga: string,
): (event: StepEvent) => void {
  const timers = new Map<string, ReturnType<typeof setTimeout>>();
  const told = new Set<string>();
  const tell = (path: string): void => {
    told.add(path);
    observer.hooks.onWarning(
      `Step '${withoutKeys(path)}' of saga '${saga}' is still running after ${turnBudgetMs} ms (limits.turnBudgetMs). ` +
        'Set its `timeout`, or end it when its `signal` aborts.',
    );
  };
  return ({ kind, type, path }) => {
    if (kind !== 'step' || told.has(path)) return;
    clearTimeout(timers.get(path));
    if (type === 'started') {
      timers.set(
        path,
        setTimeout(() => tell(path), Math.min(turnBudgetMs, longestTimerMs)),
      );
    } else timers.delete(path);
  };
}
