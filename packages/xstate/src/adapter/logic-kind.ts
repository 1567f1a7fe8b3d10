import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import { effectOf } from '../author/step.ts';
import type { LiveSnapshot } from '../model/live-actor.ts';
import { askOf } from '../author/step-logic.ts';

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
