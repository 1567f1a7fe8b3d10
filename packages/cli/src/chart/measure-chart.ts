import type { ChartState, ChartTransition } from '@mcp-saga/xstate/internal';
import { move, type Box, type Point } from './boxes.ts';
import type { ChartTree } from './chart-tree.ts';
import { measureHead, measureLabel, type Head, type LabelBox } from './head.ts';
import { layOutInside, type LevelEdge } from './lay-out-inside.ts';

/** Measured state, with its inside. */
export interface Measured {
  readonly state: ChartState;
  readonly width: number;
  readonly height: number;
  /** Undefined for a history state, which is a circle. */
  readonly head: Head | undefined;
  readonly inside: Inside | undefined;
}

/** Inside of a state, laid out from the corner of the state. */
export interface Inside {
  readonly children: readonly (Measured & Point)[];
  readonly labels: readonly LabelBox[];
  /** Center of the dot from which an arrow leads to the first state. */
  readonly start: Point | undefined;
  readonly routes: readonly Route[];
}

/** Line with an arrow at its end, or a line into a label. */
export interface PlacedLine {
  /** Number of the transition; undefined for the arrow to a first state. */
  readonly transition: number | undefined;
  readonly points: readonly Point[];
  readonly hasArrow: boolean;
}

/** Line as the layout of a level routes it. */
export interface Route extends PlacedLine {
  /** Ends of the line: IDs of states, which may be further inside, or undefined for a label or a mark. */
  readonly from: string | undefined;
  readonly to: string | undefined;
}

type Line = Omit<Route, 'points'>;
type Edge = LevelEdge & Line;

/** Space around the inside of a state. */
export const padding = 20;
const historySize = 28;
const startSize = 12;
const startNode = 'start';
const labelNode = (transition: number): string => `label ${transition}`;
const stateNode = (id: string): string => `state ${id}`;

/** Measures a state, after the states inside: each of them is a box in the layout of its level. */
export function measureState(state: ChartState, tree: ChartTree): Measured {
  if (state.type === 'history')
    return { state, width: historySize, height: historySize, head: undefined, inside: undefined };
  const stays = labelsWhere(tree, ({ source, targets }) => source === state.id && targets.length === 0);
  const labels = labelsWhere(
    tree,
    (transition) => transition.targets.length > 0 && tree.containerOf(transition) === state.id,
  );
  const head = measureHead(state, stays);
  if (state.states.length === 0 && labels.length === 0)
    return { state, width: head.width, height: head.height, head, inside: undefined };
  const children = state.states.map((child) => measureState(child, tree));
  const starts = state.initial === undefined ? [] : [{ id: startNode, width: startSize, height: startSize }];
  const edges = edgesIn(state, labels, tree);
  const level = layOutInside(
    [
      ...starts,
      ...children.map(({ state: { id }, width, height }) => ({ id: stateNode(id), width, height })),
      ...labels.map(({ transition, width, height }) => ({ id: labelNode(transition), width, height })),
    ],
    edges,
  );
  const width = Math.max(head.width, level.width + 2 * padding);
  const height = head.height + level.height + 2 * padding;
  const corner = { x: (width - level.width) / 2, y: head.height + padding };
  const boxOf = (id: string): Box => move(level.boxes.get(id) as Box, corner);
  const placed = labels.map((label) => ({ ...label, ...boxOf(labelNode(label.transition)) }));
  const inside = {
    children: children.map((child) => ({ ...child, ...boxOf(stateNode(child.state.id)) })),
    labels: placed,
    start: starts.map(({ id }) => move(boxOf(id), { x: startSize / 2, y: startSize / 2 }))[0],
    routes: [
      ...placed
        .filter(({ transition }) => tree.chart.transitions[transition]?.targets.includes(tree.chart.root.id))
        .map((label) => arrowToMachine(label, height)),
      ...edges.map((edge, index) => ({
        ...edge,
        points: (level.routes[index] ?? []).map((point) => move(point, corner)),
      })),
    ],
  };
  return { state, width, height, head, inside };
}

/** A transition to the machine itself has no box around it to lead to. */
function arrowToMachine({ transition, x, y, width, height }: LabelBox, bottom: number): Route {
  const points = [y + height, bottom].map((at) => ({ x: x + width / 2, y: at }));
  return { transition, from: undefined, to: undefined, hasArrow: true, points };
}

function edgesIn({ id, initial }: ChartState, labels: readonly LabelBox[], tree: ChartTree): readonly Edge[] {
  const edge = (inner: string, ends: (node: string) => LevelEdge['ends'], line: Line): readonly Edge[] => {
    const child = tree.childToward(id, inner);
    return child === undefined ? [] : [{ ...line, ends: ends(stateNode(child)) }];
  };
  const into = (start: string, transition: number | undefined, to: string): readonly Edge[] =>
    edge(to, (node) => [start, node], { transition, from: undefined, to, hasArrow: true });
  return [
    ...(initial === undefined ? [] : into(startNode, undefined, initial)),
    ...labels.flatMap(({ transition }) => {
      const { source: from, targets } = tree.chart.transitions[transition] as ChartTransition;
      const label = labelNode(transition);
      return [
        // A label without a line before it belongs to the state around it.
        ...edge(from, (node) => [node, label], { transition, from, to: undefined, hasArrow: false }),
        ...targets.flatMap((to) => into(label, transition, to)),
      ];
    }),
  ];
}

function labelsWhere(
  { chart: { transitions } }: ChartTree,
  isWanted: (transition: ChartTransition) => boolean,
): readonly LabelBox[] {
  return transitions.flatMap((each, index) => (isWanted(each) ? [measureLabel(each, index)] : []));
}
