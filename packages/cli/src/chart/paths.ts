import type { ChartState, ChartTransition } from '@mcp-saga/xstate/internal';

/** IDs of the states around a state, from the root, and the ID of the state, by ID of the state. */
export type Paths = ReadonlyMap<string, readonly string[]>;

/** Finds the path of a state, and of each state inside. */
export function pathsIn({ id, states }: ChartState, around: readonly string[] = []): Paths {
  const path = [...around, id];
  return new Map([[id, path], ...states.flatMap((inner) => [...pathsIn(inner, path)])]);
}

/**
 * Returns the ID of the state inside which a transition is drawn: the root for a transition of the
 * root.
 */
export function containerOf(
  { source, targets }: ChartTransition,
  paths: Paths,
): string | undefined {
  const path = paths.get(source) ?? [];
  // A transition to an ancestor leaves the ancestor.
  const around = targets.map((id) => paths.get(id)?.slice(0, -1));
  return path.findLast((id) => around.every((ids) => ids?.includes(id))) ?? path[0];
}
