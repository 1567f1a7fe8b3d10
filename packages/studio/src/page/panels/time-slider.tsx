import { signal, type Signal } from '@preact/signals';
import type { JSX } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import type { Lane } from '../../model/view.ts';
import { Slider } from '../../parts/controls.tsx';

/**
 * Number of events up to which the ladder, the source, and the statechart show the run. Infinity:
 * all, also those to come.
 */
export const shownEvents: Signal<number> = signal(Infinity);

/** Moves through the events of a run. Another `run` moves to the end. */
export function TimeSlider({
  entries,
  run,
}: Pick<Lane, 'entries'> & { readonly run: unknown }): JSX.Element {
  // Before the next event of the page: an effect after the paint would undo a move of the person.
  useLayoutEffect(() => void (shownEvents.value = Infinity), [run]);
  const at = Math.min(shownEvents.value, entries.length);
  const { turn, text } = entries[at - 1] ?? {};
  return (
    <Slider
      label="Run in time"
      count={entries.length + 1}
      at={at}
      text={turn === undefined ? 'Start' : `Turn ${turn}: ${text}`}
      onMove={(to) => (shownEvents.value = to === entries.length ? Infinity : to)}
    />
  );
}
