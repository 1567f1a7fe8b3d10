import { xstateMajor, type StateValue } from './adapter.ts';
import type { ChildRecord, MachineRecord, SagaRecord, TimerRecord } from './machine-record.ts';

/** A machine between two requests, as a migration sees it and gives it back. */
export interface MachineState {
  /** The active states. */
  readonly value: StateValue;
  readonly context: { readonly [key: string]: unknown };
  /** What history states remember: ids of states. */
  readonly history?: { readonly [id: string]: readonly string[] };
  /** IDs of active states that have completed and whose `onDone` was already considered: XState does not take it again. */
  readonly completed?: readonly string[];
  /**
   * Order in which XState looks at the active states for transitions without an event. Ignored if `value` changes.
   *
   * @default the order that XState gives a restored `value`
   */
  readonly order?: unknown;
  /** By id. To have an invoke started that is new, add a child with its `input`. */
  readonly children: { readonly [id: string]: ChildState };
}

/** A child of a machine. `src`, `systemId` and `sync` are left out for what an active state invokes. */
export interface ChildState {
  readonly src?: string;
  readonly systemId?: string;
  /** Whether its parent hears of its snapshots. */
  readonly sync?: boolean;
  /** The input of a step that waits or is to be run. */
  readonly input?: unknown;
  /** Of a child machine. */
  readonly machine?: MachineState;
  /** What else is kept of it, to be left as it is. */
  readonly kept?: unknown;
}

/** A delay that has not passed. */
export interface DelayState {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The path of the actor that gets the event: empty for the machine itself. */
  readonly actor: string;
  /** The type of a delayed transition without `xstate.after.`, such as `1000.order.waiting`; or the id of the event. */
  readonly id: string;
  /** The event, where it is not a delayed transition's. */
  readonly event?: object;
  /** The path of another actor that gets it. */
  readonly target?: string;
}

/** The whole of a saga's machine. */
export interface MigratedState extends MachineState {
  readonly delays: readonly DelayState[];
}

interface StateOrder {
  /** The state value with this order, as JSON. */
  readonly of: string;
  readonly positions: readonly number[];
}

/** A record as authors read it. */
export function toMachineState({ m, t = [] }: SagaRecord): MigratedState {
  const delays = t.map(([at, actor, id, event, target]): DelayState => {
    return {
      at,
      actor,
      id,
      ...(event === undefined ? {} : { event }),
      ...(target === undefined ? {} : { target }),
    };
  });
  return { ...machineState(m), delays };
}

function machineState(record: MachineRecord): MachineState {
  const { v, c = {}, h, o, f, k = {} } = record;
  return {
    value: v,
    context: c as MachineState['context'],
    ...(h === undefined ? {} : { history: h }),
    ...(f === undefined ? {} : { completed: f }),
    ...(o === undefined ? {} : { order: { of: JSON.stringify(v), positions: o } satisfies StateOrder }),
    children: mapValues(k, childState),
    ...(record.s === undefined ? {} : { ended: record.s }),
  };
}

function childState(record: ChildRecord): ChildState {
  const { s, y, n, ...rest } = record;
  const spawn = {
    ...(s === undefined ? {} : { src: s }),
    ...(y === undefined ? {} : { systemId: y }),
    ...(n === undefined ? {} : { sync: true }),
  };
  if ('m' in rest) return { ...spawn, machine: machineState(rest.m) };
  const { i, ...kept } = rest as { readonly i?: unknown };
  return {
    ...spawn,
    ...(i === undefined ? {} : { input: i }),
    ...(Object.keys(kept).length === 0 ? {} : { kept }),
  };
}

/** What a migration gave back, as a record of the new machine. */
export function fromMachineState(state: MigratedState, definition: string): SagaRecord {
  const timers = state.delays.map(({ at, actor, id, event, target }): TimerRecord => {
    if (event === undefined) return [at, actor, id];
    return target === undefined ? [at, actor, id, event] : [at, actor, id, event, target];
  });
  const record = { d: definition, x: xstateMajor, m: machineRecord(state) };
  return timers.length === 0 ? record : { ...record, t: timers };
}

function machineRecord(state: MachineState): MachineRecord {
  const { value, context, history, completed, children } = state;
  const order = state.order as StateOrder | undefined;
  const { ended } = state as { readonly ended?: NonNullable<MachineRecord['s']> };
  return {
    v: value,
    ...(Object.keys(context).length === 0 ? {} : { c: context }),
    ...(history === undefined ? {} : { h: history }),
    ...(order?.of === JSON.stringify(value) ? { o: order.positions } : {}),
    ...(completed === undefined ? {} : { f: completed }),
    ...(Object.keys(children).length === 0 ? {} : { k: mapValues(children, childRecord) }),
    ...(ended === undefined ? {} : { s: ended }),
  };
}

function childRecord({ src, systemId, sync, input, machine, kept }: ChildState): ChildRecord {
  const spawn = {
    ...(src === undefined ? {} : { s: src }),
    ...(systemId === undefined ? {} : { y: systemId }),
    ...(sync === true ? { n: 1 as const } : {}),
  };
  if (machine !== undefined) return { ...spawn, m: machineRecord(machine) };
  return { ...spawn, ...(input === undefined ? {} : { i: input }), ...(kept as object | undefined) };
}

function mapValues<T, R>(
  record: { readonly [key: string]: T },
  map: (item: T) => R,
): { readonly [key: string]: R } {
  return Object.fromEntries(Object.entries(record).map(([key, item]) => [key, map(item)]));
}
