import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type * as Drawer from '../parts/drawing.tsx';
import type { MachineTrace } from '../model/view.ts';
import { shownEvents } from './panels/time-slider.tsx';

/** Statechart of the machine of a run, with its states after the shown events. */
export function Statechart({ machine }: { readonly machine: MachineTrace }): JSX.Element {
  const { chart, changes } = machine;
  const drawer = useSignal<typeof Drawer | undefined>(undefined);
  const canvas = useRef<HTMLDivElement>(null);
  const change = changes.findLast(({ traced }) => traced <= shownEvents.value) ?? changes[0];
  // The code that draws loads with the first machine.
  useEffect(() => void import('../parts/drawing.tsx').then((loaded) => (drawer.value = loaded)), []);
  useEffect(() => {
    const box = canvas.current?.getBoundingClientRect();
    const state = canvas.current?.querySelector('.active:not(.group)')?.getBoundingClientRect();
    if (box === undefined || state === undefined) return;
    // Only the chart scrolls, and not the page around it.
    canvas.current?.scrollBy(
      state.x + state.width / 2 - box.x - box.width / 2,
      state.y + state.height / 2 - box.y - box.height / 2,
    );
  }, [drawer.value, change]);
  return (
    <details class="states" open>
      <summary>{`Statechart: ${change?.states}`}</summary>
      <div class="canvas" role="region" aria-label="Statechart" tabIndex={0} ref={canvas}>
        {drawer.value !== undefined && <drawer.value.Drawing chart={chart} active={change?.active ?? []} />}
      </div>
    </details>
  );
}
