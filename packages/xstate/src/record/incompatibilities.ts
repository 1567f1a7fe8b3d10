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
import { isMachine, kindOf, type LogicKind } from '../adapter/logic-kind.ts';
import type { LiveNode, StateValue } from '../model/live-actor.ts';
import type {
  ChildRecord,
  MachineRecord,
  SagaRecord,
  TimerRecord,
} from '../model/machine-record.ts';
import { missingKeys } from './context-keys.ts';
import { fitsOrder } from './stored-state-order.ts';

/**
 * Lists what in a stored state does not fit a machine, one clause each. XState would restore such a
 * state, and hang.
 */
export function findIncompatibilities(
  machine: AnyStateMachine,
  record: SagaRecord,
): readonly string[] {
  if (record.x !== xstateMajor) return [`the state was stored by XState ${record.x}`];
  const found = [...findInMachine(machine, record.m, record.t ?? [], '')];
  for (const [, path] of record.t ?? []) {
    if (!hasActor(record.m, path)) found.push(`the actor '${path}' of a delay is gone`);
  }
  return found;
}

function findInMachine(
  machine: AnyStateMachine,
  record: MachineRecord,
  timers: readonly TimerRecord[],
  path: string,
): readonly string[] {
  // An ended machine has only a status.
  if (record.s !== undefined) return [];
  const root = rootOf(machine);
  const nodes = activeNodes(root, record.v);
  const ids = new Set(nodesOf(root).map(({ id }) => id));
  const lostHistory = Object.entries(record.h ?? {})
    .flatMap(([id, remembered]) => [id, ...remembered])
    .filter((id) => !ids.has(id))
    .map((id) => `the state '${id}', which a history remembers, is gone`);
  const found = findInValue(root, record.v);
  if (found.length === 0 && !fitsOrder(root, record)) {
    found.push(`the active states of '${root.id}' are in another order now`);
  }
  return [
    ...found,
    ...findInContext(machine, record, path),
    ...findInCompletion(root, nodes, record),
    ...lostHistory,
    ...findInChildren(machine, nodes, record, timers, path),
    ...findInDelays(nodes, timers, path),
  ];
}

function findInValue(node: LiveNode, value: StateValue): string[] {
  const nested: readonly (readonly [string, StateValue])[] =
    typeof value === 'string' ? [[value, {}]] : Object.entries(value);
  const inside = Object.keys(node.states).filter((key) => node.states[key]?.type !== 'history');
  const found: string[] = [];
  for (const [key, below] of nested) {
    const child = Object.hasOwn(node.states, key) ? node.states[key] : undefined;
    if (child === undefined) found.push(`the state '${node.id}.${key}' is gone`);
    else found.push(...findInValue(child, below));
  }
  if (node.type === 'parallel') {
    const active = new Set(nested.map(([key]) => key));
    for (const key of inside)
      if (!active.has(key)) found.push(`the region '${node.id}.${key}' is new`);
  } else if (inside.length > 0 && nested.length === 0) {
    found.push(`the state '${node.id}' has states inside now`);
  } else if (inside.length > 0 && nested.length > 1) {
    found.push(`the state '${node.id}' is not parallel any more`);
  }
  if (node.type === 'history') found.push(`the state '${node.id}' is a history now`);
  return found;
}

function findInContext(
  machine: AnyStateMachine,
  { c: context, a: absent = [] }: MachineRecord,
  path: string,
): readonly string[] {
  const where = path === '' ? 'the context' : `the context of '${path}'`;
  return missingKeys(machine, context)
    .filter((key) => !absent.includes(key))
    .map((key) => `${where} has no '${key}', which the initial context has now`);
}

// XState checks for completion when it enters a final state, and not when it restores one.
function findInCompletion(
  root: LiveNode,
  nodes: readonly LiveNode[],
  { f = [] }: MachineRecord,
): readonly string[] {
  const completed = completedNodes(nodes);
  if (completed.includes(root)) {
    return completed
      .filter(({ type }) => type === 'final')
      .map(({ id }) => `the state '${id}' is final now`);
  }
  return completed
    .filter((node) => hasOnDone(node) && !f.includes(node.id))
    .map(({ id }) => `the state '${id}' has completed, and its onDone was never taken`);
}

function findInChildren(
  machine: AnyStateMachine,
  nodes: readonly LiveNode[],
  record: MachineRecord,
  timers: readonly TimerRecord[],
  path: string,
): readonly string[] {
  const children = record.k ?? {};
  const invokes = nodes.flatMap((node) => node.invoke.map((invoke) => ({ node, invoke })));
  const found = invokes
    .filter(({ invoke }) => !Object.hasOwn(children, invoke.id))
    .map(({ node, invoke }) => `the invoke '${invoke.id}' of state '${node.id}' was never started`);
  for (const [id, child] of Object.entries(children)) {
    const at = path === '' ? id : `${path}/${id}`;
    const src = child.s ?? invokes.find(({ invoke }) => invoke.id === id)?.invoke.src;
    const logic = src === undefined ? undefined : logicOf(machine, src);
    if (src === undefined) found.push(`no active state invokes the actor '${at}' any more`);
    else if (logic === undefined) found.push(`the source '${src}' of the actor '${at}' is gone`);
    else if ('m' in child && isMachine(logic))
      found.push(...findInMachine(logic, child.m, timers, at));
    else if (!isOfKind(child, kindOf(logic)))
      found.push(`the actor '${at}' is of another kind now`);
  }
  return found;
}

function isOfKind(child: ChildRecord, kind: LogicKind): boolean {
  if ('m' in child) return kind === 'machine';
  if ('p' in child) return kind === 'passive';
  if ('w' in child) return kind === 'outside';
  return kind === 'client' || kind === 'effect' || kind === 'outside';
}

function findInDelays(
  nodes: readonly LiveNode[],
  timers: readonly TimerRecord[],
  path: string,
): readonly string[] {
  const set = new Set(
    timers
      .filter(([, at, , event]) => at === path && event === undefined)
      .map(([, , id]) => afterMark + id),
  );
  const waited = new Set(nodes.flatMap((node) => node.after.map(({ eventType }) => eventType)));
  return [
    ...[...set]
      .filter((id) => !waited.has(id))
      .map((id) => `no active state uses the delay '${id.slice(afterMark.length)}'`),
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
