import { assertNamed } from './actor-names.ts';
import { kindOf } from './logic-kind.ts';
import { parentOf } from './xstate-actors.ts';
import type { LiveActor } from '../model/live-actor.ts';

/** Pending client step, or running actor. */
export interface SurveyedActor {
  readonly actor: LiveActor;
  /** IDs of the actors on the path, joined by `/`. */
  readonly path: string;
}

/** Activity of a machine and its descendants. */
export interface Survey {
  /** Pending client steps, in the order of the tree. */
  readonly asks: readonly SurveyedActor[];
  /** Active effects. */
  readonly effects: readonly SurveyedActor[];
  /** Open waits for answers from outside. */
  readonly waits: readonly SurveyedActor[];
}

/** Looks at every actor of a tree, once. Throws MachineRefused for a promise without a name. */
export function survey(root: LiveActor): Survey {
  const found = {
    client: [] as SurveyedActor[],
    effect: [] as SurveyedActor[],
    outside: [] as SurveyedActor[],
  };
  const walk = (parent: LiveActor, prefix: string): void => {
    for (const actor of childrenOf(parent)) {
      if (actor.getSnapshot().status !== 'active') continue;
      const path = prefix + actor.id;
      const kind = kindOf(actor.logic);
      if (kind === 'machine') walk(actor, `${path}/`);
      // A named one is a step. Nothing records the effect of another one.
      else if (kind === 'promise') assertNamed(actor);
      else if (kind !== 'passive' && kind !== 'alien') found[kind].push({ actor, path });
    }
  };
  walk(root, '');
  const { client: asks, effect: effects, outside: waits } = found;
  return { asks, effects, waits };
}

/** Returns the current children of an actor. */
export function childrenOf(actor: LiveActor): readonly LiveActor[] {
  const { children = {} } = actor.getSnapshot();
  return Object.values(children).filter((child) => child !== undefined);
}

export function actorAt(root: LiveActor, path: string): LiveActor | undefined {
  if (path === '') return root;
  let at: LiveActor | undefined = root;
  for (const id of path.split('/')) at = at?.getSnapshot().children?.[id];
  return at;
}

/** Returns `true` if an actor still belongs to a tree. */
export function isIn(root: LiveActor, actor: LiveActor): boolean {
  if (actor === root) return true;
  const above = parentOf(actor);
  return above?.getSnapshot().children?.[actor.id] === actor && isIn(root, above);
}
