import type { AnyStateMachine } from 'xstate';
import { contextKeysOf } from './context-keys.ts';
import { isMachine, kindOf } from '../adapter/logic-kind.ts';
import { logicOf, namedLogicsOf, nodesOf, rootOf, xstateMajor } from '../adapter/xstate-nodes.ts';

const hashes = /* @__PURE__ */ new WeakMap<AnyStateMachine, string>();

/**
 * Returns a short hash of a machine's definition: states with types and histories, invokes, delays,
 * keys of the initial context, and child machines; and behind a dot, one of its version, if it has
 * any. Descriptions, guards, and actions can change while sagas are running.
 */
export function definitionOf(machine: AnyStateMachine): string {
  let hash = hashes.get(machine);
  if (hash === undefined) {
    const { version } = machine;
    hash =
      hashOf(JSON.stringify([xstateMajor, describe(machine, [])])) +
      (version === undefined ? '' : `.${hashOf(version)}`);
    hashes.set(machine, hash);
  }
  return hash;
}

/** Returns the part of a definition that tells the version of the machine. */
export function versionIn(definition: string): string | undefined {
  return definition.split('.')[1];
}

function describe(machine: AnyStateMachine, above: readonly AnyStateMachine[]): unknown {
  const recursion = above.indexOf(machine);
  if (recursion !== -1) return recursion;
  const nodes = nodesOf(rootOf(machine)).map(({ id, type, history, invoke, after }) => [
    id,
    type,
    history,
    invoke.map((known) => [known.id, known.src, known.onSnapshot !== undefined]),
    after.map(({ eventType }) => eventType),
  ]);
  const sources = new Set([
    ...Object.keys(namedLogicsOf(machine)),
    ...nodesOf(rootOf(machine)).flatMap((node) => node.invoke.map(({ src }) => src)),
  ]);
  const actors = [...sources].toSorted().map((src) => {
    const logic = logicOf(machine, src);
    if (logic === undefined) return [src];
    return isMachine(logic) ? [src, describe(logic, [...above, machine])] : [src, kindOf(logic)];
  });
  const version = above.length === 0 ? null : (machine.version ?? null);
  return [version, nodes, actors, contextKeysOf(machine)];
}

/**
 * Returns 53 bits (cyrb53, public domain, by bryc), enough to distinguish definitions of one
 * machine.
 */
function hashOf(text: string): string {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2654435761);
    low = Math.imul(low ^ code, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return (4294967296 * (2097151 & low) + (high >>> 0)).toString(36);
}
