import type { JSX } from 'preact';
import type { PauseView } from '../../model/view.ts';
import { durationOf } from './duration.ts';

interface ClockPanelProps {
  readonly pause: PauseView;
  readonly isOpen: boolean;
  /** `true` if nothing else can be answered. */
  readonly isMain: boolean;
  readonly onWait: (ms: number) => void;
}

const amounts = [1_000, 60_000, 3_600_000, 86_400_000, 604_800_000] as const;

/** Clock of a run that waits: to the next due time, or by an amount. */
export function ClockPanel({ pause: { dueInMs }, isOpen, isMain, onWait }: ClockPanelProps): JSX.Element {
  return (
    <details class="clock" open={isOpen}>
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
