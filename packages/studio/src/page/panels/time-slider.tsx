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

/** Times of a played run, in milliseconds. A short run takes less than the whole time. */
const eventMs = 450;
const wholeMs = 6_000;
const frameMs = 60;

let timer: ReturnType<typeof setInterval> | undefined;
let playsNext = false;

/** Plays the run that is drawn next. With reduced motion, all its events are there at once. */
export function playNextRun(): void {
  playsNext = !matchMedia('(prefers-reduced-motion: reduce)').matches;
}

function play(count: number): void {
  const step = Math.ceil((count * frameMs) / wholeMs);
  shownEvents.value = 0;
  timer = setInterval(
    () => {
      const next = shownEvents.value + step;
      shownEvents.value = next < count ? next : Infinity;
      if (next >= count) clearInterval(timer);
      // After the next drawing.
      requestAnimationFrame(() =>
        [...document.querySelectorAll('.run .event:not(.later)')]
          .at(-1)
          ?.scrollIntoView({ block: 'nearest' }),
      );
    },
    Math.min(eventMs, (step * wholeMs) / count),
  );
}

/** Moves through the events of a run. Another `run` moves to the end, or plays. */
export function TimeSlider({
  entries,
  run,
}: Pick<Lane, 'entries'> & { readonly run: unknown }): JSX.Element {
  // Before the next event of the page: an effect after the paint would undo a move of the person.
  useLayoutEffect(() => {
    shownEvents.value = Infinity;
    if (playsNext) play(entries.length);
    playsNext = false;
    return () => clearInterval(timer);
  }, [run]);
  const at = Math.min(shownEvents.value, entries.length);
  const { turn, text } = entries[at - 1] ?? {};
  return (
    <Slider
      label="Run in time"
      count={entries.length + 1}
      at={at}
      text={turn === undefined ? 'Start' : `Turn ${turn}: ${text}`}
      onMove={(to) => {
        clearInterval(timer);
        shownEvents.value = to === entries.length ? Infinity : to;
      }}
    />
  );
}
