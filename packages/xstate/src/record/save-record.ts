import {
  present,
  formatPlace,
  isPlainObject,
  type Place,
  CodecError,
  decode,
  encode,
  encodeError,
} from '@mcp-saga/core/program';
import type { StepErrorData } from '@mcp-saga/core';
import {
  activeInvoke,
  afterMark,
  completedNodes,
  hasOnDone,
  restoredOrder,
  xstateMajor,
} from '../adapter/xstate-nodes.ts';
import { isActorRef, isSynced, orderedNodes, refMarker, pathOf } from '../adapter/xstate-actors.ts';
import { kindOf } from '../adapter/logic-kind.ts';
import type { LiveActor, LiveInvoke, LiveSnapshot, Timer } from '../model/live-actor.ts';
import { assertNamed } from '../adapter/actor-names.ts';
import { MachineRefused } from '../model/errors.ts';
import type {
  ActiveStepRecord,
  ChildRecord,
  MachineRecord,
  SagaRecord,
  SpawnRecord,
  TimerRecord,
} from '../model/machine-record.ts';
import { childrenOf, isIn } from '../adapter/survey.ts';

import { missingKeys } from './context-keys.ts';

/** Returns the stored facts of a pending step, without the input. */
export type StepFacts = (actor: LiveActor) => Pick<ActiveStepRecord, 'r' | 'e' | 'w'>;

/**
 * Converts a waiting machine into a record.
 * @throws MachineRefused with the path of a value or actor that cannot be stored
 */
export function save(
  root: LiveActor,
  definition: string,
  timers: readonly Timer[],
  factsOf: StepFacts,
): SagaRecord {
  const records = timers.map((timer) => saveTimer(root, timer));
  const machine = saveMachine(root, factsOf);
  return {
    d: definition,
    x: xstateMajor,
    m: machine,
    ...(records.length === 0 ? {} : { t: records }),
  };
}

/**
 * Converts a record into text. @throws MachineRefused with the path of a value that is not plain
 * data
 */
export function encodeRecord(record: object): string {
  try {
    return encode(record, { where: 'state' });
  } catch (error) {
    if (!(error instanceof CodecError)) throw error;
    const problem = error.message.slice(error.path.length);
    throw new MachineRefused(`${placeOf(error.path)}${problem}`, { cause: error });
  }
}

/** Converts a place in a record into words for authors: `context.total of 'shop/payment'`. */
function placeOf(path: string): string {
  const ids: string[] = [];
  let rest = path.replace(/^state(?=\.m\.)/, '');
  for (;;) {
    const child = /^\.m\.k(?:\.([\w$]+)|\[("(?:[^"\\]|\\.)*")\])(.*)$/s.exec(rest);
    if (child === null) break;
    const [, plain, quoted = '', inside = ''] = child;
    ids.push(plain ?? (JSON.parse(quoted) as string));
    rest = inside;
  }
  const what = rest
    .replace(/^\.m\.c\b/, 'context')
    .replace(/^\.i\b/, 'input')
    .replace(/^\.p\./, '');
  return ids.length === 0 ? what : `${what} of '${ids.join('/')}'`;
}

function saveMachine(actor: LiveActor, factsOf: StepFacts): MachineRecord {
  const snapshot = actor.getSnapshot();
  const { value = {}, status, historyValue = {} } = snapshot;
  // The parent received the outcome. The context may refer to ended actors.
  if (status !== 'active') return { v: value, s: status };
  const context = keepable(actor, snapshot.context, undefined, 0);
  const history = Object.entries(historyValue).map(([id, nodes]) => [
    id,
    nodes.map((node) => node.id),
  ]);
  const order = orderOf(snapshot);
  const nodes = orderedNodes(snapshot);
  // XState takes an `onDone` only at completion.
  const completed = completedNodes(nodes)
    .filter(hasOnDone)
    .map(({ id }) => id);
  const { machine } = snapshot;
  const absent = machine === undefined ? [] : missingKeys(machine, context);
  const children = childrenOf(actor).map((child) => [
    child.id,
    saveChild(child, machine && activeInvoke(machine, value, child.id), factsOf),
  ]);
  return {
    v: value,
    ...(isPlainObject(context) && Object.keys(context).length === 0 ? {} : { c: context }),
    ...(absent.length === 0 ? {} : { a: absent }),
    ...(history.length === 0
      ? {}
      : { h: Object.fromEntries(history) as NonNullable<MachineRecord['h']> }),
    ...present({ o: order }),
    ...(completed.length === 0 ? {} : { f: completed }),
    ...(children.length === 0
      ? {}
      : { k: Object.fromEntries(children) as NonNullable<MachineRecord['k']> }),
  };
}

// XState looks for transitions without an event in this order, which matters in parallel regions
// only.
function orderOf(snapshot: LiveSnapshot): readonly number[] | undefined {
  const { machine, value } = snapshot;
  const nodes = orderedNodes(snapshot);
  if (
    machine === undefined ||
    value === undefined ||
    !nodes.some(({ type }) => type === 'parallel')
  ) {
    return undefined;
  }
  const restored = restoredOrder(machine, value);
  return nodes.every((node, index) => node === restored[index])
    ? undefined
    : nodes.map(({ order }) => order);
}

function saveChild(
  actor: LiveActor,
  invoke: LiveInvoke | undefined,
  factsOf: StepFacts,
): ChildRecord {
  const spawn = saveSpawn(actor, invoke);
  const snapshot = actor.getSnapshot();
  const { status } = snapshot;
  const kind = kindOf(actor.logic);
  switch (kind) {
    case 'machine':
      return Object.assign(spawn, { m: saveMachine(actor, factsOf) });
    case 'client':
    case 'outside':
    case 'effect': {
      if (status !== 'active')
        return Object.assign(spawn, {
          z: status === 'done' ? 'd' : status === 'error' ? 'e' : 'x',
        } as const);
      const { input } = snapshot;
      return Object.assign(spawn, present({ i: input }), factsOf(actor));
    }
    case 'promise':
    case 'alien':
      throw alien(actor);
    case 'passive': {
      const persisted = actor.logic.getPersistedSnapshot(snapshot) as object;
      const kept = Object.entries(persisted).filter(([, item]) => item !== undefined);
      return Object.assign(spawn, { p: Object.fromEntries(kept) });
    }
  }
}

/** Returns the origin of a child, unless an invoke of an active state implies the origin. */
function saveSpawn(actor: LiveActor, invoke: LiveInvoke | undefined): SpawnRecord {
  assertNamed(actor);
  const { systemId } = actor;
  const src = actor.src as string;
  const sync = isSynced(actor);
  const implied =
    invoke?.src === src &&
    invoke.systemId === systemId &&
    (invoke.onSnapshot !== undefined) === sync;
  if (implied) return {};
  return { s: src, ...present({ y: systemId }), ...(sync ? { n: 1 as const } : {}) };
}

function alien(actor: LiveActor): MachineRefused {
  return new MachineRefused(
    `The actor '${pathOf(actor)}' is a callback or observable, which cannot be stored between two requests.`,
  );
}

/**
 * Replaces references to children in a context by markers, and errors by bounded copies. Throws
 * MachineRefused for other actors.
 */
function keepable(
  owner: LiveActor,
  value: unknown,
  place: Place | undefined,
  depth: number,
): unknown {
  // The codec rejects deeper values.
  if (typeof value !== 'object' || value === null || depth > 64) return value;
  const refuse = (problem: string): MachineRefused =>
    new MachineRefused(`${formatPlace('context', place)}${suffix(owner)} ${problem}`);
  if (isActorRef(value)) {
    if (owner.getSnapshot().children?.[value.id] === value) return refMarker(value.id);
    throw refuse(
      'is an actor, but not a child of the machine. Store the ID of the actor, or use a systemId.',
    );
  }
  if (value instanceof Error) return boundedCopy(value);
  if (Array.isArray(value)) {
    const items = value.map((item, key) =>
      keepable(owner, item, { parent: place, key }, depth + 1),
    );
    return items.some((item, index) => item !== value[index]) ? items : value;
  }
  if (!isPlainObject(value)) return value;
  let copy: Record<string, unknown> | undefined;
  for (const [key, item] of Object.entries(value)) {
    const kept = keepable(owner, item, { parent: place, key }, depth + 1);
    if (kept === item) continue;
    copy ??= { ...value };
    copy[key] = kept;
  }
  return copy ?? value;
}

/**
 * Copies what a journal keeps of an error: libraries put whole responses into their errors, which
 * fit no token.
 */
function boundedCopy(error: Error): Error {
  const { message, public: _, ...facts } = decode(encodeError(error)) as StepErrorData;
  return Object.assign(new Error(message), facts);
}

function suffix(owner: LiveActor): string {
  const path = pathOf(owner);
  return path === '' ? '' : ` of '${path}'`;
}

function saveTimer(root: LiveActor, { source, target, event, id, at }: Timer): TimerRecord {
  // Without its sender, an event cannot be cancelled, and belongs to the target.
  if (!isIn(root, source)) return [at, pathOf(target), '~~0', event];
  const path = pathOf(source);
  const { type } = event as { readonly type: string };
  const implied = target === source && id === type && id.startsWith(afterMark);
  if (implied && Object.keys(event).length === 1) return [at, path, id.slice(afterMark.length)];
  return target === source ? [at, path, id, event] : [at, path, id, event, pathOf(target)];
}
