import type { Runtime } from '@mcp-saga/core';
import { inStates } from './adapter.ts';
import type { MachineRun } from './machine-run.ts';

/** Warns about delays of this turn that end after the lifetime of their saga. */
export function warnOfStranding(
  saga: string,
  { root, deadlines }: Pick<MachineRun, 'root' | 'deadlines'>,
  { warn, lifeEndsAt = Number.POSITIVE_INFINITY }: Runtime,
): void {
  if (!deadlines.timers.some(({ at, isNew }) => isNew === true && at > lifeEndsAt)) return;
  warn?.(
    `Saga '${saga}' sets a delay in ${inStates(root.getSnapshot().value)} that ends after maxLifetime, when no token is ` +
      'good any more: nothing follows it. Shorten the delay, or raise maxLifetime.',
  );
}
