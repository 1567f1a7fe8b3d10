import type { AnyStateMachine } from 'xstate';
import { namedLogicsOf } from '../adapter/xstate-nodes.ts';

/** Parts of an action that can spawn. */
interface SpawningAction {
  readonly type?: unknown;
  /** Of `spawnChild`. */
  readonly src?: unknown;
  /** Of `assign`: a function, or a function for each key. */
  readonly assignment?: unknown;
  /** Of `enqueueActions`. */
  readonly collect?: unknown;
}

/**
 * Finds the sources of spawned actors. `assign` and `enqueueActions` are code: a source counts if
 * the code mentions `spawn` and contains its name as a string.
 */
export function findSpawnedSources(
  machine: AnyStateMachine,
  actions: readonly unknown[],
): readonly string[] {
  const { actions: named } = machine.implementations as {
    readonly actions: { readonly [name: string]: unknown };
  };
  const sources = actions.flatMap((action): readonly string[] => {
    const { type, src, assignment, collect } = Object(action) as SpawningAction;
    const name = typeof action === 'string' ? action : type;
    if (typeof name === 'string' && Object.hasOwn(named, name))
      return findSpawnedSources(machine, [named[name]]);
    if (type === 'xstate.spawnChild') return [typeof src === 'string' ? src : ''];
    return [assignment, collect].flatMap((code) => findSourcesInCode(machine, code));
  });
  return [...new Set(sources)];
}

/** Finds the sources of the actors that the context of a machine spawns when the machine starts. */
export function findSourcesInContext(machine: AnyStateMachine): readonly string[] {
  return findSourcesInCode(machine, machine.config.context);
}

function findSourcesInCode(machine: AnyStateMachine, code: unknown): readonly string[] {
  if (typeof code !== 'function') {
    return Object.values(Object(code) as object).flatMap((item) =>
      typeof item === 'function' ? findSourcesInCode(machine, item) : [],
    );
  }
  const text = String(code);
  if (!text.includes('spawn')) return [];
  return Object.keys(namedLogicsOf(machine)).filter((src) =>
    ["'", '"', '`'].some((quote) => text.includes(quote + src + quote)),
  );
}
