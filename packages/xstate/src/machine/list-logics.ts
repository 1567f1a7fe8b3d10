import type { AnyActorLogic, AnyStateMachine } from 'xstate';
import { AuthoringError } from '@mcp-saga/core/program';
import { misnomer } from '../adapter/actor-names.ts';
import { isMachine, kindOf } from '../adapter/logic-kind.ts';
import { canBeActiveTogether, logicOf, namedLogicsOf, nodesOf, rootOf } from '../adapter/xstate-nodes.ts';

/** An actor logic that a machine, or a machine below it, has a name for. */
export interface NamedLogic {
  /** Its source, behind the sources of the machines on the way to it: `mid/release`. */
  readonly name: string;
  readonly logic: AnyActorLogic;
}

/** All logics of a machine and the machines below it. Throws AuthoringError for a missing or unusable logic, or a bad ID. */
export function logicsOf(machine: AnyStateMachine): readonly NamedLogic[] {
  const found: NamedLogic[] = [];
  const seen = new Set<AnyStateMachine>();
  const add = (name: string, logic: AnyActorLogic, where: string): void => {
    if (kindOf(logic) === 'alien') {
      throw new AuthoringError(
        `${where} is an actor that runs by itself (fromCallback, fromObservable): it cannot be kept between two requests. ` +
          'Use step(…) or fromPromise for work that ends, and elicit(…) or sample(…) to ask the client.',
      );
    }
    found.push({ name, logic });
    if (isMachine(logic)) walk(logic, `${name}/`);
  };
  const walk = (at: AnyStateMachine, prefix: string): void => {
    // A machine may invoke itself.
    if (seen.has(at)) return;
    seen.add(at);
    for (const [src, logic] of Object.entries(namedLogicsOf(at))) {
      add(prefix + src, logic, `The actor '${prefix}${src}'`);
    }
    assertDistinctInvokes(at);
    for (const node of nodesOf(rootOf(at))) {
      for (const { src, id } of node.invoke) {
        const where = `The invoke '${id}' of state '${node.id}'`;
        const problem = misnomer(id);
        if (problem !== undefined) throw new AuthoringError(`${where} ${problem} Give it another one.`);
        if (Object.hasOwn(namedLogicsOf(at), src)) continue;
        const logic = logicOf(at, src);
        if (logic === undefined)
          throw new AuthoringError(
            `${where} means the actor '${src}', which setup({ actors }) does not name.`,
          );
        add(prefix + src, logic, where);
      }
    }
  };
  walk(machine, '');
  return found;
}

// XState would let the actor that starts last take the place of the other one.
function assertDistinctInvokes(machine: AnyStateMachine): void {
  const invokes = nodesOf(rootOf(machine)).flatMap((node) => node.invoke.map(({ id }) => ({ id, node })));
  for (const [index, { id, node }] of invokes.entries()) {
    const other = invokes.find(
      (later, at) => at > index && later.id === id && canBeActiveTogether(node, later.node),
    );
    if (other === undefined) continue;
    throw new AuthoringError(
      `The states '${node.id}' and '${other.node.id}' can be active at the same time, and both invoke '${id}'. ` +
        'Give one of the invokes another id.',
    );
  }
}
