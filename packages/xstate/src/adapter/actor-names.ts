import { isMachine } from './logic-kind.ts';
import { isGeneratedId, parentOf, pathOf } from './xstate-actors.ts';
import { hasInvoke } from './xstate-nodes.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { MachineRefused } from '../model/errors.ts';

/**
 * Returns the problem of an actor ID as the end of a sentence; undefined if the ID is valid in a
 * path.
 */
export function misnomer(id: string): string | undefined {
  // An object of children by ID cannot have this one.
  return id === '__proto__' || /^$|^[~!]|[/@#]/.test(id)
    ? "has an invalid id. An id must not be empty or '__proto__', start with '~' or '!', or contain '/', '@', or '#'."
    : undefined;
}

/**
 * Throws MachineRefused unless another process can restore an actor and its parents by ID and name
 * of the logic.
 */
export function assertNamed(actor: LiveActor): void {
  const above = parentOf(actor);
  if (above === undefined) return;
  assertNamed(above);
  const { id, src } = actor;
  if (isGeneratedId(actor)) {
    throw new MachineRefused(
      `A spawned actor of '${pathOf(above) || 'the machine'}' has no id, and the generated id differs in the next process. ` +
        "Set an id: spawn('source', { id: 'name' }).",
    );
  }
  const problem = misnomer(id);
  if (problem !== undefined) throw new MachineRefused(`The actor '${id}' ${problem}`);
  if (typeof src !== 'string') {
    throw new MachineRefused(
      `The actor '${pathOf(actor)}' was spawned from a logic without a name. Add the logic to setup({ actors }), and spawn ` +
        'the actor by that name.',
    );
  }
}

/**
 * `true` if the definition of a machine does not contain the ID of an actor, or of an actor above
 * it.
 */
export function isSpawned(actor: LiveActor): boolean {
  const above = parentOf(actor);
  if (above === undefined) return false;
  const isInvoked = isMachine(above.logic) && hasInvoke(above.logic, actor.id);
  return !isInvoked || isSpawned(above);
}
