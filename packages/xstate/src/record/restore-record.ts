import { StepError } from '@mcp-saga/core';
import { activeInvoke, afterMark, logicOf } from '../adapter/xstate-nodes.ts';
import { isMachine, kindOf } from '../adapter/logic-kind.ts';
import { makeRoot, orderedNodes, pathOf } from '../adapter/xstate-actors.ts';
import type {
  LiveActor,
  LiveNode,
  PersistedSnapshot,
  StepWatch,
  Timer,
} from '../model/live-actor.ts';
import type { AnyStateMachine } from 'xstate';
import { MachineRefused } from '../model/errors.ts';
import type {
  ActiveStepRecord,
  ChildRecord,
  MachineRecord,
  SagaRecord,
} from '../model/machine-record.ts';
import { inStoredOrder } from './stored-state-order.ts';
import { actorAt } from '../adapter/survey.ts';

/** Restored machine, before the start. */
export interface Restored {
  readonly root: ReturnType<typeof makeRoot>;
  readonly timers: readonly Timer[];
  /** Stored facts of pending steps. */
  readonly steps: ReadonlyMap<LiveActor, ActiveStepRecord>;
}

/**
 * Restores a machine from a record, and checks the result, since XState omits without an error what
 * does not fit.
 * @throws MachineRefused with the name of the missing part
 */
export function restore(machine: AnyStateMachine, record: SagaRecord, watch: StepWatch): Restored {
  const root = makeRoot(machine, { snapshot: persistedMachine(machine, record.m) }, watch);
  const steps = new Map<LiveActor, ActiveStepRecord>();
  verify(root, record.m, steps);
  const timers = (record.t ?? []).map(([at, path, id, event, target]): Timer => {
    const source = actorAt(root, path);
    const to = target === undefined ? source : actorAt(root, target);
    if (source === undefined || to === undefined)
      throw notRestored(`the actor '${target ?? path}' of a delay`);
    return event === undefined
      ? { source, target: to, event: { type: afterMark + id }, id: afterMark + id, at }
      : { source, target: to, event, id, at };
  });
  return { root, timers, steps };
}

const settled = { output: undefined, error: undefined };

function persistedMachine(machine: AnyStateMachine, record: MachineRecord): PersistedSnapshot {
  const { v: value, c: context = {}, h = {}, k = {}, s: status = 'active' } = record;
  const history = Object.entries(h).map(([id, nodes]) => [id, nodes.map((node) => ({ id: node }))]);
  const children = Object.entries(k).map(([id, child]) => {
    const invoke = activeInvoke(machine, value, id);
    const implied = child.s === undefined;
    const src = child.s ?? invoke?.src;
    const logic = src === undefined ? undefined : logicOf(machine, src);
    return [
      id,
      {
        src,
        systemId: implied ? invoke?.systemId : child.y,
        syncSnapshot: implied ? invoke?.onSnapshot !== undefined : child.n === 1,
        snapshot: persistedChild(child, logic),
      },
    ];
  });
  return {
    status,
    ...settled,
    value,
    context,
    historyValue: Object.fromEntries(history) as unknown,
    children: Object.fromEntries(children) as unknown,
  };
}

function persistedChild(record: ChildRecord, logic: unknown): PersistedSnapshot {
  if ('m' in record) {
    return isMachine(logic) ? persistedMachine(logic, record.m) : { status: 'stopped', ...settled };
  }
  if ('p' in record) return { status: 'active', ...settled, ...record.p };
  if ('z' in record) {
    // The parent received the outcome when the step ended.
    const error = record.z === 'e' ? new StepError('', { name: 'Error', message: '' }) : undefined;
    return { ...settled, status: statusOf(record.z), error };
  }
  return { status: 'active', ...settled, input: 'i' in record ? record.i : undefined };
}

function verify(
  actor: LiveActor,
  record: MachineRecord,
  steps: Map<LiveActor, ActiveStepRecord>,
): void {
  const snapshot = actor.getSnapshot();
  const { status, error, children = {} } = snapshot;
  const path = pathOf(actor);
  if (status !== (record.s ?? 'active'))
    throw notRestored(path === '' ? 'its state' : `the state of '${path}'`, error);
  for (const [id, child] of Object.entries(record.k ?? {})) {
    const at = path === '' ? id : `${path}/${id}`;
    const restored = children[id];
    if (restored === undefined) throw notRestored(`the actor '${at}'`);
    if ('m' in child) verify(restored, child.m, steps);
    else if (
      restored.getSnapshot().status !== ('z' in child ? statusOf(child.z) : statusOfOther(child))
    ) {
      throw notRestored(`the actor '${at}'`);
    }
    const kind = kindOf(restored.logic);
    if (
      (kind === 'client' || kind === 'effect' || kind === 'outside') &&
      !('m' in child || 'z' in child || 'p' in child)
    ) {
      steps.set(restored, child);
    }
  }
  if (record.o !== undefined) reorder(orderedNodes(snapshot), record.o);
}

function statusOf(end: 'd' | 'e' | 'x'): string {
  return end === 'd' ? 'done' : end === 'e' ? 'error' : 'stopped';
}

function statusOfOther(record: ChildRecord): string {
  const { status } = ('p' in record ? record.p : {}) as { readonly status?: string };
  return status ?? 'active';
}

// In place, since a snapshot has no other way to change the order.
function reorder(nodes: LiveNode[], order: readonly number[]): void {
  const ordered = inStoredOrder(nodes, order);
  if (ordered === undefined) throw notRestored('the order of its active states');
  nodes.splice(0, nodes.length, ...ordered);
}

function notRestored(what: string, cause?: unknown): MachineRefused {
  return new MachineRefused(`XState did not restore ${what}.`, { cause });
}
