import type { ChartState, ChartTransition } from '@mcp-saga/xstate/internal';
import type { Box } from './boxes.ts';
import { breakLines, measureText } from './text-lines.ts';

/** Label of a transition as lines of text in a box. */
export interface LabelBox extends Box {
  /** Number of the transition in the chart. */
  readonly transition: number;
  readonly lines: readonly string[];
}

/**
 * Upper part of a state: its name, its activities, and the transitions that do not change the
 * state.
 */
export interface Head {
  readonly width: number;
  readonly height: number;
  readonly name: readonly string[];
  /** Lines of each activity. */
  readonly activities: readonly (readonly string[])[];
  /** Labels, from the corner of the state. */
  readonly stays: readonly LabelBox[];
}

export const nameSize = 15;
export const nameLine = 21;
export const textSize = 14;
export const textLine = 20;
/** Space between the border of a state and its text. */
export const margin = 14;
/** Space before the text of an activity, for its mark. */
export const activityIndent = 14;

const widest = 220;
const widestLabel = 190;
const labelMargin = 10;

/** Measures the label of a transition. */
export function measureLabel({ label }: ChartTransition, transition: number): LabelBox {
  const lines = breakLines(label, textSize, widestLabel);
  const width = Math.max(...lines.map((line) => measureText(line, textSize))) + 2 * labelMargin;
  return { transition, lines, x: 0, y: 0, width, height: lines.length * textLine + 8 };
}

/** Measures the upper part of a state. */
export function measureHead(state: ChartState, labels: readonly LabelBox[]): Head {
  const name = breakLines(state.name === '' ? ' ' : state.name, nameSize, widest);
  const activities = state.activities.map((activity) => breakLines(activity, textSize, widest));
  let bottom = margin - 4 + name.length * nameLine + activities.flat().length * textLine;
  const stays = labels.map((label) => {
    const y = bottom + 6;
    bottom = y + label.height;
    return { ...label, x: margin, y };
  });
  const widths = [
    ...name.map((line) => measureText(line, nameSize) * 1.14),
    ...activities.flat().map((line) => measureText(line, textSize) + activityIndent),
    ...stays.map(({ width }) => width),
  ];
  return {
    width: Math.max(...widths) + 2 * margin,
    height: bottom + margin - 4,
    name,
    activities,
    stays,
  };
}
