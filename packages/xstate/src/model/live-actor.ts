// oxlint-disable no-underscore-dangle -- names of XState's own
/** Internal types of XState 5, as far as this package reads them. */
import type { AnyActorLogic, AnyStateMachine, InspectionEvent } from 'xstate';

/** Actor. */
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

/** Snapshot of an actor. Only machines have the fields from `value` on. */
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
  /** Active states, in the order in which XState looks for transitions. */
  readonly _nodes?: LiveNode[];
}

/** Active states as XState formats them. */
export type StateValue = string | { readonly [key: string]: StateValue };

/** State of a machine. */
export interface LiveNode {
  readonly id: string;
  readonly key: string;
  readonly parent: LiveNode | undefined;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  readonly history: false | 'shallow' | 'deep';
  readonly order: number;
  readonly states: { readonly [key: string]: LiveNode };
  /** As the author wrote it. */
  readonly config: { readonly states?: object };
  readonly invoke: readonly LiveInvoke[];
  readonly after: readonly { readonly eventType: string }[];
  readonly transitions: ReadonlyMap<string, unknown>;
}

/** Invoke of a state. */
export interface LiveInvoke {
  readonly id: string;
  readonly src: string;
  readonly systemId: string | undefined;
  readonly onSnapshot?: unknown;
}

/** Scheduler of delayed events. */
export interface EventScheduler {
  schedule(source: LiveActor, target: LiveActor, event: object, delay: number, id?: string): void;
  cancel(source: LiveActor, id: string): void;
  cancelAll(source: LiveActor): void;
}

/** System of a root actor and its descendants. */
export interface LiveSystem {
  scheduler: EventScheduler;
  _sendInspectionEvent: (seen: InspectionEvent) => void;
  _relay: (
    source: LiveActor | undefined,
    target: LiveActor,
    event: { readonly type: string },
  ) => void;
}

/** Snapshot as XState persists it. */
export interface PersistedSnapshot {
  readonly status: string;
  readonly output: unknown;
  readonly error: unknown;
  readonly [key: string]: unknown;
}

/** Called for each step of a machine and its descendants. The machine fails with a thrown error. */
export type StepWatch = (actor: LiveActor, snapshot: LiveSnapshot) => void;

/** Delayed event of an actor. */
export interface Timer {
  readonly source: LiveActor;
  readonly target: LiveActor;
  readonly event: object;
  readonly id: string;
  /** Time of the event, in milliseconds since the epoch. */
  readonly at: number;
  /**
   * `true` if set in an earlier turn, or after such a delay: compared with the time of the answers.
   */
  readonly isEarlier?: boolean;
  /** `true` if set in this turn. */
  readonly isNew?: boolean;
}
