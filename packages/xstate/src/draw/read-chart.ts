import type { AnyStateMachine, AnyStateNode } from 'xstate';
import { activitiesOf, isUndone, transitionsOf, type TransitionKind } from './labels.ts';

/** Statechart of a machine as plain data. */
export interface Chart {
  readonly root: ChartState;
  /** Transitions of all states, in the order of XState. */
  readonly transitions: readonly ChartTransition[];
}

/** State of a chart. */
export interface ChartState {
  readonly id: string;
  readonly name: string;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** `true` for a deep history state. */
  readonly isDeep: boolean;
  /** Invoked and spawned actors, and `compensate` for a state that undoes the machine. */
  readonly activities: readonly string[];
  /** ID of the first state inside. */
  readonly initial: string | undefined;
  readonly states: readonly ChartState[];
}

/** Transition of a chart. */
export interface ChartTransition {
  /** ID of the state that the transition leaves. */
  readonly source: string;
  /** IDs of the targets; empty if the state does not change. */
  readonly targets: readonly string[];
  readonly kind: TransitionKind;
  /** Event type of XState. */
  readonly type: string;
  readonly label: string;
}

/**
 * Reads the states and transitions of a machine of XState 5, without the machines that it invokes.
 */
export function readChart(machine: AnyStateMachine): Chart {
  return { root: readState(machine.root), transitions: readTransitions(machine.root) };
}

function readState(node: AnyStateNode): ChartState {
  const [initial] = (node.initial?.target ?? []) as readonly AnyStateNode[];
  return {
    id: node.id,
    name: node.parent === undefined ? node.machine.id : node.key,
    type: node.type,
    isDeep: node.history === 'deep',
    activities: [...activitiesOf(node), ...(isUndone(node) ? ['compensate'] : [])],
    initial: initial?.id,
    states: statesOf(node).map(readState),
  };
}

function readTransitions(node: AnyStateNode): readonly ChartTransition[] {
  const own = transitionsOf(node).map(({ event, guard, spawns, targets, kind, type }) => ({
    source: node.id,
    targets: targets.map(({ id }) => id),
    kind,
    type,
    label: [guard === undefined ? event : `${event} [${guard}]`, ...spawns].join(' / '),
  }));
  return [...own, ...statesOf(node).flatMap(readTransitions)];
}

function statesOf(node: AnyStateNode): readonly AnyStateNode[] {
  return Object.values(node.states) as readonly AnyStateNode[];
}
