// oxlint-disable no-underscore-dangle -- names of XState's own
import {
  createActor,
  type AnyActor,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type InspectionEvent,
} from 'xstate';
import type {
  LiveActor,
  LiveNode,
  LiveSnapshot,
  LiveSystem,
  PersistedSnapshot,
  StepWatch,
} from '../model/live-actor.ts';

/** Root of a system. */
export interface RootActor extends LiveActor {
  start(): void;
  stop(): void;
  subscribe(observer: { readonly next: () => void; readonly error: () => void }): unknown;
}

/** Creates the root actor from input or a persisted snapshot. The actor has not started. */
export function makeRoot(
  machine: AnyStateMachine,
  from: { readonly input: unknown } | { readonly snapshot: PersistedSnapshot },
  watch: StepWatch,
): RootActor {
  const inspect = (seen: InspectionEvent): void => {
    if (seen.type !== '@xstate.microstep' || seen.event.type === 'xstate.stop') return;
    watch(seen.actorRef as unknown as LiveActor, seen.snapshot);
  };
  // A new actor takes its first steps in the constructor. A restored one takes none.
  const actor = createActor(machine, ('input' in from ? { ...from, inspect } : from) as never);
  // XState reports an error of a root without an observer in a timer, which ends the process.
  actor.subscribe({ error: () => undefined });
  const root = actor as unknown as RootActor;
  // XState copies every event for an observer of its own.
  root.system._sendInspectionEvent = inspect;
  return root;
}

/** Returns the parent; undefined for the root. */
export function parentOf(actor: LiveActor): LiveActor | undefined {
  return actor._parent;
}

/** Returns the path of an actor; empty for the root. */
export function pathOf(actor: LiveActor): string {
  const above = parentOf(actor);
  if (above === undefined) return '';
  const prefix = pathOf(above);
  return prefix === '' ? actor.id : `${prefix}/${actor.id}`;
}

/** Returns `true` if the parent receives snapshots of an actor. */
export function isSynced(actor: LiveActor): boolean {
  return actor._syncSnapshot === true;
}

/** Returns the active states in the order of XState. A change in place changes the order. */
export function orderedNodes(snapshot: LiveSnapshot): LiveNode[] {
  return snapshot._nodes ?? [];
}

/** Sends an event to an actor, as a delay does. */
export function relay(source: LiveActor, target: LiveActor, event: object): void {
  target.system._relay(source, target, event as { readonly type: string });
}

/** Runs `start`, and drops the snapshots that restarted children send to their parents again. */
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

/** Returns `true` for a reference to an actor. */
export function isActorRef(value: object): value is LiveActor {
  return 'sessionId' in value && 'send' in value && 'ref' in value;
}

/** Returns the marker of a reference to a child in a persisted context. */
export function refMarker(id: string): object {
  return { xstate$$type: 1, id };
}

/** Returns `true` if XState generated the ID, which differs in another process. */
export function isGeneratedId({ id, sessionId }: LiveActor): boolean {
  return id === sessionId || id === 'undefined';
}

/** Returns `true` if a path contains a generated ID of an invoke, such as `0.shop.paying`. */
export function hasInvokeId(path: string): boolean {
  return /(?:^|\/)\d+\./.test(path);
}

/** Returns the newest delay in the system of an actor. */
export function lastScheduled({ system }: AnyActor): Scheduled | undefined {
  return Object.values(system.getSnapshot()._scheduledEvents).at(-1);
}

type Scheduled = ReturnType<AnyActor['system']['getSnapshot']>['_scheduledEvents'][string];

/** Returns the IDs of the active states. */
export function activeIds(snapshot: AnyMachineSnapshot): readonly string[] {
  return orderedNodes(snapshot as unknown as LiveSnapshot).map(({ id }) => id);
}
