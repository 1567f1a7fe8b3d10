import type { Task } from '../../replay/fiber.ts';
import type { Runtime } from '../../model/runtime.ts';
import { waitsForClient } from '../../effects/routes.ts';
import { dueAt } from './waits.ts';

/** The time of a turn when nothing is left to do but wait. */
interface WaitTime {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Time for which the request was held so far, in milliseconds. */
  readonly held: number;
  /** Time for which the request can still be held, in milliseconds. */
  readonly room: number;
  /** `true` if the turn may end with a wait, and still has time. */
  readonly isInTime: boolean;
}

/** A wait in the request. `hopeless` is the task that would take too long for the client. */
export interface HeldWait {
  readonly ms: number;
  readonly hopeless?: Task;
}

/** Chooses how long the request waits when nothing is left to do but wait. Undefined: the turn ends. */
export function nextWait(
  pending: ReadonlyMap<string, Task>,
  runtime: Runtime,
  { now, held, room, isInTime }: WaitTime,
): HeldWait | undefined {
  const tasks = [...pending.values()];
  const [first] = tasks.toSorted((one, other) => dueAt(one) - dueAt(other));
  if (first === undefined || tasks.some((task) => waitsForClient(task, runtime))) return undefined;
  const ms = dueAt(first) - now;
  if (ms <= 0) return undefined;
  const { maxWait, holdsParts, deadline } = runtime;
  const fits = ms <= room;
  const isWait = first.spec.kind === 'sleep' || first.spec.kind === 'poll';
  // A client without a token waits for this request.
  if ((!fits || deadline === undefined) && ms > maxWait - held && isInTime && isWait)
    return { ms, hopeless: first };
  if (fits) return { ms };
  return holdsParts && room > 0 ? { ms: room } : undefined;
}
