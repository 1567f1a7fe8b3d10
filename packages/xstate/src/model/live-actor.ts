// oxlint-disable no-underscore-dangle -- names of XState's own
/** Types of the inside of XState 5, as far as this package reads it. */
import type { AnyActorLogic, AnyStateMachine } from 'xstate';

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
  readonly parent: LiveNode | undefined;
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

/** A snapshot as XState restores it. */
export interface PersistedSnapshot {
  readonly status: string;
  readonly output: unknown;
  readonly error: unknown;
  readonly [key: string]: unknown;
}

/** Told of each step that a machine takes: itself, or one below it. What it throws, the machine fails with. */
export type StepWatch = (actor: LiveActor, snapshot: LiveSnapshot) => void;
