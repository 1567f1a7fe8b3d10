import { figures, type Figure } from './figures.ts';
import type { Finding } from './row.ts';

/** Findings as a table to print: what, ours, others', the ratio, the figure to reach, and whether it is reached. */
export function toTable(findings: readonly Finding[]): string {
  const lines = [['what', 'ours', 'beside', 'ratio', 'reach', ''], ...findings.flatMap(linesOf)];
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  const table = lines.map((line) =>
    line
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const missed = findings.filter((finding) => !isReached(finding)).map(({ figure }) => figures[figure].what);
  const summary =
    missed.length === 0
      ? `All ${findings.length} figures are reached.`
      : `${findings.length - missed.length} of ${findings.length} figures are reached. Not: ${missed.join('; ')}.`;
  return [...table, '', summary].join('\n');
}

/** Whether a finding reaches its figure. */
export function isReached(finding: Finding): boolean {
  const { atMost, atLeast }: Figure = figures[finding.figure];
  const value = reached(finding);
  return atMost === undefined ? value >= atLeast : value <= atMost;
}

/** What is compared with the figure: ours, or ours through the first peer's. */
export function reached({ figure, ours, peers }: Finding): number {
  return figures[figure].of === 'ours' ? ours : ours / (peers[0]?.value ?? Number.NaN);
}

function linesOf(finding: Finding): string[][] {
  const { ours, peers } = finding;
  const figure: Figure = figures[finding.figure];
  const bound = figure.atMost ?? figure.atLeast;
  const reach = `${figure.atMost === undefined ? 'at least ' : ''}${figure.of === 'ours' ? format(bound, figure) : `${bound}x`}`;
  const [first, ...others] = peers.map(({ name, value }) => [
    `${format(value, figure)} ${name}`,
    value === 0 ? '-' : `${(ours / value).toPrecision(3)}x`,
  ]);
  return [
    [figure.what, format(ours, figure), ...(first ?? ['-', '-']), reach, isReached(finding) ? 'yes' : 'NO'],
    ...others.map((peer) => ['', '', ...peer, '', '']),
  ];
}

function format(value: number, { unit }: Figure): string {
  const digits = unit === 'bytes' || value >= 100 ? 0 : 2;
  return `${value.toLocaleString('en', { maximumFractionDigits: digits })} ${unit}`;
}
