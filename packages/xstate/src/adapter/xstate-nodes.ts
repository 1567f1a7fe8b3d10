// oxlint-disable no-underscore-dangle -- names of XState's own
import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import type { LiveInvoke, LiveNode, StateValue } from '../model/live-actor.ts';

/** The major version whose snapshots are kept; sealed in each state. */
export const xstateMajor = 5;

/** How ids of delayed transitions begin. */
export const afterMark = 'xstate.after.';

/** The states that are active, as a sentence has them. */
export function inStates(value: StateValue | undefined): string {
  return typeof value === 'string' ? `state '${value}'` : `state ${JSON.stringify(value)}`;
}

/** The root of the states of a machine. */
export function rootOf(machine: AnyStateMachine): LiveNode {
  return machine.root as unknown as LiveNode;
}

/** The logics that a machine has names for, inline invokes not among them. */
export function namedLogicsOf(machine: AnyStateMachine): { readonly [src: string]: AnyActorLogic } {
  return machine.implementations.actors as { readonly [src: string]: AnyActorLogic };
}

const inlineSource = /^xstate\.invoke\.(\d+)\.(.*)$/;

/** The logic that a machine means by a source; undefined when it has none of that name. */
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

/** The states of a machine, parents first. */
export function nodesOf(root: LiveNode): readonly LiveNode[] {
  return [root, ...Object.values(root.states).flatMap(nodesOf)];
}

/** The states that a value names, as far as the machine has them. */
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

/** The invokes of active states, by ID: the first one of each ID. */
export function activeInvokes(machine: AnyStateMachine, value: StateValue): ReadonlyMap<string, LiveInvoke> {
  const invokes = new Map<string, LiveInvoke>();
  for (const node of activeNodes(rootOf(machine), value)) {
    for (const invoke of node.invoke) if (!invokes.has(invoke.id)) invokes.set(invoke.id, invoke);
  }
  return invokes;
}

/** Active states that have completed, outer states first: a final state is active inside, or all regions have completed. */
export function completedNodes(root: LiveNode, value: StateValue): readonly LiveNode[] {
  const active = new Set(activeNodes(root, value));
  const hasCompleted = (node: LiveNode): boolean => {
    const inside = Object.values(node.states).filter(({ type }) => type !== 'history');
    if (node.type === 'compound') return inside.some((child) => child.type === 'final' && active.has(child));
    return node.type === 'final' || (node.type === 'parallel' && inside.every(hasCompleted));
  };
  return [...active].filter(hasCompleted);
}

/** `true` if a state has a transition for its own completion. */
export function hasOnDone({ id, transitions }: LiveNode): boolean {
  return transitions.has(`xstate.done.state.${id}`);
}

/** The order of active nodes that a restored machine would have. */
export function restoredOrder(machine: AnyStateMachine, value: StateValue): readonly LiveNode[] {
  return machine.resolveState({ value, context: {} })._nodes as unknown as readonly LiveNode[];
}

/** `true` if two states of a machine can be active at the same time: one is inside the other, or both are in parallel regions. */
export function canBeActiveTogether(one: LiveNode, other: LiveNode): boolean {
  const below = pathTo(other);
  const shared = pathTo(one).findLast((node) => below.includes(node));
  return shared === one || shared === other || shared?.type === 'parallel';
}

function pathTo(node: LiveNode): readonly LiveNode[] {
  return node.parent === undefined ? [node] : [...pathTo(node.parent), node];
}
