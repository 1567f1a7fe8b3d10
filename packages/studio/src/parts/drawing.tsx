import type { Chart } from '@mcp-saga/xstate/internal';
import { drawChart, layOutChart, type DrawChartOptions, type SvgElement } from 'mcp-saga/internal';
import { cloneElement, h, type JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

type DrawingProps = Pick<DrawChartOptions, 'buttons'> &
  Readonly<{ chart: Chart; active: readonly string[] }>;

/** Draws a chart, and scrolls its canvas to the active state. */
export function Drawing({ chart, active, buttons }: DrawingProps): JSX.Element {
  const layout = layOutChart(chart);
  const drawing = useRef<Element>(null);
  useLayoutEffect(() => {
    const canvas = drawing.current?.parentElement;
    const box = canvas?.getBoundingClientRect();
    const state = drawing.current
      ?.querySelector('.state.active:not(.group)')
      ?.getBoundingClientRect();
    if (box === undefined || state === undefined) return;
    const isShown =
      state.x > box.x && state.right < box.right && state.y > box.y && state.bottom < box.bottom;
    // Only the chart scrolls, and not the page around it.
    if (!isShown)
      canvas?.scrollBy(
        state.x + state.width / 2 - box.x - box.width / 2,
        state.y + state.height / 2 - box.y - box.height / 2,
      );
  }, [active.join()]);
  const root = toNode(drawChart(layout, { active: new Set(active), ...(buttons && { buttons }) }));
  return cloneElement(root, { ref: drawing });
}

function toNode({ tag, key, attributes, children }: SvgElement): JSX.Element {
  const inner = children.map((child) => (typeof child === 'string' ? child : toNode(child)));
  return h(tag, { ...attributes, key }, ...inner);
}
