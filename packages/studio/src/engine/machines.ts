import { activeIds, isMachine, readChart } from '@mcp-saga/xstate/internal';
import type * as xstate from 'xstate';
import type { MachineTrace } from '../model/view.ts';
import type { machines } from './playground.ts';

let report: ((snapshot: xstate.AnyMachineSnapshot) => void) | undefined;

/** Prototypes of actors that report. Versions of a file may share their XState. */
const watched = new WeakSet<object>();

/**
 * Returns the tracer of machines for a copy of XState. XState has no inspector for all actors, so
 * each machine without a parent reports its snapshots.
 */
export function watchMachines({ prototype }: typeof xstate.Actor): typeof trace {
  if (watched.has(prototype)) return trace;
  watched.add(prototype);
  // oxlint-disable-next-line typescript/unbound-method -- called with its actor below
  const { start } = prototype;
  prototype.start = function startWatched(this: xstate.AnyActor) {
    // oxlint-disable-next-line no-underscore-dangle -- a name of XState
    if (isMachine(this.logic) && this._parent === undefined)
      // An observer without `error` throws the errors of the machine in a timer.
      this.subscribe({ next: (snapshot) => report?.(snapshot), error: () => undefined });
    return start.call(this);
  };
  return trace;
}

const trace: NonNullable<typeof machines.trace> = (world, earlier) => {
  const changes: MachineTrace['changes'][number][] = [...(earlier?.changes ?? [])];
  let chart = earlier?.chart;
  let watchedMachine: unknown;
  report = (snapshot) => {
    const { machine, value } = snapshot;
    watchedMachine ??= machine;
    if (machine !== watchedMachine || world.dead) return;
    chart ??= readChart(machine);
    const states = typeof value === 'string' ? value : JSON.stringify(value);
    const last = changes.at(-1);
    if (last?.turn !== world.turn || last.states !== states)
      changes.push({
        turn: world.turn,
        traced: world.trace.length,
        states,
        active: activeIds(snapshot),
      });
  };
  return () => chart && { chart, changes };
};
