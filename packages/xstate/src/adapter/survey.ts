import { kindOf } from './logic-kind.ts';
import { parentOf } from './xstate-actors.ts';
import type { LiveActor } from '../model/live-actor.ts';

/** A step that waits for its client, or an actor that runs. */
export interface SurveyedActor {
  readonly actor: LiveActor;
  /** The ids of actors on the way to it, joined by `/`. */
  readonly path: string;
}

/** What a machine and everything below it are doing. */
export interface Survey {
  /** Client steps that wait, in the order of the tree. */
  readonly asks: readonly SurveyedActor[];
  /** Effects that have not ended. */
  readonly effects: readonly SurveyedActor[];
  /** Plain promises that run. */
  readonly promises: readonly SurveyedActor[];
}

/** Looks at every actor of the tree, once. */
export function survey(root: LiveActor): Survey {
  const found: { [key in keyof Survey]: SurveyedActor[] } = { asks: [], effects: [], promises: [] };
  const walk = (parent: LiveActor, prefix: string): void => {
    for (const actor of childrenOf(parent)) {
      if (actor.getSnapshot().status !== 'active') continue;
      const at = { actor, path: prefix + actor.id };
      switch (kindOf(actor.logic)) {
        case 'client':
          found.asks.push(at);
          break;
        case 'effect':
          found.effects.push(at);
          break;
        case 'promise':
          found.promises.push(at);
          break;
        case 'machine':
          walk(actor, `${at.path}/`);
          break;
        case 'passive':
        case 'alien':
          break;
      }
    }
  };
  walk(root, '');
  return found;
}

/** The children of an actor that it still has. */
export function childrenOf(actor: LiveActor): readonly LiveActor[] {
  const { children = {} } = actor.getSnapshot();
  return Object.values(children).filter((child) => child !== undefined);
}

/** The path of an actor: empty for the root. */
export function pathOf(actor: LiveActor): string {
  const above = parentOf(actor);
  if (above === undefined) return '';
  const prefix = pathOf(above);
  return prefix === '' ? actor.id : `${prefix}/${actor.id}`;
}

export function actorAt(root: LiveActor, path: string): LiveActor | undefined {
  if (path === '') return root;
  let at: LiveActor | undefined = root;
  for (const id of path.split('/')) at = at?.getSnapshot().children?.[id];
  return at;
}

/** Whether an actor still belongs to the tree. */
export function isIn(root: LiveActor, actor: LiveActor): boolean {
  if (actor === root) return true;
  const above = parentOf(actor);
  return above?.getSnapshot().children?.[actor.id] === actor && isIn(root, above);
}
