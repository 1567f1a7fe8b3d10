import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import { AuthoringError, specOf } from '@mcp-saga/core/program';
import { misnomer } from '../adapter/actor-names.ts';
import { isMachine, kindOf } from '../adapter/logic-kind.ts';
import type { LiveNode } from '../model/live-actor.ts';
import {
  canBeActiveTogether,
  logicOf,
  namedLogicsOf,
  nodesOf,
  rootOf,
} from '../adapter/xstate-nodes.ts';

/** Actor logic with a name in a machine or a child machine. */
export interface NamedLogic {
  /** Sources on the path to the logic, such as `mid/release`. */
  readonly name: string;
  readonly logic: AnyActorLogic;
}

/**
 * Lists all logics of a machine and its child machines. Throws AuthoringError for a missing or
 * unsupported logic, or an invalid ID.
 */
export function logicsOf(machine: AnyStateMachine): readonly NamedLogic[] {
  const found: NamedLogic[] = [];
  const seen = new Set<AnyStateMachine>();
  const add = (name: string, logic: AnyActorLogic, where: string): void => {
    if (specOf(logic) !== undefined)
      throw new AuthoringError(
        `${where} is a command of a generator, not an actor. Import elicit, sample, and step from '@mcp-saga/xstate'.`,
        { anchor: 'machines' },
      );
    if (kindOf(logic) === 'alien') {
      throw new AuthoringError(
        `${where} is a callback or observable, which cannot be stored between two requests. ` +
          'Use step(…) or fromPromise for work, and elicit(…) or sample(…) for questions.',
        { anchor: 'machines' },
      );
    }
    found.push({ name, logic });
    if (isMachine(logic)) walk(logic, `${name}/`);
  };
  const walk = (at: AnyStateMachine, prefix: string): void => {
    // A machine can invoke itself.
    if (seen.has(at)) return;
    seen.add(at);
    for (const [src, logic] of Object.entries(namedLogicsOf(at))) {
      add(prefix + src, logic, `The actor '${prefix}${src}'`);
    }
    assertDistinctInvokes(at);
    for (const node of nodesOf(rootOf(at))) {
      if (Object.hasOwn(node.config.states ?? {}, '__proto__'))
        throw new AuthoringError(
          `The state '${node.id}' has a state '__proto__', which XState cannot restore. Rename it.`,
          { anchor: 'machines' },
        );
      for (const { src, id } of node.invoke) {
        const where = `The invoke '${id}' of state '${node.id}'`;
        const problem = misnomer(id);
        if (problem !== undefined) {
          const advice = isDefaultId(id, node)
            ? `XState has made it from the name of the state: give the invoke an \`id\`.`
            : 'Rename the invoke.';
          throw new AuthoringError(`${where} ${problem} ${advice}`, { anchor: 'machines' });
        }
        if (Object.hasOwn(namedLogicsOf(at), src)) continue;
        const logic = logicOf(at, src);
        if (logic === undefined)
          throw new AuthoringError(
            `${where} uses the actor '${src}', which setup({ actors }) does not define. Add '${src}' to actors.`,
            { anchor: 'machines' },
          );
        add(prefix + src, logic, where);
      }
    }
  };
  walk(machine, '');
  return found;
}

/** `true` for the ID that XState gives to an invoke without one: its position in its state. */
function isDefaultId(id: string, { id: state, invoke }: LiveNode): boolean {
  return invoke.some((_, index) => id === `${index}.${state}`);
}

// XState would replace one actor by the other.
function assertDistinctInvokes(machine: AnyStateMachine): void {
  const invokes = nodesOf(rootOf(machine)).flatMap((node) =>
    node.invoke.map(({ id }) => ({ id, node })),
  );
  for (const [index, { id, node }] of invokes.entries()) {
    const other = invokes.find(
      (later, at) => at > index && later.id === id && canBeActiveTogether(node, later.node),
    );
    if (other === undefined) continue;
    throw new AuthoringError(
      `The states '${node.id}' and '${other.node.id}' can be active at the same time, and both invoke '${id}'. Rename one invoke.`,
      { anchor: 'machines' },
    );
  }
}
