import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import type * as Drawer from '../parts/drawing.tsx';
import type { MachineTrace } from '../model/view.ts';
import { Shown, toStates } from '../parts/controls.tsx';
import { shownEvents } from './panels/time-slider.tsx';

/** Statechart of the machine of a run, with its states after the shown events. */
export function Statechart({
  machine: { chart, changes },
}: {
  readonly machine: MachineTrace;
}): JSX.Element {
  const drawer = useSignal<typeof Drawer | undefined>(undefined);
  const change = changes.findLast(({ traced }) => traced <= shownEvents.value) ?? changes[0];
  useEffect(
    () => void import('../parts/drawing.tsx').then((loaded) => (drawer.value = loaded)),
    [],
  );
  return (
    <details class="states" open>
      <summary>
        Statechart: <Shown text={toStates(change?.states ?? '')} />
      </summary>
      <div class="canvas" role="region" aria-label="Statechart" tabIndex={0}>
        {drawer.value !== undefined && (
          <drawer.value.Drawing chart={chart} active={change?.active ?? []} />
        )}
      </div>
    </details>
  );
}
