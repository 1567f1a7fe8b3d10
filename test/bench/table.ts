import { figures, type Figure, type FigureId } from './figures.ts';
import { median } from './harness.ts';
import type { Finding } from './row.ts';

/** Findings of all runs for one figure, in the order of the runs. */
export interface Result {
  readonly figure: FigureId;
  readonly runs: readonly Finding[];
  /** Day and machine of the runs. Undefined: not recorded. */
  readonly measured?: string;
}

/** Groups the results of several runs by figure. */
export function toResults(runs: readonly (readonly Finding[])[]): readonly Result[] {
  const [first = []] = runs;
  return first.map(({ figure }) => ({
    figure,
    runs: runs.flatMap((findings) => findings.find((finding) => finding.figure === figure) ?? []),
  }));
}

const header = [
  'what',
  'ours',
  'on the clock',
  'beside',
  'ratio',
  'lowest',
  'highest',
  'spread',
  'goal',
  '',
];

/**
 * Formats results as a table: our median, the medians of the peers, and the range over all runs of
 * the value that the goal limits.
 */
export function toTable(results: readonly Result[]): string {
  const lines = [header, ...results.flatMap(linesOf)];
  const widths = header.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  const table = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const missed = results
    .filter((result) => !isReached(result))
    .map(({ figure }) => figures[figure].what);
  const summary =
    missed.length === 0
      ? `All ${results.length} figures are reached.`
      : `${results.length - missed.length} of ${results.length} figures are reached. Not: ${missed.join('; ')}.`;
  return [...table, '', summary].join('\n');
}

/** `true` if every run reaches the goal. */
export function isReached({ figure, runs }: Result): boolean {
  return runs.length > 0 && runs.every((finding) => valueOf(finding) <= figures[figure].atMost);
}

/** Value that the goal limits: our value, or the ratio of our value to that of the first peer. */
export function valueOf({ figure, ours, peers }: Finding): number {
  return figures[figure].of === 'ours' ? ours : ours / (peers[0]?.value ?? Number.NaN);
}

function linesOf(result: Result): string[][] {
  const { runs } = result;
  const figure: Figure = figures[result.figure];
  const show = (value: number): string =>
    figure.of === 'ours' ? format(value, figure) : `${value.toPrecision(3)}x`;
  const ours = median(runs.map((finding) => finding.ours));
  const walls = runs.flatMap(({ wall }) => wall ?? []);
  const values = runs.map(valueOf);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  // Values that are all zero have no spread.
  const spread = `${Math.round((100 * (highest - lowest)) / (median(values) || 1))} %`;
  const goal = figure.of === 'ours' ? format(figure.atMost, figure) : `${figure.atMost}x`;
  const [first, ...others] = (runs[0]?.peers ?? []).map(({ name }, index) => {
    const value = median(runs.map(({ peers }) => peers[index]?.value ?? Number.NaN));
    return [
      `${format(value, figure)} ${name}`,
      value === 0 ? '-' : `${(ours / value).toPrecision(3)}x`,
    ];
  });
  return [
    [
      figure.what,
      format(ours, figure),
      walls.length === 0 ? '-' : format(median(walls), figure),
      ...(first ?? ['-', '-']),
      show(lowest),
      show(highest),
      spread,
      goal,
      isReached(result) ? 'yes' : 'NO',
    ],
    ...others.map((peer) => ['', '', '', ...peer, '', '', '', '', '']),
  ];
}

function format(value: number, { unit }: Figure): string {
  const digits = unit === 'bytes' || value >= 100 ? 0 : 2;
  return `${value.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`;
}
