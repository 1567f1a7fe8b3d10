// oxlint-disable no-underscore-dangle -- names of XState's own
/**
 * All that is known here of the inside of XState 5, its promises apart. Another major version is another adapter.
 */
import { createActor, type AnyActorLogic, type AnyStateMachine, type InspectionEvent } from 'xstate';
import { askOf } from './step-logic.ts';
import { effectOf } from './effect.ts';

/** The major version whose snapshots are kept; sealed in each state. */
export const xstateMajor = 5;

/** An actor in motion. */
export interface LiveActor {
  readonly id: string;
  readonly sessionId: string;
  readonly src: unknown;
  readonly logic: AnyActorLogic;
  readonly systemId: string | undefined;
  readonly system: LiveSystem;
  readonly _parent: LiveActor | undefined;
  readonly _syncSnapshot: boolean | undefined;
  getSnapshot(): LiveSnapshot;
  send(event: object): void;
}

/** A snapshot of an actor: a machine's has the fields from `value` on. */
export interface LiveSnapshot {
  readonly status: 'active' | 'done' | 'error' | 'stopped';
  readonly output: unknown;
  readonly error: unknown;
  readonly input?: unknown;
  readonly context?: unknown;
  readonly value?: StateValue;
  readonly machine?: AnyStateMachine;
  readonly children?: { readonly [id: string]: LiveActor | undefined };
  readonly historyValue?: { readonly [id: string]: readonly LiveNode[] };
  readonly tags?: ReadonlySet<string>;
  /** Active nodes, in the order in which they are looked at. */
  readonly _nodes?: LiveNode[];
}

/** The states that are active, as XState writes them. */
export type StateValue = string | { readonly [key: string]: StateValue };

/** One state of a machine. */
export interface LiveNode {
  readonly id: string;
  readonly key: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly history: false | 'shallow' | 'deep';
  readonly order: number;
  readonly states: { readonly [key: string]: LiveNode };
  readonly invoke: readonly LiveInvoke[];
  readonly after: readonly { readonly eventType: string }[];
  readonly transitions: ReadonlyMap<string, unknown>;
}

/** An invoke, as its state has it. */
export interface LiveInvoke {
  readonly id: string;
  readonly src: string;
  readonly systemId: string | undefined;
  readonly onSnapshot?: unknown;
}

/** Where the events of actors go that are to come later. */
export interface EventScheduler {
  schedule(source: LiveActor, target: LiveActor, event: object, delay: number, id?: string): void;
  cancel(source: LiveActor, id: string): void;
  cancelAll(source: LiveActor): void;
}

/** What all actors of one root share. */
export interface LiveSystem {
  scheduler: EventScheduler;
  _relay: (source: LiveActor | undefined, target: LiveActor, event: { readonly type: string }) => void;
}

/** What an actor is, as far as it matters for being kept. */
export type LogicKind = 'client' | 'effect' | 'machine' | 'promise' | 'passive' | 'alien';

const kinds = /* @__PURE__ */ new WeakMap<object, LogicKind>();

/** What a logic makes of its actors. `alien`: something that runs by itself, and cannot be kept. */
export function kindOf(logic: AnyActorLogic): LogicKind {
  let kind = kinds.get(logic);
  if (kind === undefined) {
    kind = findKind(logic);
    kinds.set(logic, kind);
  }
  return kind;
}

function findKind(logic: AnyActorLogic): LogicKind {
  if (askOf(logic) !== undefined) return 'client';
  if (effectOf(logic) !== undefined) return 'effect';
  if (isMachine(logic)) return 'machine';
  // Without anything that starts by itself it only does what it is told: `fromTransition`, a store.
  if (logic.start === undefined) return 'passive';
  try {
    // XState does not say what a logic was made by. A promise is settled by this event; a callback throws at it, an
    // observable goes on.
    const active = { status: 'active', output: undefined, error: undefined, input: undefined };
    const probe = { type: 'xstate.promise.resolve', data: undefined };
    const { status } = logic.transition(active, probe, { self: {} } as never) as LiveSnapshot;
    return status === 'done' ? 'promise' : 'alien';
  } catch {
    return 'alien';
  }
}

/** Whether a logic is a machine. */
export function isMachine(logic: unknown): logic is AnyStateMachine {
  return typeof logic === 'object' && logic !== null && '__xstatenode' in logic;
}

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

/** A snapshot as XState restores it. */
export interface PersistedSnapshot {
  readonly status: string;
  readonly output: unknown;
  readonly error: unknown;
  readonly [key: string]: unknown;
}

/** Told of each step that a machine takes: itself, or one below it. What it throws, the machine fails with. */
export type StepWatch = (actor: LiveActor, snapshot: LiveSnapshot) => void;

/** Makes the root actor, of input or of what was persisted. It has not started: its events can be taken over. */
export function makeRoot(
  machine: AnyStateMachine,
  from: { readonly input: unknown } | { readonly snapshot: PersistedSnapshot },
  watch: StepWatch,
): LiveActor & { start(): void; stop(): void } {
  const inspect = (seen: InspectionEvent): void => {
    if (seen.type !== '@xstate.microstep' || seen.event.type === 'xstate.stop') return;
    watch(seen.actorRef as unknown as LiveActor, seen.snapshot);
  };
  const actor = createActor(machine, { ...from, inspect } as never);
  // Without it an error of the root is thrown in a timer, and ends the process.
  actor.subscribe({ error: () => undefined });
  return actor as unknown as LiveActor & { start(): void; stop(): void };
}

/** The actor above; the root has none. */
export function parentOf(actor: LiveActor): LiveActor | undefined {
  return actor._parent;
}

/** Whether the parent of an actor hears of its snapshots. */
export function isSynced(actor: LiveActor): boolean {
  return actor._syncSnapshot === true;
}

/** The active states in the order in which they are looked at: changed in place, it is another order. */
export function orderedNodes(snapshot: LiveSnapshot): LiveNode[] {
  return snapshot._nodes ?? [];
}

/** Hands an event to an actor, as a delay does. */
export function relay(source: LiveActor, target: LiveActor, event: object): void {
  target.system._relay(source, target, event as { readonly type: string });
}

/**
 * Runs `start`, and keeps from parents the snapshots of children that are only started again: they had them before.
 */
export function withoutEchoes(system: LiveSystem, start: () => void): void {
  const { _relay: hear } = system;
  system._relay = (source, target, event) => {
    if (!event.type.startsWith('xstate.snapshot.')) hear(source, target, event);
  };
  try {
    start();
  } finally {
    system._relay = hear;
  }
}

/** Whether a value is a reference to an actor. */
export function isActorRef(value: object): value is LiveActor {
  return 'sessionId' in value && 'send' in value && 'ref' in value;
}

/** What stands for a reference to a child in a persisted context. */
export function refMarker(id: string): object {
  return { xstate$$type: 1, id };
}

/** How ids of delayed transitions begin. */
export const afterMark = 'xstate.after.';

/** Whether XState made an id up: it is another one in another process. */
export function isMadeUpId({ id, sessionId }: LiveActor): boolean {
  return id === sessionId || id === 'undefined';
}

/** Whether XState made up an id on a path, of a state that invokes without one: `0.shop.paying`. */
export function hasInvokeId(path: string): boolean {
  return /(?:^|\/)\d+\./.test(path);
}
