// oxlint-disable no-underscore-dangle -- names of XState's own
import { getStateNodes, type AnyActorLogic, type AnyStateMachine } from 'xstate';
import type { LiveInvoke, LiveNode, StateValue } from '../model/live-actor.ts';

/** Major version of XState, stored in each state. */
export const xstateMajor = 5;

/** Prefix of IDs of delayed transitions. */
export const afterMark = 'xstate.after.';

/** Returns the active states as part of a sentence. */
export function inStates(value: StateValue | undefined): string {
  return typeof value === 'string' ? `state '${value}'` : `state ${JSON.stringify(value)}`;
}

/** Returns the root state of a machine. */
export function rootOf(machine: AnyStateMachine): LiveNode {
  return machine.root as unknown as LiveNode;
}

/** Returns the named logics of a machine, without inline invokes. */
export function namedLogicsOf(machine: AnyStateMachine): { readonly [src: string]: AnyActorLogic } {
  return machine.implementations.actors as { readonly [src: string]: AnyActorLogic };
}

const inlineSource = /^xstate\.invoke\.(\d+)\.(.*)$/;

/** Finds the logic of a source; undefined if the machine has none. */
export function logicOf(machine: AnyStateMachine, src: string): AnyActorLogic | undefined {
  const [, index, nodeId] = inlineSource.exec(src) ?? [];
  if (index === undefined || nodeId === undefined) return namedLogicsOf(machine)[src];
  const { idMap } = machine as unknown as {
    readonly idMap: ReadonlyMap<string, { readonly config: { readonly invoke?: unknown } }>;
  };
  const invokes = idMap.get(nodeId)?.config.invoke;
  const invoke: unknown = Array.isArray(invokes) ? invokes[Number(index)] : invokes;
  const { src: logic } = Object(invoke) as { readonly src?: AnyActorLogic };
  return typeof logic === 'object' ? logic : undefined;
}

/** Returns all states of a machine, parents first. */
export function nodesOf(root: LiveNode): readonly LiveNode[] {
  return [root, ...Object.values(root.states).flatMap(nodesOf)];
}

/** Returns the states of a value that exist in the machine. */
export function activeNodes(root: LiveNode, value: StateValue): readonly LiveNode[] {
  const nested: readonly (readonly [string, StateValue])[] =
    typeof value === 'string' ? [[value, {}]] : Object.entries(value);
  return [
    root,
    ...nested.flatMap(([key, below]) => {
      const node = Object.hasOwn(root.states, key) ? root.states[key] : undefined;
      return node === undefined ? [] : activeNodes(node, below);
    }),
  ];
}

/** Invoke of a state. */
interface PlacedInvoke {
  readonly node: LiveNode;
  readonly invoke: LiveInvoke;
}

const invokes = /* @__PURE__ */ new WeakMap<
  AnyStateMachine,
  ReadonlyMap<string, readonly PlacedInvoke[]>
>();

/** Returns `true` if any state of a machine has an invoke with an ID. */
export function hasInvoke(machine: AnyStateMachine, id: string): boolean {
  return invokesOf(machine).has(id);
}

/**
 * Returns the invoke of an active state by its ID. There is one at most: states that can be active
 * together have no invokes of the same ID.
 */
export function activeInvoke(
  machine: AnyStateMachine,
  value: StateValue,
  id: string,
): LiveInvoke | undefined {
  const placed = invokesOf(machine).get(id);
  return placed?.find(({ node }) => valueInside(node, value) !== undefined)?.invoke;
}

/** Returns all invokes of a machine by ID. A turn asks for each child, so they are found once. */
function invokesOf(machine: AnyStateMachine): ReadonlyMap<string, readonly PlacedInvoke[]> {
  const known = invokes.get(machine);
  if (known !== undefined) return known;
  const found = new Map<string, PlacedInvoke[]>();
  for (const node of nodesOf(rootOf(machine))) {
    for (const invoke of node.invoke) {
      const placed = found.get(invoke.id) ?? [];
      placed.push({ node, invoke });
      found.set(invoke.id, placed);
    }
  }
  invokes.set(machine, found);
  return found;
}

/** Returns what a value says of the states inside a state; undefined if the state is not active. */
function valueInside({ parent, key }: LiveNode, value: StateValue): StateValue | undefined {
  if (parent === undefined) return value;
  const around = valueInside(parent, value);
  if (typeof around === 'string') return around === key ? {} : undefined;
  return around !== undefined && Object.hasOwn(around, key) ? around[key] : undefined;
}

/** Returns completed states: an inner final state is active, or all regions have completed. */
export function completedNodes(nodes: readonly LiveNode[]): readonly LiveNode[] {
  const ended = new Set(nodes.filter(({ type }) => type === 'final').map(({ parent }) => parent));
  const hasCompleted = (node: LiveNode): boolean => {
    if (node.type !== 'parallel') return node.type === 'final' || ended.has(node);
    return Object.values(node.states).every(
      (region) => region.type === 'history' || hasCompleted(region),
    );
  };
  return nodes.filter(hasCompleted);
}

/** Returns `true` if a state has an `onDone`. */
export function hasOnDone({ id, transitions }: LiveNode): boolean {
  return transitions.has(`xstate.done.state.${id}`);
}

/** Returns the active states in the order that XState restores. `value` must be complete. */
export function restoredOrder(machine: AnyStateMachine, value: StateValue): readonly LiveNode[] {
  return [...new Set(getStateNodes(machine.root, value))] as unknown as readonly LiveNode[];
}

/**
 * Returns `true` if two states can be active together: one is inside the other, or both are in
 * parallel regions.
 */
export function canBeActiveTogether(one: LiveNode, other: LiveNode): boolean {
  const below = pathTo(other);
  const shared = pathTo(one).findLast((node) => below.includes(node));
  return shared === one || shared === other || shared?.type === 'parallel';
}

function pathTo(node: LiveNode): readonly LiveNode[] {
  return node.parent === undefined ? [node] : [...pathTo(node.parent), node];
}
