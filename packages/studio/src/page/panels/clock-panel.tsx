import { useSignal } from '@preact/signals';
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
  const amount = useSignal<number>(60_000);
  return (
    <details class="clock" open={isOpen}>
      <summary>Let time pass</summary>
      <div class="buttons">
        {dueInMs !== undefined && (
          <button type="button" class={isMain ? 'primary' : ''} onClick={() => onWait(dueInMs)}>
            Skip {durationOf(dueInMs)}, to the next event
          </button>
        )}
        <select
          aria-label="Amount of time"
          value={amount.value}
          onChange={({ currentTarget }) => (amount.value = Number(currentTarget.value))}
        >
          {amounts.map((ms) => (
            <option key={ms} value={ms}>
              {durationOf(ms)}
            </option>
          ))}
        </select>
        <button type="button" onClick={() => onWait(amount.value)}>
          Advance
        </button>
      </div>
    </details>
  );
}
