import type { Task } from '../../replay/fiber.ts';
import type { Runtime } from '../../model/runtime.ts';
import { deadlineOf } from './waits.ts';

/** Warns the author about a wait beyond the lifetime of the saga. */
export function warnOfLifetime(task: Task, { warn, lifeEndsAt }: Pick<Runtime, 'warn' | 'lifeEndsAt'>): void {
  const { spec, path, until } = task;
  const end = spec.kind === 'sleep' ? until : deadlineOf(task);
  if (warn === undefined || lifeEndsAt === undefined || end === undefined || end <= lifeEndsAt) return;
  const becomes =
    spec.kind === 'sleep'
      ? 'It fails with ClientCannot'
      : spec.kind === 'poll'
        ? 'It fails with ClientCannot when no time is left for another question'
        : 'The saga expires first, without StepTimedOut';
  warn(
    `'${path}' waits until ${shown(end)}, but its saga ends by ${shown(lifeEndsAt)}. ${becomes}. ` +
      'Raise maxLifetime of the host, or wait for a shorter time.',
  );
}

// Dates end in the year 275760.
function shown(ms: number): string {
  return Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : `${ms}`;
}
