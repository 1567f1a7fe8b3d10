import { isMachine } from './logic-kind.ts';
import { isMadeUpId, parentOf } from './xstate-actors.ts';
import { nodesOf, rootOf } from './xstate-nodes.ts';
import type { LiveActor } from '../model/live-actor.ts';
import { MachineRefused } from '../model/errors.ts';
import { pathOf } from './survey.ts';

/** Returns why an ID cannot name an actor, as the end of a sentence; undefined if it can. Paths are made of IDs and marks. */
export function misnomer(id: string): string | undefined {
  return /^$|^[~!]|[/@#]/.test(id)
    ? "has an id that is empty, begins with '~' or '!', or has a '/', '@' or '#' in it."
    : undefined;
}

/** Throws MachineRefused unless another process can find an actor and its parents by ID and name of logic. */
export function assertNamed(actor: LiveActor): void {
  const above = parentOf(actor);
  if (above === undefined) return;
  assertNamed(above);
  const { id, src } = actor;
  if (isMadeUpId(actor)) {
    throw new MachineRefused(
      `An actor of '${pathOf(above) || 'the machine'}' has no id of its own. XState makes one up that ` +
        "is another one in the next process: spawn it with an id, spawn('source', { id: 'name' }).",
    );
  }
  const problem = misnomer(id);
  if (problem !== undefined) throw new MachineRefused(`The actor '${id}' ${problem}`);
  if (typeof src !== 'string') {
    throw new MachineRefused(
      `The actor '${pathOf(actor)}' was spawned from a logic without a name, which cannot be found again: name it in ` +
        'setup({ actors }), and spawn it by that name.',
    );
  }
}

const idsOfInvokes = /* @__PURE__ */ new WeakMap<object, ReadonlySet<string>>();

/** `true` if the definition of a machine does not contain the ID of an actor, or of an actor above it. */
export function isSpawned(actor: LiveActor): boolean {
  const above = parentOf(actor);
  return above !== undefined && (!invokeIdsOf(above).has(actor.id) || isSpawned(above));
}

function invokeIdsOf({ logic }: LiveActor): ReadonlySet<string> {
  let ids = idsOfInvokes.get(logic);
  if (ids === undefined) {
    const invokes = isMachine(logic) ? nodesOf(rootOf(logic)).flatMap(({ invoke }) => invoke) : [];
    ids = new Set(invokes.map(({ id }) => id));
    idsOfInvokes.set(logic, ids);
  }
  return ids;
}
