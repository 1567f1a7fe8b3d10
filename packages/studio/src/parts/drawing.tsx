import type { Chart } from '@mcp-saga/xstate/internal';
import { drawChart, layOutChart, type DrawChartOptions, type SvgElement } from 'mcp-saga/internal';
import { h, type JSX } from 'preact';

type DrawingProps = Pick<DrawChartOptions, 'buttons'> & Readonly<{ chart: Chart; active: readonly string[] }>;

export function Drawing({ chart, active, buttons }: DrawingProps): JSX.Element {
  return toNode(drawChart(layOutChart(chart), { active: new Set(active), ...(buttons && { buttons }) }));
}

function toNode({ tag, key, attributes, children }: SvgElement): JSX.Element {
  const inner = children.map((child) => (typeof child === 'string' ? child : toNode(child)));
  return h(tag, { ...attributes, key }, ...inner);
}
