import { activeNodes } from '../adapter/xstate-nodes.ts';
import type { LiveNode } from '../model/live-actor.ts';
import type { MachineRecord } from '../model/machine-record.ts';

/**
 * Sorts active states by the ranks of stored positions, since added states shift positions.
 * Undefined if the count differs.
 */
export function inStoredOrder(
  active: readonly LiveNode[],
  positions: readonly number[],
): readonly LiveNode[] | undefined {
  const ranks = [...new Set(positions)].toSorted((one, other) => one - other);
  if (ranks.length !== active.length || positions.length !== active.length) return undefined;
  const inDocument = active.toSorted((one, other) => one.order - other.order);
  return positions.map((position) => inDocument[ranks.indexOf(position)] as LiveNode);
}

/**
 * Returns `false` if stored positions belong to other states, because the states of the machine
 * have another order now.
 */
export function fitsOrder(root: LiveNode, { v, o }: MachineRecord): boolean {
  if (o === undefined) return true;
  const active = activeNodes(root, v);
  const ordered = inStoredOrder(active, o);
  // A stored value lists the states inside each state in the order of their positions.
  return (
    ordered !== undefined &&
    active.every((node) => keysInside(node, active) === keysInside(node, ordered))
  );
}

function keysInside(node: LiveNode, nodes: readonly LiveNode[]): string {
  const inside = nodes.filter((child) => node.states[child.key] === child);
  // In an object, as in the stored value: objects list integer keys first.
  return JSON.stringify(Object.fromEntries(inside.map(({ key }) => [key, 0])));
}
