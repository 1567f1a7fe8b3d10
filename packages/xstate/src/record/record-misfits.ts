import type { AnyStateMachine } from 'xstate';
import {
  activeNodes,
  afterMark,
  completedNodes,
  hasOnDone,
  logicOf,
  nodesOf,
  rootOf,
  xstateMajor,
} from '../adapter/xstate-nodes.ts';
import { isMachine, kindOf } from '../adapter/logic-kind.ts';
import type { LiveNode, StateValue } from '../model/live-actor.ts';
import type { ChildRecord, MachineRecord, SagaRecord, TimerRecord } from '../model/machine-record.ts';
import { fitsOrder } from './record-order.ts';

/**
 * Exactly what of a kept state no longer fits a machine, a sentence each; empty where all of it does. XState itself would
 * restore it without a word, and hang.
 */
export function misfitsOf(machine: AnyStateMachine, record: SagaRecord): readonly string[] {
  if (record.x !== xstateMajor) return [`it was kept by XState ${record.x}`];
  const misfits = [...misfitsOfMachine(machine, record.m, record.t ?? [], '')];
  for (const [, path] of record.t ?? []) {
    if (!hasActor(record.m, path)) misfits.push(`the actor '${path}' of a delay is gone`);
  }
  return misfits;
}

function misfitsOfMachine(
  machine: AnyStateMachine,
  record: MachineRecord,
  timers: readonly TimerRecord[],
  path: string,
): readonly string[] {
  // One that has ended only has its output.
  if (record.s !== undefined) return [];
  const root = rootOf(machine);
  const nodes = activeNodes(root, record.v);
  const ids = new Set(nodesOf(root).map(({ id }) => id));
  const lostHistory = Object.entries(record.h ?? {})
    .flatMap(([id, remembered]) => [id, ...remembered])
    .filter((id) => !ids.has(id))
    .map((id) => `the state '${id}', which a history remembers, is gone`);
  const misfitsOfStates = misfitsOfValue(root, record.v);
  if (misfitsOfStates.length === 0 && !fitsOrder(root, record)) {
    misfitsOfStates.push(`the active states of '${root.id}' are in another order now`);
  }
  return [
    ...misfitsOfStates,
    ...misfitsOfCompletion(root, record),
    ...lostHistory,
    ...misfitsOfChildren(machine, nodes, record, timers, path),
    ...misfitsOfDelays(nodes, timers, path),
  ];
}

function misfitsOfValue(node: LiveNode, value: StateValue): string[] {
  const nested: readonly (readonly [string, StateValue])[] =
    typeof value === 'string' ? [[value, {}]] : Object.entries(value);
  const inside = Object.keys(node.states).filter((key) => node.states[key]?.type !== 'history');
  const misfits: string[] = [];
  for (const [key, below] of nested) {
    const child = Object.hasOwn(node.states, key) ? node.states[key] : undefined;
    if (child === undefined) misfits.push(`the state '${node.id}.${key}' is gone`);
    else misfits.push(...misfitsOfValue(child, below));
  }
  if (node.type === 'parallel') {
    const active = new Set(nested.map(([key]) => key));
    for (const key of inside) if (!active.has(key)) misfits.push(`the region '${node.id}.${key}' is new`);
  } else if (inside.length > 0 && nested.length === 0) {
    misfits.push(`the state '${node.id}' has states inside now`);
  } else if (inside.length > 0 && nested.length > 1) {
    misfits.push(`the state '${node.id}' is not parallel any more`);
  }
  if (node.type === 'history') misfits.push(`the state '${node.id}' is a history now`);
  return misfits;
}

// XState checks for completion when it enters a final state, and not when it restores one.
function misfitsOfCompletion(root: LiveNode, { v, f = [] }: MachineRecord): readonly string[] {
  const completed = completedNodes(root, v);
  if (completed.includes(root)) {
    return completed.filter(({ type }) => type === 'final').map(({ id }) => `the state '${id}' is final now`);
  }
  return completed
    .filter((node) => hasOnDone(node) && !f.includes(node.id))
    .map(({ id }) => `the state '${id}' has completed, and its onDone was never taken`);
}

function misfitsOfChildren(
  machine: AnyStateMachine,
  nodes: readonly LiveNode[],
  record: MachineRecord,
  timers: readonly TimerRecord[],
  path: string,
): readonly string[] {
  const children = record.k ?? {};
  const invokes = nodes.flatMap((node) => node.invoke.map((invoke) => ({ node, invoke })));
  const misfits = invokes
    .filter(({ invoke }) => !Object.hasOwn(children, invoke.id))
    .map(({ node, invoke }) => `the invoke '${invoke.id}' of state '${node.id}' was never started`);
  for (const [id, child] of Object.entries(children)) {
    const at = path === '' ? id : `${path}/${id}`;
    const src = child.s ?? invokes.find(({ invoke }) => invoke.id === id)?.invoke.src;
    const logic = src === undefined ? undefined : logicOf(machine, src);
    if (src === undefined) misfits.push(`no active state invokes the actor '${at}' any more`);
    else if (logic === undefined) misfits.push(`the source '${src}' of the actor '${at}' is gone`);
    else if ('m' in child && isMachine(logic)) misfits.push(...misfitsOfMachine(logic, child.m, timers, at));
    else if (!isOfKind(child, kindOf(logic))) misfits.push(`the actor '${at}' is of another kind now`);
  }
  return misfits;
}

function isOfKind(child: ChildRecord, kind: ReturnType<typeof kindOf>): boolean {
  if ('m' in child) return kind === 'machine';
  if ('p' in child) return kind === 'promise' || kind === 'passive';
  return kind === 'client' || kind === 'effect';
}

function misfitsOfDelays(
  nodes: readonly LiveNode[],
  timers: readonly TimerRecord[],
  path: string,
): readonly string[] {
  const set = new Set(
    timers.filter(([, at, , event]) => at === path && event === undefined).map(([, , id]) => afterMark + id),
  );
  const waited = new Set(nodes.flatMap((node) => node.after.map(({ eventType }) => eventType)));
  return [
    ...[...set]
      .filter((id) => !waited.has(id))
      .map((id) => `nobody waits for the delay '${id.slice(afterMark.length)}'`),
    ...[...waited]
      .filter((id) => !set.has(id))
      .map((id) => `the delay '${id.slice(afterMark.length)}' never began`),
  ];
}

function hasActor(record: MachineRecord, path: string): boolean {
  if (path === '') return true;
  const [id, ...rest] = path.split('/') as [string, ...string[]];
  const child = Object.hasOwn(record.k ?? {}, id) ? record.k?.[id] : undefined;
  if (child === undefined) return false;
  return rest.length === 0 || ('m' in child && hasActor(child.m, rest.join('/')));
}
