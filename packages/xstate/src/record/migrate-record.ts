import { present, isPlainObject, isTexts, decode } from '@mcp-saga/core/program';
import { optionError } from '@mcp-saga/core/shared';
import type {
  ChildRecord,
  MachineRecord,
  SagaRecord,
  TimerRecord,
} from '../model/machine-record.ts';
import type {
  ChildState,
  DelayState,
  MachineState,
  MigratedState,
} from '../model/machine-state.ts';
import { encodeRecord } from './save-record.ts';
import { xstateMajor } from '../adapter/xstate-nodes.ts';

/**
 * Converts the result of `migrate` into a record, as a copy.
 * @throws TypeError or MachineRefused naming the invalid field
 */
export function toMigratedRecord(returned: MigratedState, definition: string): SagaRecord {
  if (returned instanceof Promise) {
    // An unhandled rejection would end the process.
    returned.catch(() => undefined);
    throw optionError('migrate() returned a promise. Return the state itself.');
  }
  checkMachine(returned, 'state');
  const { delays } = returned;
  check(Array.isArray(delays), 'state.delays', 'an array');
  for (const [index, delay] of delays.entries()) checkDelay(delay, `state.delays[${index}]`);
  return decode(encodeRecord(fromMachineState(returned, definition))) as SagaRecord;
}

function checkMachine(state: unknown, place: string): void {
  check(isPlainObject(state), place, 'an object');
  const { value, context, absent, history, completed, order, children, ended } = state;
  checkValue(value, `${place}.value`);
  check(isPlainObject(context), `${place}.context`, 'an object');
  check(absent === undefined || isTexts(absent), `${place}.absent`, 'a list of keys');
  check(completed === undefined || isTexts(completed), `${place}.completed`, 'a list of state IDs');
  check(history === undefined || isPlainObject(history), `${place}.history`, 'an object');
  for (const [id, remembered] of Object.entries(history ?? {})) {
    check(isTexts(remembered), `${place}.history['${id}']`, 'a list of state IDs');
  }
  check(order === undefined || isOrder(order), `${place}.order`, 'the order of the given state');
  check(isOptionalText(ended), `${place}.ended`, 'a status');
  check(isPlainObject(children), `${place}.children`, 'an object');
  for (const [id, child] of Object.entries(children))
    checkChild(child, `${place}.children['${id}']`);
}

function checkValue(value: unknown, place: string): void {
  if (typeof value === 'string') return;
  check(isPlainObject(value), place, 'a state value');
  for (const [key, below] of Object.entries(value)) checkValue(below, `${place}['${key}']`);
}

function checkChild(child: unknown, place: string): void {
  check(isPlainObject(child), place, 'an object');
  const { src, systemId, machine, kept } = child;
  check(isOptionalText(src), `${place}.src`, 'the name of an actor in setup()');
  check(isOptionalText(systemId), `${place}.systemId`, 'a text');
  if (machine !== undefined) checkMachine(machine, `${place}.machine`);
  check(kept === undefined || isKept(kept), `${place}.kept`, 'the value of the given state');
}

function isKept(kept: unknown): boolean {
  if (!isPlainObject(kept)) return false;
  const { z, p, r, e } = kept;
  const isAttempts =
    Array.isArray(e) &&
    isTime(e[0]) &&
    isTime(e[1]) &&
    typeof e[2] === 'boolean' &&
    isOptionalTime(e[3]);
  return (
    (z === undefined || z === 'd' || z === 'e' || z === 'x') &&
    (p === undefined || isPlainObject(p)) &&
    isOptionalTime(r) &&
    (e === undefined || isAttempts)
  );
}

function checkDelay(delay: unknown, place: string): void {
  check(isPlainObject(delay), place, 'an object');
  const { at, actor, id, event, target } = delay;
  check(isTime(at), `${place}.at`, 'milliseconds since the epoch');
  check(typeof actor === 'string', `${place}.actor`, 'the path of an actor');
  check(typeof id === 'string', `${place}.id`, 'a text');
  check(isOptionalText(target), `${place}.target`, 'the path of an actor');
  const isEvent = isPlainObject(event) && typeof event['type'] === 'string';
  check(event === undefined || isEvent, `${place}.event`, 'an event');
}

function isOrder(order: unknown): boolean {
  if (!isPlainObject(order)) return false;
  const { of, positions } = order;
  return typeof of === 'string' && Array.isArray(positions) && positions.every(isTime);
}

function isOptionalText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

function isOptionalTime(value: unknown): boolean {
  return value === undefined || isTime(value);
}

function check(holds: boolean, place: string, expected: string): asserts holds {
  if (!holds) throw optionError(`migrate() returned a state whose '${place}' is not ${expected}.`);
}

interface StateOrder {
  /** State value with this order, as JSON. */
  readonly of: string;
  readonly positions: readonly number[];
}

/** Converts a record into the argument of `migrate`. */
export function toMachineState({ m, t = [] }: SagaRecord): MigratedState {
  const delays = t.map(([at, actor, id, event, target]): DelayState => ({
    at,
    actor,
    id,
    ...present({ event, target }),
  }));
  return { ...machineState(m), delays };
}

function machineState(record: MachineRecord): MachineState {
  const { v, c = {}, a, h, o, f, k = {} } = record;
  return {
    value: v,
    context: c as MachineState['context'],
    ...present({ absent: a, history: h, completed: f }),
    ...(o === undefined
      ? {}
      : { order: { of: JSON.stringify(v), positions: o } satisfies StateOrder }),
    children: mapValues(k, childState),
    ...present({ ended: record.s }),
  };
}

function childState(record: ChildRecord): ChildState {
  const { s, y, n, ...rest } = record;
  const spawn = { ...present({ src: s, systemId: y }), ...(n === undefined ? {} : { sync: true }) };
  if ('m' in rest) return { ...spawn, machine: machineState(rest.m) };
  const { i, ...kept } = rest as { readonly i?: unknown };
  return {
    ...spawn,
    ...present({ input: i }),
    ...(Object.keys(kept).length === 0 ? {} : { kept }),
  };
}

/** Converts a migrated state into a record of the new machine. */
function fromMachineState(state: MigratedState, definition: string): SagaRecord {
  const timers = state.delays.map(({ at, actor, id, event, target }): TimerRecord => {
    if (event === undefined) return [at, actor, id];
    return target === undefined ? [at, actor, id, event] : [at, actor, id, event, target];
  });
  const record = { d: definition, x: xstateMajor, m: machineRecord(state) };
  return timers.length === 0 ? record : { ...record, t: timers };
}

function machineRecord(state: MachineState): MachineRecord {
  const { value, context, absent, history, completed, children } = state;
  const order = state.order as StateOrder | undefined;
  const { ended } = state as { readonly ended?: NonNullable<MachineRecord['s']> };
  return {
    v: value,
    ...(Object.keys(context).length === 0 ? {} : { c: context }),
    ...present({ a: absent, h: history }),
    ...(order?.of === JSON.stringify(value) ? { o: order.positions } : {}),
    ...present({ f: completed }),
    ...(Object.keys(children).length === 0 ? {} : { k: mapValues(children, childRecord) }),
    ...present({ s: ended }),
  };
}

function childRecord({ src, systemId, sync, input, machine, kept }: ChildState): ChildRecord {
  const spawn = {
    ...present({ s: src, y: systemId }),
    ...(sync === true ? { n: 1 as const } : {}),
  };
  if (machine !== undefined) return { ...spawn, m: machineRecord(machine) };
  return { ...spawn, ...present({ i: input }), ...(kept as object | undefined) };
}

function mapValues<T, R>(
  record: { readonly [key: string]: T },
  map: (item: T) => R,
): { readonly [key: string]: R } {
  return Object.fromEntries(Object.entries(record).map(([key, item]) => [key, map(item)]));
}
