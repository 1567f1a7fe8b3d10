import type { JSX } from 'preact';
import type { Lane } from '../../model/view.ts';
import { durationOf } from './duration.ts';

interface ClockPanelProps {
  readonly lane: Lane;
  readonly onWait: (ms: number) => void;
}

const amounts = [1_000, 60_000, 3_600_000, 86_400_000, 604_800_000] as const;

/** Clock of a run that waits: to the next due time, or by an amount. */
export function ClockPanel({ lane: { question, pause }, onWait }: ClockPanelProps): JSX.Element | null {
  if (pause === undefined) return null;
  const { dueInMs, outside } = pause;
  const isMain = question === undefined && outside.length === 0;
  return (
    <details class="clock" open={question === undefined || dueInMs !== undefined}>
      <summary>Let time pass</summary>
      <div class="buttons">
        {dueInMs !== undefined && (
          <button type="button" class={isMain ? 'primary' : ''} onClick={() => onWait(dueInMs)}>
            Skip {durationOf(dueInMs)}, to the next event
          </button>
        )}
        {amounts.map((ms) => (
          <button key={ms} type="button" class="quiet" onClick={() => onWait(ms)}>
            Advance {durationOf(ms)}
          </button>
        ))}
      </div>
    </details>
  );
}
