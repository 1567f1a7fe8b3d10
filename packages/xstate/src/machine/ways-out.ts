import { AuthoringError } from '@mcp-saga/core/program';
import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { isMachine, kindOf } from '../adapter/logic-kind.ts';
import { namedLogicsOf } from '../adapter/xstate-nodes.ts';
import type { LiveNode } from '../model/live-actor.ts';

/** A state of a machine, and the keys that lead to it from the root, which has none. */
export interface StateOfPath {
  readonly node: AnyStateNode;
  readonly keys: readonly string[];
}

/** Returns all states, with the machine itself as the first. */
export function statesOf(node: AnyStateNode, keys: readonly string[]): readonly StateOfPath[] {
  const below = Object.entries(node.states);
  return [{ node, keys }, ...below.flatMap(([key, state]) => statesOf(state, [...keys, key]))];
}

/** Returns the name of a state in `asks`. XState, too, calls a machine without an ID `(machine)`. */
export function pathOf({ keys }: Pick<StateOfPath, 'keys'>): string {
  return keys.length === 0 ? '(machine)' : keys.join('.');
}

/**
 * Throws AuthoringError for a state that nothing can leave: its saga would get stuck there, after
 * its effects. A machine that sends events to itself, and regions, which do so for each other, are
 * left to the run.
 */
export function assertWaysOut(
  name: string,
  machine: AnyStateMachine,
  asks: { readonly [state: string]: unknown },
): void {
  const known = new Set(Object.keys(asks));
  if (sendsEvents(machine, new Set())) return;
  const states = statesOf(machine.root, []);
  const isKnown = ({ keys }: StateOfPath): boolean =>
    [machine, ...keys].some((_, length) => known.has(pathOf({ keys: keys.slice(0, length) })));
  const ends = new Set(
    states.filter((state) => asks[pathOf(state)] === 'end').map(({ node }) => node),
  );
  const knownNodes = new Set(states.filter(isKnown).map(({ node }) => node));
  const reached = reachedFrom(machine.root, knownNodes, ends);
  for (const state of states) {
    const { node } = state;
    const line = [machine.root, ...lineTo(node)];
    const isWaiting =
      node.type === 'atomic' &&
      reached.has(node) &&
      !isKnown(state) &&
      !line.some((each) => each.type === 'parallel' || leavesByItself(each));
    const events = isWaiting ? line.flatMap((each) => eventsOf(each as unknown as LiveNode)) : [];
    if (events.length === 0) continue;
    const path = pathOf(state);
    throw new AuthoringError(
      `Saga '${name}' would wait for ever in state '${path}', which only ${[...new Set(events)].join(', ')} can leave. Say who ` +
        `sends it: asks: { '${path}': { ask: elicit({ … }), onAnswer: ({ answer, send }) => send({ type: '${events[0]}' }) } }, or ` +
        "'internal' if another part of the machine does.",
      { anchor: 'machines' },
    );
  }
}

/** The states on the path to a state, without the root. */
function lineTo(node: AnyStateNode): readonly AnyStateNode[] {
  return node.parent === undefined ? [] : [...lineTo(node.parent), node];
}

/** States that the machine can reach without an event that nobody is known to send. */
function reachedFrom(
  root: AnyStateNode,
  known: ReadonlySet<AnyStateNode>,
  ends: ReadonlySet<AnyStateNode>,
): ReadonlySet<AnyStateNode> {
  const reached = new Set<AnyStateNode>();
  const enter = (node: AnyStateNode): void => {
    if (reached.has(node)) return;
    reached.add(node);
    if (node.parent !== undefined) enter(node.parent);
    if (ends.has(node)) return;
    const inside = Object.values(node.states);
    // A history state may lead to each of its siblings.
    if (node.type === 'history') Object.values(node.parent?.states ?? {}).forEach(enter);
    else if (node.type === 'parallel') inside.forEach(enter);
    else if (inside.length > 0) targetsOf([node.initial]).forEach(enter);
    const isAsked =
      lineTo(node).some((each) => known.has(each)) || inside.some((n) => known.has(n));
    const taken = [...node.transitions].filter(
      ([type]) => isAsked || isOwnEvent(type) || type === '*',
    );
    targetsOf([...(node.always ?? []), ...taken.flatMap(([, to]) => to)]).forEach(enter);
  };
  enter(root);
  // An event for an asked state may be handled by any state around it.
  for (const node of known)
    for (const each of [root, ...lineTo(node)])
      if (reached.has(node) && !ends.has(node))
        targetsOf([...each.transitions.values()].flat()).forEach(enter);
  return reached;
}

function targetsOf(
  transitions: readonly ({ readonly target?: unknown } | undefined)[],
): readonly AnyStateNode[] {
  return transitions.flatMap((each) => (each?.target ?? []) as readonly AnyStateNode[]);
}

/** Returns the events from outside that a state takes. */
export function eventsOf({ transitions }: Pick<LiveNode, 'transitions'>): readonly string[] {
  return [...transitions.keys()].filter((type) => !isOwnEvent(type) && type !== '*');
}

/** `true` for an event that XState or this package sends. */
function isOwnEvent(type: string): boolean {
  return type === '' || /^(?:xstate|mcp-saga)\./.test(type);
}

/** `true` if a state is left without an event from outside: at once, after a delay, or by an actor. */
function leavesByItself({ always = [], after, invoke, transitions }: AnyStateNode): boolean {
  return (
    after.length > 0 ||
    invoke.length > 0 ||
    always.some(({ target }) => target !== undefined) ||
    [...transitions.keys()].some((type) => type.startsWith('xstate.') || type === '*')
  );
}

const sending = /^xstate\.(?:raise|sendTo|enqueueActions|forwardTo|emit)$/;

/** `true` if a machine, or a machine inside, may send events by its own actions. */
function sendsEvents(machine: AnyStateMachine, seen: Set<object>): boolean {
  if (seen.has(machine)) return false;
  seen.add(machine);
  const { actions: named } = machine.implementations as {
    readonly actions: Record<string, unknown>;
  };
  const sends = (action: unknown): boolean => {
    const { type } = Object(action) as { readonly type?: unknown };
    const name = typeof action === 'string' ? action : type;
    if (typeof name === 'string' && Object.hasOwn(named, name)) return sends(named[name]);
    // A function of the author may send anything.
    if (typeof action === 'function' && type === undefined) return true;
    return typeof type === 'string' && sending.test(type);
  };
  const inNode = (node: AnyStateNode): boolean =>
    [
      ...node.entry,
      ...node.exit,
      ...[...node.transitions.values()].flat().flatMap(({ actions }) => actions),
      ...(node.always ?? []).flatMap(({ actions }) => actions),
      ...(node.config.initial === undefined ? [] : node.initial.actions),
    ].some(sends) || Object.values(node.states).some(inNode);
  return (
    inNode(machine.root) ||
    Object.values(namedLogicsOf(machine)).some((logic) =>
      isMachine(logic) ? sendsEvents(logic, seen) : kindOf(logic) === 'passive',
    )
  );
}
