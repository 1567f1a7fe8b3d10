import type { JSX } from 'preact';

interface SliderProps {
  readonly label: string;
  /** Number of positions. */
  readonly count: number;
  /** Position, from 0. */
  readonly at: number;
  /** Sentence about the position. */
  readonly text: string;
  readonly onMove: (at: number) => void;
}

/** Slider with positions in time. Screen readers read the sentence instead of a number. */
export function Slider({ label, count, at, text, onMove }: SliderProps): JSX.Element {
  return (
    <div class="slider">
      <input
        type="range"
        aria-label={label}
        aria-valuetext={text}
        max={count - 1}
        value={at}
        onInput={({ currentTarget }) => onMove(currentTarget.valueAsNumber)}
      />
      <span aria-hidden="true">{text}</span>
    </div>
  );
}
