import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import { effectOf } from '../author/step.ts';
import type { LiveSnapshot } from '../model/live-actor.ts';
import { outsideOf } from '../author/outside-logic.ts';
import { askOf } from '../author/step-logic.ts';

/** Kind of actor logic. `alien`: a callback or observable, which cannot be stored. */
export type LogicKind =
  | 'client'
  | 'effect'
  | 'outside'
  | 'machine'
  | 'promise'
  | 'passive'
  | 'alien';

const kinds = /* @__PURE__ */ new WeakMap<object, LogicKind>();

/** Returns the kind of an actor logic. */
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
  if (outsideOf(logic) !== undefined) return 'outside';
  if (isMachine(logic)) return 'machine';
  // Without a start function, an actor only reacts to events: `fromTransition`, a store.
  if (logic.start === undefined) return 'passive';
  try {
    // XState does not mark the kinds. This event settles a promise; a callback throws, and an
    // observable stays active.
    const active = { status: 'active', output: undefined, error: undefined, input: undefined };
    const probe = { type: 'xstate.promise.resolve', data: undefined };
    const { status } = logic.transition(active, probe, { self: {} } as never) as LiveSnapshot;
    return status === 'done' ? 'promise' : 'alien';
  } catch {
    return 'alien';
  }
}

/** Returns `true` for a machine. */
export function isMachine(logic: unknown): logic is AnyStateMachine {
  return typeof logic === 'object' && logic !== null && '__xstatenode' in logic;
}
