import type { JSX } from 'preact';
import { Drawing } from '../../parts/drawing.tsx';
import type { MachineStore } from './machine-store.ts';
import { Button } from '../../parts/controls.tsx';

export function ChartView({ store }: { readonly store: MachineStore }): JSX.Element {
  const { value: machine } = store.machine;
  const { machines = [] } = store.view.value ?? {};
  const buttons = buttonsOf(store);
  const press = (target: EventTarget | null): void => {
    const number = (target as Element | null)
      ?.closest('[role=button]')
      ?.getAttribute('data-transition');
    buttons.get(Number(number ?? -1))?.act();
  };
  return (
    <section
      class="canvas"
      aria-label="Statechart"
      tabIndex={0}
      onClick={({ target }) => press(target)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        if (event.target instanceof SVGElement) event.preventDefault();
        press(event.target);
      }}
    >
      {machines.length > 1 && (
        <div class="tabs">
          {machines.map(({ key, name }) => (
            <Button
              key={key}
              aria-pressed={key === machine?.key}
              onClick={() => (store.shown.value = key)}
            >
              {name}
            </Button>
          ))}
        </div>
      )}
      {machine !== undefined && (
        <Drawing chart={machine.chart} active={machine.active} buttons={buttons} />
      )}
    </section>
  );
}

function buttonsOf(store: MachineStore): Map<number, { readonly label: string; act: () => void }> {
  const buttons: ReturnType<typeof buttonsOf> = new Map();
  const { value: machine } = store.machine;
  if (machine?.status !== 'active') return buttons;
  const { key, chart, active } = machine;
  for (const [index, { source, kind, type, label }] of chart.transitions.entries()) {
    const timer = store.view.value?.timers.find(
      (each) => each.machine === key && each.type === type,
    );
    if (!active.includes(source)) continue;
    if (kind === 'event' && !type.includes('*'))
      buttons.set(index, { label: `Send ${label}`, act: () => store.send(type) });
    if (kind === 'after' && timer !== undefined)
      buttons.set(index, {
        label: `Skip the clock: ${label}`,
        act: () => store.take({ type: 'skip', toMs: timer.dueMs }),
      });
  }
  return buttons;
}
