import type { Chart, ChartState } from '@mcp-saga/xstate/internal';
import { borderPoint, move, type Box, type Point } from './boxes.ts';
import { ChartTree } from './chart-tree.ts';
import type { Head, LabelBox } from './head.ts';
import { measureState, padding, type Measured, type PlacedLine, type Route } from './measure-chart.ts';

/** State at its place. */
export interface PlacedState extends Box {
  readonly state: ChartState;
  /** ID of the state around it; undefined for the root. */
  readonly parent: string | undefined;
  /** Undefined for a history state, which is a circle. */
  readonly head: Head | undefined;
}

/** Chart with the place of each state and transition. */
export interface ChartLayout extends Box {
  readonly chart: Chart;
  /** All states, parents first. */
  readonly states: readonly PlacedState[];
  /** One label for each transition. */
  readonly labels: readonly LabelBox[];
  readonly lines: readonly PlacedLine[];
  /** Centers of the dots from which arrows lead to first states. */
  readonly starts: readonly Point[];
}

/** Lays out a chart level by level: measures each state from the inside, then places all parts. */
export function layOutChart(chart: Chart): ChartLayout {
  const machine = measureState(chart.root, new ChartTree(chart));
  const { states, labels, routes, starts } = place(machine, undefined, { x: padding, y: padding });
  const byId = new Map(states.map((placed) => [placed.state.id, placed]));
  return {
    chart,
    x: 0,
    y: 0,
    width: machine.width + 2 * padding,
    height: machine.height + 2 * padding,
    states,
    labels: labels.toSorted((one, other) => one.transition - other.transition),
    lines: routes.map((route) => lineOf(route, byId)),
    starts,
  };
}

type Placed = Pick<ChartLayout, 'states' | 'labels' | 'starts'> & { readonly routes: readonly Route[] };

/** Moves a measured state and its inside to a corner. */
function place(measured: Measured, parent: string | undefined, corner: Point): Placed {
  const { state, head, width, height, inside } = measured;
  const placed: PlacedState = { ...corner, width, height, state, parent, head };
  const { children = [], labels = [], start, routes = [] } = inside ?? {};
  const inner = children.map((child) => place(child, state.id, move({ x: child.x, y: child.y }, corner)));
  const own = [...(head?.stays ?? []), ...labels];
  return {
    states: [placed, ...inner.flatMap(({ states }) => states)],
    labels: [...own.map((label) => move(label, corner)), ...inner.flatMap((each) => each.labels)],
    starts: [...inner.flatMap(({ starts }) => starts), ...(start === undefined ? [] : [move(start, corner)])],
    routes: [
      ...inner.flatMap((each) => each.routes),
      ...routes.map((route) => ({ ...route, points: route.points.map((point) => move(point, corner)) })),
    ],
  };
}

/** Moves both ends of a line to the states inside the connected boxes. */
function lineOf(
  { transition, from, to, hasArrow, points }: Route,
  states: ReadonlyMap<string, Box>,
): PlacedLine {
  const endAt = (id: string | undefined, near: Point | undefined): readonly Point[] => {
    const box = states.get(id ?? '');
    if (box === undefined || near === undefined) return [];
    const border = borderPoint(box, near);
    return Math.hypot(border.x - near.x, border.y - near.y) < 2 ? [] : [border];
  };
  return {
    transition,
    points: [...endAt(from, points[0]), ...points, ...endAt(to, points.at(-1))],
    hasArrow,
  };
}
