import { activeIds, isMachine, readChart } from '@mcp-saga/xstate/internal';
import type { Actor, AnyActor, AnyMachineSnapshot } from 'xstate';
import type { WatchMachine } from '../../engine/playground.ts';
import type { MachineTrace } from '../../model/view.ts';

/** Watches by the prototypes of actors, which the versions of a file may share. */
const watches = new WeakMap<object, WatchMachine>();

/**
 * Watches the machines of a copy of XState, which has no inspector for all actors: each machine that starts without a parent reports
 * its snapshots.
 */
export function watchMachines({ prototype }: typeof Actor): WatchMachine {
  const known = watches.get(prototype);
  if (known !== undefined) return known;
  let report: ((snapshot: AnyMachineSnapshot) => void) | undefined;
  // oxlint-disable-next-line typescript/unbound-method -- called with its actor below
  const { start } = prototype;
  prototype.start = function startWatched(this: AnyActor) {
    // oxlint-disable-next-line no-underscore-dangle -- a name of XState
    if (isMachine(this.logic) && this._parent === undefined)
      // An observer without `error` throws the errors of the machine in a timer.
      this.subscribe({ next: (snapshot) => report?.(snapshot), error: () => undefined });
    return start.call(this);
  };
  const watch: WatchMachine = (world, earlier) => {
    const changes = [...(earlier?.changes ?? [])];
    let { chart } = earlier ?? ({} as Partial<MachineTrace>);
    let watched: unknown;
    report = (snapshot) => {
      const { machine, value } = snapshot;
      watched ??= machine;
      if (machine !== watched || world.dead) return;
      chart ??= readChart(machine);
      const states = typeof value === 'string' ? value : JSON.stringify(value);
      const last = changes.at(-1);
      if (last?.turn !== world.turn || last.states !== states)
        changes.push({ turn: world.turn, states, active: activeIds(snapshot) });
    };
    return () => (chart === undefined ? undefined : { chart, changes });
  };
  watches.set(prototype, watch);
  return watch;
}
