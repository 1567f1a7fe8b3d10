import type { Chart, ChartState } from '@mcp-saga/xstate/internal';
import { borderPoint, centerOf, move, type Box, type Point, type Size } from './boxes.ts';
import { measureHead, measureLabel, type Head, type LabelBox } from './head.ts';
import { layOutInside, type LevelEdge } from './lay-out-inside.ts';
import { containerOf, pathsIn, type Paths } from './paths.ts';

/** State at its place. */
export interface PlacedState extends Box {
  readonly state: ChartState;
  /** ID of the state around it; undefined for the root. */
  readonly parent: string | undefined;
  /** Undefined for a history state, which is a circle. */
  readonly head: Head | undefined;
}

/** Line from a label or a mark to a state, with an arrow at its end, or from a state to a label. */
export interface PlacedLine {
  /** Number of the transition; undefined for the arrow to a first state. */
  readonly transition: number | undefined;
  /** ID of the state, which may be further inside than the line. */
  readonly state: string;
  readonly hasArrow: boolean;
  readonly points: readonly Point[];
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

/** Placed parts of a state, with the states inside. */
type Parts = Pick<ChartLayout, 'states' | 'labels' | 'lines' | 'starts'>;

/** Space around the inside of a state. */
const padding = 20;
const historySize: Size = { width: 28, height: 28 };
const startSize: Size = { width: 12, height: 12 };
const startNode = 'start';
const labelNode = (transition: number): string => `label ${transition}`;
const stateNode = (id: string): string => `state ${id}`;

/** Lays out a chart level by level, each state after the states inside. */
export function layOutChart(chart: Chart): ChartLayout {
  const machine = layOutState(chart.root, chart, pathsIn(chart.root));
  const parts = moveParts(machine, { x: padding, y: padding });
  const boxes = new Map(parts.states.map((placed) => [placed.state.id, placed]));
  const size = { width: machine.width + 2 * padding, height: machine.height + 2 * padding };
  const labels = parts.labels.toSorted((one, other) => one.transition - other.transition);
  const lines = parts.lines.map((line) => toBorder(line, boxes));
  return { ...parts, ...size, chart, x: 0, y: 0, labels, lines };
}

/**
 * Lays out a state from its corner, after the states inside: each of them is a box in the layout of
 * its level.
 */
function layOutState(state: ChartState, chart: Chart, paths: Paths): Parts & Size {
  const path = paths.get(state.id) ?? [];
  const parent = path.at(-2);
  const place = (size: Size, head?: Head): PlacedState => ({
    ...size,
    x: 0,
    y: 0,
    state,
    parent,
    head,
  });
  const leaf = ({ width, height }: Size, head?: Head): Parts & Size => {
    const size = { width, height };
    return {
      ...size,
      states: [place(size, head)],
      labels: head?.stays ?? [],
      lines: [],
      starts: [],
    };
  };
  if (state.type === 'history') return leaf(historySize);
  const stays: LabelBox[] = [];
  const labels: LabelBox[] = [];
  const edges: (Omit<PlacedLine, 'points'> & LevelEdge)[] = [];
  const connect = (node: string, to: string, hasArrow: boolean, transition?: number): void => {
    const [child] = (paths.get(to) ?? []).slice(path.length).map(stateNode);
    // A label without a line before it belongs to the state around it.
    if (child === undefined) return;
    edges.push({ transition, state: to, hasArrow, ends: hasArrow ? [node, child] : [child, node] });
  };
  const nodes = new Map<string, Size>();
  if (state.initial !== undefined) {
    nodes.set(startNode, startSize);
    connect(startNode, state.initial, true);
  }
  const children = new Map(
    state.states.map((child) => [stateNode(child.id), layOutState(child, chart, paths)]),
  );
  for (const [node, child] of children) nodes.set(node, child);
  for (const [index, transition] of chart.transitions.entries()) {
    if (containerOf(transition, paths) !== state.id) continue;
    const { source, targets } = transition;
    const label = measureLabel(transition, index);
    const node = labelNode(index);
    if (targets.length === 0) {
      stays.push(label);
      continue;
    }
    labels.push(label);
    nodes.set(node, label);
    connect(node, source, false, index);
    for (const to of targets) connect(node, to, true, index);
  }
  const head = measureHead(state, stays);
  if (nodes.size === 0) return leaf(head, head);
  const level = layOutInside(nodes, edges);
  const boxOf = (node: string): Box => level.boxes.get(node) as Box;
  const placed = labels.map((label) => ({ ...label, ...boxOf(labelNode(label.transition)) }));
  // A transition to the machine itself has no box around it to lead to.
  const toMachine = placed.flatMap((label): readonly PlacedLine[] => {
    const { transition, x, y, width, height } = label;
    if (!chart.transitions[transition]?.targets.includes(state.id)) return [];
    const points = [y + height, level.y + level.height + padding].map((at) => ({
      x: x + width / 2,
      y: at,
    }));
    return [{ transition, state: state.id, hasArrow: true, points }];
  });
  const inner = [...children].map(([node, child]) => moveParts(child, boxOf(node)));
  const width = Math.max(head.width, level.width + 2 * padding);
  const size = { width, height: head.height + level.height + 2 * padding };
  const corner = { x: (width - level.width) / 2 - level.x, y: head.height + padding - level.y };
  const routed = edges.map((edge, index) => ({ ...edge, points: level.routes[index] ?? [] }));
  const starts = state.initial === undefined ? [] : [centerOf(boxOf(startNode))];
  const parts: Parts = {
    states: inner.flatMap((each) => each.states),
    labels: [...placed, ...inner.flatMap((each) => each.labels)],
    lines: [...inner.flatMap((each) => each.lines), ...toMachine, ...routed],
    starts: [...inner.flatMap((each) => each.starts), ...starts],
  };
  const inside = moveParts(parts, corner);
  return {
    ...size,
    ...inside,
    states: [place(size, head), ...inside.states],
    labels: [...head.stays, ...inside.labels],
  };
}

/** Moves all parts of a state. */
function moveParts({ states, labels, lines, starts }: Parts, by: Point): Parts {
  return {
    states: states.map((state) => move(state, by)),
    labels: labels.map((label) => move(label, by)),
    lines: lines.map((line) => ({ ...line, points: line.points.map((point) => move(point, by)) })),
    starts: starts.map((start) => move(start, by)),
  };
}

/** Moves the end of a line to the state inside the connected box. */
function toBorder(line: PlacedLine, boxes: ReadonlyMap<string, Box>): PlacedLine {
  const { state, hasArrow, points } = line;
  const box = boxes.get(state);
  const near = points.at(hasArrow ? -1 : 0);
  if (box === undefined || near === undefined) return line;
  const border = borderPoint(box, near);
  if (Math.hypot(border.x - near.x, border.y - near.y) < 2) return line;
  return { ...line, points: hasArrow ? [...points, border] : [border, ...points] };
}
