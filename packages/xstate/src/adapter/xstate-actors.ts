// oxlint-disable no-underscore-dangle -- names of XState's own
import { createActor, type AnyStateMachine, type InspectionEvent } from 'xstate';
import type {
  LiveActor,
  LiveNode,
  LiveSnapshot,
  LiveSystem,
  PersistedSnapshot,
  StepWatch,
} from '../model/live-actor.ts';

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

/** Runs `start`, and hides from parents the snapshots of restarted children, which they had before. */
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

/** Whether XState made an id up: it is another one in another process. */
export function isMadeUpId({ id, sessionId }: LiveActor): boolean {
  return id === sessionId || id === 'undefined';
}

/** Whether XState made up an id on a path, of a state that invokes without one: `0.shop.paying`. */
export function hasInvokeId(path: string): boolean {
  return /(?:^|\/)\d+\./.test(path);
}
